// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs of the newest RDMA core on older ones: thunks for verbs whose signature
 * changed. Empty on the newest kernel.
 */
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/uverbs_ioctl.h>

#ifndef HAVE_IB_DEVICE_GET_NETDEV
/**
 * compat_device_get_netdev() - the net device of a port
 * @ib_dev: the device
 * @port: port number
 *
 * Return: the net device, with a reference for the caller to put, or NULL.
 */
struct net_device *compat_device_get_netdev(struct ib_device *ib_dev, u32 port)
{
	struct ib_port_data *pdata;
	struct net_device *ndev;

	if (!rdma_is_port_valid(ib_dev, port) || !ib_dev->port_data)
		return NULL;

	pdata = &ib_dev->port_data[port];
	spin_lock(&pdata->netdev_lock);
	ndev = rcu_dereference_protected(pdata->netdev,
					 lockdep_is_held(&pdata->netdev_lock));
	dev_hold(ndev);
	spin_unlock(&pdata->netdev_lock);

	if (ndev && ndev->reg_state != NETREG_REGISTERED) {
		dev_put(ndev);
		return NULL;
	}
	return ndev;
}
#endif

#ifdef COMPAT_DEVICE_OPS

/* The driver's functions, for the thunks. The module has one driver. */
static struct {
	typeof_member(struct ib_device_ops, query_device) query_device;
	typeof_member(struct ib_device_ops, create_cq) create_cq;
	typeof_member(struct ib_device_ops, create_user_cq) create_user_cq;
	typeof_member(struct ib_device_ops, resize_user_cq) resize_user_cq;
	typeof_member(struct ib_device_ops, reg_user_mr) reg_user_mr;
	typeof_member(struct ib_device_ops, reg_user_mr_dmabuf)
		reg_user_mr_dmabuf;
	typeof_member(struct ib_device_ops, counter_bind_qp) counter_bind_qp;
	typeof_member(struct ib_device_ops, counter_unbind_qp)
		counter_unbind_qp;
} compat_driver;

static int compat_query_device(struct ib_device *device,
			       struct ib_device_attr *attr,
			       struct ib_udata *udata)
{
	/* Registration passes an empty udata here, NULL on newer kernels. */
	if (udata && !udata->inlen && !udata->outlen)
		udata = NULL;
	return compat_driver.query_device(device, attr, udata);
}

static int compat_create_any_cq(struct ib_cq *cq,
				const struct ib_cq_init_attr *attr,
				struct uverbs_attr_bundle *attrs)
{
	if (attrs && !attr->cqe)
		return -EINVAL;
	if (attrs && compat_driver.create_user_cq)
		return compat_driver.create_user_cq(cq, attr, attrs);
	return compat_driver.create_cq(cq, attr, attrs);
}

#ifdef HAVE_OP_CREATE_CQ_ATTRS
#define compat_create_cq compat_create_any_cq
#else
static int compat_create_cq(struct ib_cq *cq,
			    const struct ib_cq_init_attr *attr,
			    struct ib_udata *udata)
{
	/* The core's udata is always part of a bundle. */
	return compat_create_any_cq(cq, attr,
				    udata ? rdma_udata_to_uverbs_attr_bundle(udata) : NULL);
}
#endif

#ifndef HAVE_OP_RESIZE_USER_CQ
static int compat_resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	if (!udata)
		return -EOPNOTSUPP;
	if (cqe <= 0)
		return -EINVAL;
	return compat_driver.resize_user_cq(cq, cqe, udata);
}
#endif

#ifndef HAVE_OP_REG_USER_MR_DMAH
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
					u64 virt_addr, int access,
					struct ib_udata *udata)
{
	return compat_driver.reg_user_mr(pd, start, length, virt_addr, access,
					 NULL, udata);
}

#ifdef HAVE_OP_DMABUF_ATTRS
static struct ib_mr *compat_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset,
					       u64 length, u64 virt_addr,
					       int fd, int access,
					       struct uverbs_attr_bundle *attrs)
{
	return compat_driver.reg_user_mr_dmabuf(pd, offset, length, virt_addr,
						fd, access, NULL, attrs);
}
#else
static struct ib_mr *compat_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset,
					       u64 length, u64 virt_addr,
					       int fd, int access,
					       struct ib_udata *udata)
{
	return compat_driver.reg_user_mr_dmabuf(pd, offset, length, virt_addr,
						fd, access, NULL,
						rdma_udata_to_uverbs_attr_bundle(udata));
}
#endif
#endif /* HAVE_OP_REG_USER_MR_DMAH */

#ifndef HAVE_OP_COUNTER_PORT
static int compat_counter_bind_qp(struct rdma_counter *counter,
				  struct ib_qp *qp)
{
	return compat_driver.counter_bind_qp(counter, qp, qp->port);
}

