/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast: groups of a device, the QPs in them, and the netdevs on which the
 * namespace has joined them.
 *
 * Netdevs join, not sockets: a socket that has joined takes RTNL when it is
 * closed, and ours are closed where that is held (rxe_ns.h).
 */
#ifndef RXE_MCAST_H
#define RXE_MCAST_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

struct rxe_dev;
struct rxe_qp;

/* Takes over a burst for a QP; see rxe_mcast_deliver(). */
typedef void (*rxe_mcast_give_fn)(struct rxe_qp *qp, struct sk_buff *skb, void *arg);

/**
 * rxe_mcast_deliver - give a burst to each member of its group
 * @skb:	accepted burst; consumed when true is returned
 * @give:	called once for each QP, with a burst of its own, under a
 *		spinlock: it may queue and take references, no more
 * @arg:	for @give
 *
 * Members are the QPs of all devices that have joined the group on the netdev
 * that the burst came in on.
 *
 * Context: BH disabled.
 * Return: false when there is none.
 */
bool rxe_mcast_deliver(struct sk_buff *skb, rxe_mcast_give_fn give, void *arg);

/**
 * rxe_mcast_gids_changed - let the groups of a device follow its addresses
 *
 * Groups are joined on the netdevs that have a GID of their family.  A work
 * item sees to it.
 *
 * Context: any.
 */
void rxe_mcast_gids_changed(struct rxe_dev *rxe);

/**
 * rxe_mcast_netdev_changed - a netdev goes, or its IP part may have gone
 *
 * Memberships that went with it are forgotten.
 *
 * Context: netdev notifier, behind those of IPv4 and IPv6; RTNL.
 */
void rxe_mcast_netdev_changed(struct net_device *ndev, bool gone);

/* Set up with the device, and undo it when no QP is left; takes RTNL. */
void rxe_mcast_dev_init(struct rxe_dev *rxe);
void rxe_mcast_dev_fini(struct rxe_dev *rxe);

/* ib_device_ops; take RTNL */
int rxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 mlid);
int rxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 mlid);

#endif /* RXE_MCAST_H */
