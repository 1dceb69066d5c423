/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_RDMA_IB_VERBS_H
#define _COMPAT_RDMA_IB_VERBS_H

#if defined(HAVE_OP_CREATE_CQ_ATTRS) && defined(HAVE_OP_CREATE_USER_CQ) && \
	defined(HAVE_OP_RESIZE_USER_CQ) && defined(HAVE_OP_REG_USER_MR_DMAH) && \
	defined(HAVE_OP_DMABUF_ATTRS) && defined(HAVE_OP_COUNTER_PORT) && \
	defined(HAVE_OP_COUNTER_INIT) && defined(HAVE_OP_PRE_DESTROY_CQ) && \
	defined(HAVE_OP_QUERY_PORT_SPEED) && defined(HAVE_OP_FILL_RES_SRQ) && \
	defined(HAVE_OP_REPORT_PORT_EVENT) && defined(HAVE_ROBUST_UDATA)

#include_next <rdma/ib_verbs.h>

#else

/*
 * The kernel's table of verbs gets another name, so that struct ib_device_ops
 * can be the newest one, here and in the driver. compat_set_device_ops()
 * translates.
 */
#define ib_device_ops kernel_ib_device_ops
#include_next <rdma/ib_verbs.h>
#undef ib_device_ops

#define COMPAT_DEVICE_OPS

struct ib_dmah;

/* Members that are alike in all supported kernels. */
#define COMPAT_SAME_OPS(X)						\
	X(post_send) X(post_recv) X(drain_rq) X(drain_sq)		\
	X(poll_cq) X(peek_cq) X(req_notify_cq) X(post_srq_recv)		\
	X(process_mad) X(modify_device)					\
	X(get_dev_fw_str) X(query_port) X(modify_port)			\
	X(get_port_immutable) X(get_link_layer) X(get_netdev)		\
	X(query_gid) X(add_gid) X(del_gid) X(query_pkey)		\
	X(alloc_ucontext) X(dealloc_ucontext) X(mmap) X(mmap_free)	\
	X(disassociate_ucontext) X(alloc_pd) X(dealloc_pd)		\
	X(create_ah) X(create_user_ah) X(modify_ah) X(query_ah)		\
	X(destroy_ah) X(create_srq) X(modify_srq) X(query_srq)		\
	X(destroy_srq) X(create_qp) X(modify_qp) X(query_qp)		\
	X(destroy_qp) X(modify_cq) X(destroy_cq) X(get_dma_mr)		\
	X(rereg_user_mr) X(dereg_mr) X(alloc_mr) X(alloc_mr_integrity)	\
	X(advise_mr) X(map_mr_sg) X(check_mr_status)			\
	X(alloc_mw) X(dealloc_mw) X(attach_mcast) X(detach_mcast)	\
	X(alloc_xrcd) X(dealloc_xrcd)					\
	X(alloc_hw_device_stats) X(alloc_hw_port_stats)			\
	X(get_hw_stats) X(modify_hw_stat)				\
	X(fill_res_mr_entry) X(fill_res_mr_entry_raw)			\
	X(fill_res_cq_entry) X(fill_res_cq_entry_raw)			\
	X(fill_res_qp_entry) X(fill_res_qp_entry_raw)			\
	X(fill_res_cm_id_entry) X(enable_driver) X(dealloc_driver)	\
	X(counter_dealloc) X(counter_alloc_stats)			\
	X(counter_update_stats) X(fill_stat_mr_entry) X(query_ucontext)

#define COMPAT_OBJ_SIZES(X)						\
	X(ib_ah) X(ib_counters) X(ib_cq) X(ib_mw) X(ib_pd) X(ib_qp)	\
	X(ib_rwq_ind_table) X(ib_srq) X(ib_ucontext) X(ib_xrcd)

#define COMPAT_OP_MEMBER(op) typeof(((struct kernel_ib_device_ops *)0)->op) op;
#define COMPAT_SIZE_MEMBER(type) DECLARE_RDMA_OBJ_SIZE(type);

/* What the newest driver may set; see the kernel's header for the meaning. */
struct ib_device_ops {
	struct module *owner;
	enum rdma_driver_id driver_id;
	u32 uverbs_abi_ver;
	unsigned int uverbs_no_driver_id_binding:1;
	unsigned int uverbs_robust_udata:1;
	const struct attribute_group *device_group;
	const struct attribute_group **port_groups;

	COMPAT_SAME_OPS(COMPAT_OP_MEMBER)

