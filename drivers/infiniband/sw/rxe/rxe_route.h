/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From an address vector to a route, cached. */
#ifndef RXE_ROUTE_H
#define RXE_ROUTE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/dst.h>
#include <rdma/ib_verbs.h>

struct rdma_ah_attr;
struct rxe_dev;
struct rxe_gid_entry;
struct rxe_ns;

/**
 * struct rxe_path - where packets go: the address vector in our words
 * @sgid:	source, with a reference; NULL when the path is unset
 * @dgid:	destination, IPv4 as ::ffff:a.b.c.d
 * @ipv4:	both are IPv4
 * @tclass:	DSCP and ECN
 * @hop_limit:	TTL; 0 is taken as the namespace's default, to a multicast group as 1
 * @flow_label:	20 bits, IPv6
 * @sport:	UDP source port: entropy of the flow (0xc000..0xffff)
 */
struct rxe_path {
	struct rxe_gid_entry	*sgid;
	union ib_gid		dgid;
	bool			ipv4;
	u8			tclass;
	u8			hop_limit;
	u32			flow_label;
	__be16			sport;
};

/**
 * rxe_path_init - make a path from an address handle's attributes
 * @path:	result; holds a reference on its source GID
 * @rxe:	device
 * @attr:	from the core, with a GRH
 * @entropy:	any number that spreads flows, e.g. the two QPNs; used when
 *		the flow label is 0
 * @user:	the caller is a user process: check rxe_gid_allowed()
 *
 * Context: process or atomic; never sleeps.
 * Return: 0, -EINVAL no such GID, not usable (one log line) or families mixed,
 * -EPERM another namespace's.
 */
int rxe_path_init(struct rxe_path *path, struct rxe_dev *rxe, const struct rdma_ah_attr *attr,
		  u32 entropy, bool user);

/* Copy with a reference of its own. */
void rxe_path_copy(struct rxe_path *dst, const struct rxe_path *src);

/* Drop the reference; the path is unset afterwards.  Does nothing to an unset path. */
void rxe_path_fini(struct rxe_path *path);

/**
 * struct rxe_route - a cached dst of one executor's path
 * @lock:	protects @dst, @cookie and @ns against the death of the handle
 * @dst:	NULL when nothing is cached
 * @cookie:	for dst_check()
 * @ns:		whose list @entry is on, with a reference; NULL when not listed
 * @entry:	in rxe_ns.routes
 *
 * Lock order: rxe_ns.lock, then rxe_route.lock.
 */
struct rxe_route {
	spinlock_t		lock;	/* see above */
	struct dst_entry	*dst;
	u32			cookie;
	struct rxe_ns		*ns;
	struct list_head	entry;
};

void rxe_route_init(struct rxe_route *route);

/**
 * rxe_route_get - the dst for a path
 * @route:	cache; NULL for none (datagrams with changing paths)
 * @path:	always the same one for a cache, until rxe_route_reset()
 *
 * Context: BH disabled, RCU read side.
 * Return: a dst with a reference, or ERR_PTR(): -ENETUNREACH, -ENODEV (namespace gone) ...
 */
struct dst_entry *rxe_route_get(struct rxe_route *route, const struct rxe_path *path);

/* Forget the cached dst, e.g. because the path changes.  Context: any, BH irrelevant. */
void rxe_route_reset(struct rxe_route *route);

/* For rxe_ns.c: drop all routes of a dying handle. */
void rxe_route_drop_all(struct rxe_ns *ns);

/**
 * rxe_path_mtu - largest IB MTU that a path's route carries now
 *
 * For modify_qp: a path MTU larger than this would lose every full packet.
 *
 * Context: process.
 * Return: bytes (256..4096), -EMSGSIZE if it carries less, another errno when there is no route.
 */
int rxe_path_mtu(const struct rxe_path *path);

#endif /* RXE_ROUTE_H */
