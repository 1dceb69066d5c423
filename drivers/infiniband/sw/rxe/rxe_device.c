// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/ethtool.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include "rxe_ah.h"
#include "rxe_cq.h"
#include "rxe_device.h"
#include "rxe_fastreg.h"
#include "rxe_gid.h"
#include "rxe_mad.h"
#include "rxe_main.h"
#include "rxe_mcast.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_netdev.h"
#include "rxe_odp.h"
#include "rxe_pd.h"
#include "rxe_qp.h"
#include "rxe_restrack.h"
#include "rxe_ring.h"
#include "rxe_srq.h"
#include "rxe_stats.h"

#define RXE_UVERBS_ABI_VERSION	2

/* Writing caches back is up to the architecture. */
#define RXE_DEVICE_FLUSH_PERSISTENT	(IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) ? \
					 IB_DEVICE_FLUSH_PERSISTENT : 0)
#define RXE_VENDOR_ID		0xffffff	/* not an OUI: users know soft RoCE by it */
#define RXE_PAGE_SIZE_CAP	0xfffff000	/* 4 KiB and any power of two above */
#define RXE_CA_ACK_DELAY	15		/* 4.096 us << 15 = 134 ms, for the scheduler */

/* On-demand paging: whatever a transport has, it has there too. */
#define RXE_ODP_UD	(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV)
#define RXE_ODP_UC	(RXE_ODP_UD | IB_ODP_SUPPORT_WRITE)
#define RXE_ODP_RC	(RXE_ODP_UC | IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC)

void rxe_device_event(struct rxe_dev *rxe, enum ib_event_type event)
{
	struct ib_event ev = {
		.device			= &rxe->ibdev,
		.element.port_num	= 1,
		.event			= event,
	};

	ib_dispatch_event(&ev);
}

/* As the provider takes it apart again: 16 bits for each part. */
static u64 rxe_fw_ver(void)
{
	u16 major, minor, patch;

	if (sscanf(RXE_VERSION, "%hu.%hu.%hu", &major, &minor, &patch) != 3)
		return 0;
	return (u64)major << 32 | (u32)minor << 16 | patch;
}

static int rxe_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.fw_ver			= rxe_fw_ver(),
		.sys_image_guid		= ibdev->node_guid,
		.max_mr_size		= RXE_MAX_MR_SIZE,
		.page_size_cap		= RXE_PAGE_SIZE_CAP,
		.vendor_id		= RXE_VENDOR_ID,
		.max_qp			= RXE_MAX_QP,
		.max_qp_wr		= RXE_MAX_QP_WR,
		.device_cap_flags	= IB_DEVICE_PORT_ACTIVE_EVENT |
					  IB_DEVICE_SYS_IMAGE_GUID |
					  IB_DEVICE_RC_RNR_NAK_GEN |
					  IB_DEVICE_SRQ_RESIZE |
					  IB_DEVICE_MEM_MGT_EXTENSIONS |
					  IB_DEVICE_MEM_WINDOW |
					  IB_DEVICE_MEM_WINDOW_TYPE_2B |
					  IB_DEVICE_ATOMIC_WRITE |
					  IB_DEVICE_FLUSH_GLOBAL |
					  RXE_DEVICE_FLUSH_PERSISTENT,
		.kernel_cap_flags	= IBK_ALLOW_USER_UNREG | IBK_ON_DEMAND_PAGING,
		.max_send_sge		= RXE_MAX_SGE,
		.max_recv_sge		= RXE_MAX_SGE,
		.max_sge_rd		= RXE_MAX_SGE_RD,
		.max_cq			= RXE_MAX_CQ,
		.max_cqe		= RXE_MAX_CQE,
		.max_srq		= RXE_MAX_SRQ,
		.max_srq_wr		= RXE_MAX_SRQ_WR,
		.max_srq_sge		= RXE_MAX_SGE,
		.max_mr			= RXE_MAX_MR,
		.max_mw			= RXE_MAX_MW,
		.max_fast_reg_page_list_len = RXE_MAX_FAST_REG_PAGES,
		.max_pd			= RXE_MAX_PD,
		.max_qp_rd_atom		= RXE_MAX_RD_ATOM,
		.max_res_rd_atom	= RXE_MAX_RES_RD_ATOM,
		.max_qp_init_rd_atom	= RXE_MAX_RD_ATOM,
		.atomic_cap		= IB_ATOMIC_GLOB,
		.masked_atomic_cap	= IB_ATOMIC_NONE,
		.max_mcast_grp		= RXE_MAX_MCAST_GRP,
		.max_mcast_qp_attach	= RXE_MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach = RXE_MAX_TOTAL_MCAST_ATTACH,
		.max_ah			= RXE_MAX_AH,
		.max_pkeys		= RXE_PKEY_TBL_LEN,
		.local_ca_ack_delay	= RXE_CA_ACK_DELAY,
		.odp_caps		= {
			.general_caps	= IB_ODP_SUPPORT,
			.per_transport_caps = {
				.rc_odp_caps = RXE_ODP_RC,
				.uc_odp_caps = RXE_ODP_UC,
				.ud_odp_caps = RXE_ODP_UD,
			},
		},
	};
	return 0;
}

