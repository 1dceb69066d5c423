/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_NET_GSO_H
#define _COMPAT_NET_GSO_H

#ifdef HAVE_NET_GSO_H
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* _COMPAT_NET_GSO_H */
