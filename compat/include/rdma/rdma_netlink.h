/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_RDMA_RDMA_NETLINK_H
#define _COMPAT_RDMA_RDMA_NETLINK_H

#include <rdma/ib_verbs.h>

#if defined(HAVE_LINK_OPS_DELLINK) && defined(HAVE_OP_REPORT_PORT_EVENT)

#include_next <rdma/rdma_netlink.h>

#elif defined(HAVE_LINK_OPS_DELLINK)

#include_next <rdma/rdma_netlink.h>
void compat_link_register(struct rdma_link_ops *ops);
void compat_link_unregister(struct rdma_link_ops *ops);
#define rdma_link_register compat_link_register
#define rdma_link_unregister compat_link_unregister

#else

/*
 * The newest struct begins like the kernel's, which ib_device.link_ops and
 * rdma_link_register() therefore take for their own; rxe_compat_ops.c checks.
 */
#define rdma_link_ops kernel_rdma_link_ops
#include_next <rdma/rdma_netlink.h>
#undef rdma_link_ops

struct rdma_link_ops {
	struct list_head list;
	const char *type;
	int (*newlink)(const char *ibdev_name, struct net_device *ndev);
	int (*dellink)(struct ib_device *dev);	/* never called */
};

void compat_link_register(struct rdma_link_ops *ops);
void compat_link_unregister(struct rdma_link_ops *ops);
#define rdma_link_register compat_link_register
#define rdma_link_unregister compat_link_unregister

#endif

#endif /* _COMPAT_RDMA_RDMA_NETLINK_H */
