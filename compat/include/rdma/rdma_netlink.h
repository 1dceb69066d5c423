/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_RDMA_RDMA_NETLINK_H
#define _COMPAT_RDMA_RDMA_NETLINK_H

#ifdef HAVE_LINK_OPS_DELLINK

#include_next <rdma/rdma_netlink.h>

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

#define rdma_link_register(ops)						\
	rdma_link_register((struct kernel_rdma_link_ops *)(ops))
#define rdma_link_unregister(ops)					\
	rdma_link_unregister((struct kernel_rdma_link_ops *)(ops))

#endif

#endif /* _COMPAT_RDMA_RDMA_NETLINK_H */
