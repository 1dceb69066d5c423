/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_NET_INET_DSCP_H
#define _COMPAT_NET_INET_DSCP_H

#ifdef HAVE_FLOWI4_DSCP
#include_next <net/inet_dscp.h>
#else
/* Flows carry a plain tos here, so dscp_t is a plain type to sparse too. */
#include <linux/types.h>
#undef __bitwise
#define __bitwise
#include_next <net/inet_dscp.h>
#undef __bitwise
#ifdef __CHECKER__
#define __bitwise __attribute__((bitwise))
#else
#define __bitwise
#endif
#endif

#endif /* _COMPAT_NET_INET_DSCP_H */
