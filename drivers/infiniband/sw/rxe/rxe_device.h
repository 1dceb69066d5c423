/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The ib_device of one link. */
#ifndef RXE_DEVICE_H
#define RXE_DEVICE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "rxe_limits.h"

struct net;
struct rxe_gid_entry;
struct rxe_link;
struct rxe_qp;
struct rxe_stats;

/**
 * struct rxe_dev - one RDMA link
 * @ibdev:	core's part
 * @link:	its entry in the list of links (rxe_main.c), owned
 * @ndev:	the netdev under it; a reference until dealloc_driver
 * @ndev_tracker: of that reference
 * @mrs:	key >> 8 -> struct rxe_mr; lookups under RCU
 * @mr_next:	next index to try in @mrs
 * @mws:	key >> 8 -> struct rxe_mw; its xa_lock (BH) also protects them
 * @mw_next:	next index to try in @mws
 * @ahs:	ah_num -> struct rxe_ah; lookups under its xa_lock
 * @ah_next:	next index to try in @ahs
 * @gid_mutex:	protects @gids against writers; taken inside RTNL and the GID
 *		table's lock, rxe_ns_mutex nests in it
 * @gids:	GID table index -> entry; readers use RCU
 * @gsi_qp:	QP 1, protected by the lock of the QP table (rxe_qp.c)
 * @stats:	per-CPU counters
 * @num_qp:	QPs that exist, against RXE_MAX_QP
 * @num_cq:	CQs that exist
 * @num_srq:	SRQs that exist
 * @num_mr:	MRs that exist
 * @num_mw:	memory windows that exist
 * @num_ah:	AHs that exist
 * @num_pd:	PDs that exist
 * @num_uc:	user contexts that exist
 * @num_mcast_grp: multicast groups; written under RTNL
 * @num_mcast_attach: QPs in them; RTNL
 * @mcast_work:	lets the groups follow the GIDs
 * @rescan_work: lets the GIDs follow addresses that the core does not watch
 * @port_lock:	protects @port_active; irqsave
 * @port_active: the port state that was last reported by an event
 * @active_mtu:	IB MTU that was last logged; netdev notifier (RTNL)
 */
struct rxe_dev {
	struct ib_device	ibdev;
	struct rxe_link		*link;
	struct net_device	*ndev;
	netdevice_tracker	ndev_tracker;
	struct xarray		mrs;
	u32			mr_next;
	struct xarray		mws;
	u32			mw_next;
	struct xarray		ahs;
	u32			ah_next;
	struct mutex		gid_mutex;	/* see above */
	struct rxe_gid_entry __rcu *gids[RXE_GID_TBL_LEN];
	struct rxe_qp		*gsi_qp;
	struct rxe_stats __percpu *stats;
	atomic_t		num_qp;
	atomic_t		num_cq;
	atomic_t		num_srq;
	atomic_t		num_mr;
	atomic_t		num_mw;
	atomic_t		num_ah;
	atomic_t		num_pd;
	atomic_t		num_uc;
	unsigned int		num_mcast_grp;
	unsigned int		num_mcast_attach;
	struct work_struct	mcast_work;
	struct work_struct	rescan_work;
	spinlock_t		port_lock;	/* see above */
	bool			port_active;
	enum ib_mtu		active_mtu;
};

static inline struct rxe_dev *to_rdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct rxe_dev, ibdev);
}

/**
 * rxe_limit_get - count an object against its limit
 * @n:		counter of the device
 * @max:	the limit that query_device advertises
 *
 * Return: false when @max objects exist; else rxe_limit_put() gives it back.
 */
static inline bool rxe_limit_get(atomic_t *n, int max)
{
	return atomic_add_unless(n, 1, max);
}

static inline void rxe_limit_put(atomic_t *n)
{
	atomic_dec(n);
}

/**
 * rxe_device_create - make and register the ib_device of a link
 * @link:	the link; on success the device owns it and may already have
 *		been unregistered and freed again (link->dev is NULL then)
 * @net:	namespace of the link, held by the caller
 * @name:	as the user gave it
 * @ndev:	the netdev under it; a reference is taken
 *
 * Context: process, no RTNL.
 * Return: 0, -ENOMEM, or what ib_register_device() says.
 */
int rxe_device_create(struct rxe_link *link, struct net *net, const char *name,
		      struct net_device *ndev);

/**
 * rxe_device_event - report an event of the device's port
 * @rxe:	device, registered
 * @event:	IB_EVENT_PORT_ACTIVE, IB_EVENT_PORT_ERR ...
 *
 * Context: any.
 */
void rxe_device_event(struct rxe_dev *rxe, enum ib_event_type event);

#endif /* RXE_DEVICE_H */
