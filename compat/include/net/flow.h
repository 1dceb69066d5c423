/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_NET_FLOW_H
#define _COMPAT_NET_FLOW_H

#include <net/inet_dscp.h>
#include_next <net/flow.h>

#ifndef HAVE_FLOWI4_DSCP
#define flowi4_dscp flowi4_tos
#endif

#endif /* _COMPAT_NET_FLOW_H */