/* Takes RTNL. A netdev that does not tell counts as the slowest: 2.5 Gbit/s. */
static void rxe_port_speed(struct rxe_dev *rxe, struct ib_port_attr *attr)
{
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	/* The core logs a warning at every call for netdevs without the method. */
	if (rxe_netdev_for_core(rxe->ndev)->ethtool_ops->get_link_ksettings)
		ib_get_eth_speed(&rxe->ibdev, 1, &attr->active_speed, &attr->active_width);
}

static int rxe_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct rxe_dev *rxe = to_rdev(ibdev);

	rxe_port_speed(rxe, attr);
	attr->state = rxe_netdev_port_state(rxe);
	if (ib_get_curr_port_state(rxe->ndev) == IB_PORT_ACTIVE)
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else if (netif_running(rxe->ndev))
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	else
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = rxe_netdev_mtu(rxe->ndev);
	attr->gid_tbl_len = RXE_GID_TBL_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = RXE_MAX_MSG_SZ;
	attr->pkey_tbl_len = RXE_PKEY_TBL_LEN;
	attr->max_vl_num = 1;
	return 0;
}

static int rxe_get_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = RXE_GID_TBL_LEN;
	immutable->pkey_tbl_len = RXE_PKEY_TBL_LEN;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer rxe_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int rxe_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= RXE_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = ROCE_DEFAULT_PKEY;
	return 0;
}

static int rxe_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void rxe_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, RXE_VERSION, IB_FW_VERSION_NAME_MAX);
}

static void rxe_report_port_event(struct ib_device *ibdev, struct net_device *ndev,
				  unsigned long event)
{
	rxe_netdev_port_update(to_rdev(ibdev));
}

/* Also after `rdma dev set netns`, which no event gets through to. */
static int rxe_enable_driver(struct ib_device *ibdev)
{
	rxe_netdev_port_update(to_rdev(ibdev));
	return 0;
}

/*
 * ib_dealloc_device() calls this: after unregistration, or from
 * rxe_device_create() when the device never was registered.
 */
static void rxe_dealloc_driver(struct ib_device *ibdev)
{
	struct rxe_dev *rxe = to_rdev(ibdev);
	struct rxe_link *link = rxe->link;
	unsigned int i;

	for (i = 0; i < RXE_GID_TBL_LEN; i++)
		WARN_ON_ONCE(rcu_access_pointer(rxe->gids[i]));
	WARN_ON_ONCE(!xa_empty(&rxe->mrs));
	WARN_ON_ONCE(!xa_empty(&rxe->mws));
	WARN_ON_ONCE(!xa_empty(&rxe->ahs));
	rxe_netdev_dev_fini(rxe);
	rxe_mcast_dev_fini(rxe);

	/* Who found the device through a GID under RCU may still count in it. */
	synchronize_rcu();

	xa_destroy(&rxe->mrs);
	xa_destroy(&rxe->mws);
	xa_destroy(&rxe->ahs);
	free_percpu(rxe->stats);
	if (rxe->ndev)
		netdev_put(rxe->ndev, &rxe->ndev_tracker);
	if (link)
		rxe_link_gone(link);
}