	int (*query_device)(struct ib_device *device,
			    struct ib_device_attr *device_attr,
			    struct ib_udata *udata);
	int (*query_port_speed)(struct ib_device *device, u32 port_num,
				u64 *speed);
	int (*create_cq)(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *attrs);
	int (*create_user_cq)(struct ib_cq *cq,
			      const struct ib_cq_init_attr *attr,
			      struct uverbs_attr_bundle *attrs);
	int (*resize_user_cq)(struct ib_cq *cq, unsigned int cqe,
			      struct ib_udata *udata);
	int (*pre_destroy_cq)(struct ib_cq *cq);
	void (*post_destroy_cq)(struct ib_cq *cq);
	struct ib_mr *(*reg_user_mr)(struct ib_pd *pd, u64 start, u64 length,
				     u64 virt_addr, int mr_access_flags,
				     struct ib_dmah *dmah,
				     struct ib_udata *udata);
	struct ib_mr *(*reg_user_mr_dmabuf)(struct ib_pd *pd, u64 offset,
					    u64 length, u64 virt_addr, int fd,
					    int mr_access_flags,
					    struct ib_dmah *dmah,
					    struct uverbs_attr_bundle *attrs);
	int (*fill_res_srq_entry)(struct sk_buff *msg, struct ib_srq *ib_srq);
	int (*fill_res_srq_entry_raw)(struct sk_buff *msg,
				      struct ib_srq *ib_srq);
	int (*counter_bind_qp)(struct rdma_counter *counter, struct ib_qp *qp,
			       u32 port);
	int (*counter_unbind_qp)(struct ib_qp *qp, u32 port);
	void (*counter_init)(struct rdma_counter *counter);
	void (*report_port_event)(struct ib_device *ibdev,
				  struct net_device *ndev, unsigned long event);

	COMPAT_OBJ_SIZES(COMPAT_SIZE_MEMBER)
	DECLARE_RDMA_OBJ_SIZE(rdma_counter);
};

void compat_set_device_ops(struct ib_device *device,
			   const struct ib_device_ops *ops);
#define ib_set_device_ops compat_set_device_ops

#endif /* COMPAT_DEVICE_OPS */

#ifndef HAVE_RDMA_DEV_NET
static inline struct net *rdma_dev_net(struct ib_device *device)
{
	return read_pnet(&device->coredev.rdma_net);
}
#endif

#ifndef HAVE_IB_ALLOC_DEVICE_WITH_NET
/* Shared mode forces init_net anyhow; exclusive mode: see rdma_dev_net(). */
#define ib_alloc_device_with_net(drv_struct, member, net)		\
	({								\
		(void)(net);						\
		ib_alloc_device(drv_struct, member);			\
	})
#endif

#ifndef HAVE_IB_DEVICE_GET_NETDEV
struct net_device *compat_device_get_netdev(struct ib_device *ib_dev, u32 port);
#define ib_device_get_netdev compat_device_get_netdev
#endif

#ifndef HAVE_IB_CURR_PORT_STATE
static inline enum ib_port_state ib_get_curr_port_state(struct net_device *net_dev)
{
	return (netif_running(net_dev) && netif_carrier_ok(net_dev)) ?
		IB_PORT_ACTIVE : IB_PORT_DOWN;
}
#endif

#ifndef HAVE_IB_VIRT_DMA_TO_PTR
static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	return (void *)(uintptr_t)dma_addr;
}

static inline struct page *ib_virt_dma_to_page(u64 dma_addr)
{
	return virt_to_page(ib_virt_dma_to_ptr(dma_addr));
}
#endif

#ifndef HAVE_IB_FLUSH
/* IBTA A19 FLUSH and ATOMIC WRITE; the values are those of the uapi. */
#define IB_WR_FLUSH			((enum ib_wr_opcode)14)
#define IB_WR_ATOMIC_WRITE		((enum ib_wr_opcode)15)
#define IB_WC_FLUSH			((enum ib_wc_opcode)8)
#define IB_WC_ATOMIC_WRITE		((enum ib_wc_opcode)9)
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
/* No device has them: they are neither advertised nor carried out. */
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_DEVICE_ATOMIC_WRITE		0

enum ib_placement_type {
	IB_FLUSH_GLOBAL = 1U << 0,
	IB_FLUSH_PERSISTENT = 1U << 1,
};

enum ib_selectivity_level {
	IB_FLUSH_RANGE = 0,
	IB_FLUSH_MR,
};
#endif

#endif /* _COMPAT_RDMA_IB_VERBS_H */
