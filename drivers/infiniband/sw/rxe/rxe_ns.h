/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The UDP 4791 sockets of a (network namespace, L3 master) pair.
 *
 * Two counts: @users (links and GID entries) decides how long the sockets are
 * open, @ref how long the memory lives.  Whoever only sends (QPs, AHs, by way
 * of their GID) holds a @ref and copes with sockets that are gone.
 */
#ifndef RXE_NS_H
#define RXE_NS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

struct rxe_rx_sock;
struct sock;

/**
 * struct rxe_ns - the sockets of one namespace and L3 master
 * @ref:	memory
 * @rcu:	lookups run under RCU
 * @entry:	in the namespace's list while it lives; protected by the mutex of
 *		rxe_ns.c, which outlives all namespaces
 * @users:	links and GID entries; protected by the same mutex
 * @net:	NULL once the handle is dead: the namespace exits, or the last
 *		user has gone; a dead handle never comes back.  RCU
 * @l3mdev:	ifindex of the L3 master (VRF) that the sockets are bound to, or 0
 * @sk4:	IPv4 socket, NULL before open and after close; RCU
 * @sk6:	IPv6 socket; NULL also where IPv6 is disabled
 * @lock:	protects @gids and @routes and orders them against the death of
 *		the handle; irqsave, only rxe_route.lock nests in it
 * @gids:	live GID entries (struct rxe_gid_entry.ns_entry), readers use RCU
 * @routes:	cached routes (struct rxe_route.entry) to drop when it dies
 */
struct rxe_ns {
	struct kref		ref;
	struct rcu_head		rcu;
	struct list_head	entry;
	unsigned int		users;
	struct net __rcu	*net;
	int			l3mdev;
	struct rxe_rx_sock __rcu *sk4;
	struct rxe_rx_sock __rcu *sk6;
	spinlock_t		lock;	/* see above */
	struct list_head	gids;
	struct list_head	routes;
};

/**
 * rxe_ns_open - get the sockets of a namespace, opening them if nobody has
 * @net:	the namespace, alive
 * @l3mdev:	L3 master ifindex or 0
 *
 * Context: process, may sleep; RTNL may be held, but is never taken.
 * Return: the handle, with one user that rxe_ns_close() gives back;
 * ERR_PTR(): -EADDRINUSE when somebody else has the port (one log line names
 * namespace and port), -ENOMEM, -ENODEV when the namespace is exiting.
 */
struct rxe_ns *rxe_ns_open(struct net *net, int l3mdev);

/**
 * rxe_ns_close - give a user back; the last one closes the sockets
 *
 * The port is free when this returns.  The namespace may be gone long since.
 *
 * Context: process, may sleep; RTNL may be held, but is never taken.
 */
void rxe_ns_close(struct rxe_ns *ns);

/* References on the memory alone. */
void rxe_ns_get(struct rxe_ns *ns);
void rxe_ns_put(struct rxe_ns *ns);

/*
 * Register pernet operations, and set rxe_rx_burst.c and rxe_tx.c up; after ib_core,
 * before links.
 */
int __init rxe_ns_init(void);
void rxe_ns_exit(void);

#endif /* RXE_NS_H */
