/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_NET_DST_H
#define _COMPAT_NET_DST_H

#include_next <net/dst.h>

#ifndef HAVE_DST_DEV
static inline struct net_device *dst_dev(const struct dst_entry *dst)
{
	return READ_ONCE(dst->dev);
}
#endif

#ifndef HAVE_DST_DEV_RCU
static inline struct net_device *dst_dev_rcu(const struct dst_entry *dst)
{
	return READ_ONCE(dst->dev);
}
#endif

#endif /* _COMPAT_NET_DST_H */
