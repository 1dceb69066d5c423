/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Netdev and address notifiers: port state, MTU, unregistration. */
#ifndef RXE_NETDEV_H
#define RXE_NETDEV_H

#include <rdma/ib_verbs.h>

struct rxe_dev;

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

int __init rxe_netdev_init(void);
void rxe_netdev_exit(void);

#endif /* RXE_NETDEV_H */
