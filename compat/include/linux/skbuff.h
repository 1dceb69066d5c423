/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_SKBUFF_H
#define _COMPAT_LINUX_SKBUFF_H

#include_next <linux/skbuff.h>

/* No device memory in skbs on these kernels. */
#ifndef HAVE_SKB_FRAGS_READABLE
static inline bool skb_frags_readable(const struct sk_buff *skb)
{
	return true;
}
#endif

#ifndef HAVE_SKB_FRAG_IS_NET_IOV
static inline bool skb_frag_is_net_iov(const skb_frag_t *frag)
{
	return false;
}
#endif

#endif /* _COMPAT_LINUX_SKBUFF_H */
