/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Netdev and address notifiers: port state, MTU, unregistration. */
#ifndef RXE_NETDEV_H
#define RXE_NETDEV_H

#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce.h>

struct rxe_dev;

/* The largest headers that a packet with a full payload has: a WRITE with immediate over IPv6. */
#define RXE_NETDEV_OVERHEAD	(sizeof(struct ipv6hdr) + sizeof(struct udphdr) +	\
				 ROCE_MAX_DATA_HDR + ROCE_ICRC_SIZE)

/* Of netdevs that can have a link. */
#define RXE_NETDEV_MIN_MTU	(256 + RXE_NETDEV_OVERHEAD)

/**
 * rxe_netdev_for_core - the netdev that the core takes a link's addresses from
 *
 * Context: RTNL, or a reference on @ndev.
 * Return: @ndev, or what is below it if it is a VLAN; not held.
 */
struct net_device *rxe_netdev_for_core(struct net_device *ndev);

/**
 * rxe_netdev_has_addrs_of - does a link on @ndev have the addresses of @other?
 *
 * Asked about what the core offers to the link: of a VLAN's parent that is more than
 * its own.
 *
 * Context: RCU read side.
 */
bool rxe_netdev_has_addrs_of(struct net_device *ndev, struct net_device *other);

/**
 * rxe_netdev_port_state - state of the port now
 *
 * ACTIVE when the netdev is up with a carrier and the device has a GID that
 * can be used.
 *
 * Context: any.
 */
enum ib_port_state rxe_netdev_port_state(struct rxe_dev *rxe);

/**
 * rxe_netdev_port_update - report the port's state if it has changed
 *
 * Context: any.
 */
void rxe_netdev_port_update(struct rxe_dev *rxe);

/**
 * rxe_netdev_mtu - largest IB MTU that the netdev carries, as an enum
 *
 * A netdev too small for 256-byte packets has IB_MTU_256 all the same.
 */
enum ib_mtu rxe_netdev_mtu(const struct net_device *ndev);

/**
 * rxe_netdev_l3mdev_update - a netdev may have come to a VRF, or left it
 *
 * Its link and its GIDs get the sockets of the VRF that it is in now.
 *
 * Context: RTNL, may sleep.
 */
void rxe_netdev_l3mdev_update(struct net_device *ndev);

/* Set up with the device, and undo it when it is gone. */
void rxe_netdev_dev_init(struct rxe_dev *rxe);
void rxe_netdev_dev_fini(struct rxe_dev *rxe);

int __init rxe_netdev_init(void);
void rxe_netdev_exit(void);

#endif /* RXE_NETDEV_H */