static const struct ib_device_ops rxe_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = RXE_UVERBS_ABI_VERSION,

	.add_gid = rxe_add_gid,
	.advise_mr = rxe_advise_mr,
	.alloc_hw_port_stats = rxe_alloc_hw_port_stats,
	.alloc_mr = rxe_alloc_mr,
	.alloc_mw = rxe_alloc_mw,
	.alloc_pd = rxe_alloc_pd,
	.alloc_ucontext = rxe_alloc_ucontext,
	.attach_mcast = rxe_attach_mcast,
	.create_ah = rxe_create_ah,
	.create_cq = rxe_create_cq,
	.create_qp = rxe_create_qp,
	.create_srq = rxe_create_srq,
	.create_user_ah = rxe_create_ah,
	.enable_driver		= rxe_enable_driver,
	.dealloc_driver = rxe_dealloc_driver,
	.dealloc_mw = rxe_dealloc_mw,
	.dealloc_pd = rxe_dealloc_pd,
	.dealloc_ucontext = rxe_dealloc_ucontext,
	.del_gid = rxe_del_gid,
	.dereg_mr = rxe_dereg_mr,
	.destroy_ah = rxe_destroy_ah,
	.destroy_cq = rxe_destroy_cq,
	.destroy_qp = rxe_destroy_qp,
	.destroy_srq = rxe_destroy_srq,
	.detach_mcast = rxe_detach_mcast,
	.disassociate_ucontext = rxe_disassociate_ucontext,
	.fill_res_cq_entry = rxe_fill_res_cq_entry,
	.fill_res_mr_entry = rxe_fill_res_mr_entry,
	.fill_res_qp_entry = rxe_fill_res_qp_entry,
	.fill_res_srq_entry = rxe_fill_res_srq_entry,
	.get_dev_fw_str = rxe_get_dev_fw_str,
	.get_dma_mr = rxe_get_dma_mr,
	.get_hw_stats = rxe_get_hw_stats,
	.get_link_layer = rxe_get_link_layer,
	.get_port_immutable = rxe_get_port_immutable,
	.map_mr_sg = rxe_map_mr_sg,
	.mmap = rxe_mmap,
	.mmap_free = rxe_mmap_free,
	.modify_ah = rxe_modify_ah,
	.modify_device = rxe_modify_device,
	.modify_qp = rxe_modify_qp,
	.modify_srq = rxe_modify_srq,
	.poll_cq = rxe_poll_cq,
	.post_recv = rxe_post_recv,
	.post_send = rxe_post_send,
	.post_srq_recv = rxe_post_srq_recv,
	.process_mad = rxe_process_mad,
	.query_ah = rxe_query_ah,
	.query_device = rxe_query_device,
	.query_pkey = rxe_query_pkey,
	.query_port = rxe_query_port,
	.query_qp = rxe_query_qp,
	.query_srq = rxe_query_srq,
	.reg_user_mr = rxe_reg_user_mr,
	.reg_user_mr_dmabuf = rxe_reg_user_mr_dmabuf,
	.report_port_event = rxe_report_port_event,
	.req_notify_cq = rxe_req_notify_cq,
	.rereg_user_mr = rxe_rereg_user_mr,
	.resize_user_cq = rxe_resize_user_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, rxe_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, rxe_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, rxe_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, rxe_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, rxe_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, rxe_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rxe_ucontext, ibuc),
};

/* What needs no undoing, and lets rxe_dealloc_driver() run at any time after it. */
static void rxe_device_setup(struct rxe_dev *rxe, struct net *net)
{
	struct ib_device *ibdev = &rxe->ibdev;

	xa_init_flags(&rxe->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	xa_init_flags(&rxe->mws, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	xa_init_flags(&rxe->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	mutex_init(&rxe->gid_mutex);
	spin_lock_init(&rxe->port_lock);
	rxe_mcast_dev_init(rxe);
	rxe_netdev_dev_init(rxe);

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->node_guid = rxe->link->guid;
	strscpy(ibdev->node_desc, "rxe", sizeof(ibdev->node_desc));
	ibdev->link_ops = &rxe_link_ops;
	/* Beside the core's: a process rings the doorbell and arms CQs by command. */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib_set_device_ops(ibdev, &rxe_dev_ops);

	/* Exclusive mode: the device belongs to the namespace that adds it. */
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}

int rxe_device_create(struct rxe_link *link, struct net *net, const char *name,
		      struct net_device *ndev)
{
	struct rxe_dev *rxe;
	int err = -ENOMEM;

	rxe = ib_alloc_device_with_net(rxe_dev, ibdev, net);
	if (!rxe)
		return -ENOMEM;
	rxe->link = link;
	rxe_device_setup(rxe, net);

	rxe->stats = alloc_percpu(struct rxe_stats);
	if (!rxe->stats)
		goto dealloc;
	netdev_hold(ndev, &rxe->ndev_tracker, GFP_KERNEL);
	rxe->ndev = ndev;
	rxe->active_mtu = rxe_netdev_mtu(ndev);
	err = ib_device_set_netdev(&rxe->ibdev, rxe_netdev_for_core(ndev), 1);
	if (err)
		goto dealloc;

	/* NULL: no DMA, the core hands out kernel addresses. */
	link->dev = rxe;
	err = ib_register_device(&rxe->ibdev, name, NULL);
	if (!err)
		return 0;

	link->dev = NULL;
dealloc:
	/* Who has found the device through a GID may look at its link, under RCU. */
	synchronize_rcu();
	/* The link stays the caller's. */
	rxe->link = NULL;
	ib_dealloc_device(&rxe->ibdev);
	return err;
}