static int compat_counter_unbind_qp(struct ib_qp *qp)
{
	return compat_driver.counter_unbind_qp(qp, qp->port);
}
#endif

/* Put a thunk in the kernel's table and the driver's function behind it. */
#define COMPAT_THUNK(op, kernel_op, thunk)				\
	do {								\
		if (ops->op) {						\
			WRITE_ONCE(compat_driver.op, ops->op);		\
			kops.kernel_op = thunk;				\
		}							\
	} while (0)

/**
 * compat_set_device_ops() - ib_set_device_ops() for the newest table
 * @device: the device
 * @ops: the driver's verbs
 *
 * Like the original it may be called several times with parts of the whole.
 */
void compat_set_device_ops(struct ib_device *device,
			   const struct ib_device_ops *ops)
{
#define COMPAT_COPY_OP(op) .op = ops->op,
#define COMPAT_COPY_SIZE(type) .size_##type = ops->size_##type,
	struct kernel_ib_device_ops kops = {
		.owner = ops->owner,
		.driver_id = ops->driver_id,
		.uverbs_abi_ver = ops->uverbs_abi_ver,
		.uverbs_no_driver_id_binding = ops->uverbs_no_driver_id_binding,
		.device_group = ops->device_group,
		.port_groups = ops->port_groups,
		COMPAT_SAME_OPS(COMPAT_COPY_OP)
		COMPAT_OBJ_SIZES(COMPAT_COPY_SIZE)
#ifdef HAVE_ROBUST_UDATA
		.uverbs_robust_udata = ops->uverbs_robust_udata,
#endif
#ifdef HAVE_OP_QUERY_PORT_SPEED
		.query_port_speed = ops->query_port_speed,
#endif
#ifdef HAVE_OP_PRE_DESTROY_CQ
		.pre_destroy_cq = ops->pre_destroy_cq,
		.post_destroy_cq = ops->post_destroy_cq,
#endif
#ifdef HAVE_OP_FILL_RES_SRQ
		.fill_res_srq_entry = ops->fill_res_srq_entry,
		.fill_res_srq_entry_raw = ops->fill_res_srq_entry_raw,
#endif
#ifdef HAVE_OP_RESIZE_USER_CQ
		.resize_user_cq = ops->resize_user_cq,
#endif
#ifdef HAVE_OP_REG_USER_MR_DMAH
		.reg_user_mr = ops->reg_user_mr,
		.reg_user_mr_dmabuf = ops->reg_user_mr_dmabuf,
#endif
#ifdef HAVE_OP_COUNTER_PORT
		.counter_bind_qp = ops->counter_bind_qp,
		.counter_unbind_qp = ops->counter_unbind_qp,
#endif
#ifdef HAVE_OP_COUNTER_INIT
		.counter_init = ops->counter_init,
		.size_rdma_counter = ops->size_rdma_counter,
#endif
#ifdef HAVE_OP_REPORT_PORT_EVENT
		.report_port_event = ops->report_port_event,
#endif
	};

	COMPAT_THUNK(query_device, query_device, compat_query_device);
#ifdef HAVE_OP_CREATE_USER_CQ
	kops.create_cq = ops->create_cq;
	kops.create_user_cq = ops->create_user_cq;
#else
	COMPAT_THUNK(create_cq, create_cq, compat_create_cq);
	COMPAT_THUNK(create_user_cq, create_cq, compat_create_cq);
#endif
#ifndef HAVE_OP_RESIZE_USER_CQ
	COMPAT_THUNK(resize_user_cq, resize_cq, compat_resize_cq);
#endif
#ifndef HAVE_OP_REG_USER_MR_DMAH
	COMPAT_THUNK(reg_user_mr, reg_user_mr, compat_reg_user_mr);
	COMPAT_THUNK(reg_user_mr_dmabuf, reg_user_mr_dmabuf,
		     compat_reg_user_mr_dmabuf);
#endif
#ifndef HAVE_OP_COUNTER_PORT
	COMPAT_THUNK(counter_bind_qp, counter_bind_qp, compat_counter_bind_qp);
	COMPAT_THUNK(counter_unbind_qp, counter_unbind_qp,
		     compat_counter_unbind_qp);
#endif

#undef ib_set_device_ops
	ib_set_device_ops(device, &kops);
}
#endif /* COMPAT_DEVICE_OPS */

#ifndef HAVE_LINK_OPS_DELLINK
static_assert(offsetof(struct rdma_link_ops, list) ==
	      offsetof(struct kernel_rdma_link_ops, list));
static_assert(offsetof(struct rdma_link_ops, type) ==
	      offsetof(struct kernel_rdma_link_ops, type));
static_assert(offsetof(struct rdma_link_ops, newlink) ==
	      offsetof(struct kernel_rdma_link_ops, newlink));
static_assert(offsetof(struct rdma_link_ops, dellink) ==
	      sizeof(struct kernel_rdma_link_ops));
#endif
