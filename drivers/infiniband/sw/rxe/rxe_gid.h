/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* GID table entries: an address, its namespace and its sockets. */
#ifndef RXE_GID_H
#define RXE_GID_H

#include <linux/kref.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

struct rxe_dev;
struct rxe_ns;

#define RXE_GID_NO_VLAN		0xffff

/**
 * struct rxe_gid_entry - one entry of a device's GID table
 * @ref:	the table, every path (struct rxe_path) and every QP that uses it
 * @rcu:	readers of the tables use RCU
 * @ns_entry:	in rxe_ns.gids
 * @ns:		sockets; the table's reference is a user of them, the others
 *		only a reference on memory; NULL when the entry is unusable
 *		because it could not have any
 * @rxe:	the device; valid while the entry is in a table, or in a path of
 *		one of its QPs and AHs
 * @gid:	the address, IPv4 as ::ffff:a.b.c.d
 * @ipv4:	it is an IPv4 address
 * @linklocal:	IPv6 link-local: routes need @ifindex
 * @ifindex:	of the netdev that has the address
 * @vlan:	its VLAN ID as the core sees it, 0xffff for none
 * @own_ndev:	that netdev is the one under the link
 * @dead:	removed from the table: nothing is sent from it any more
 */
struct rxe_gid_entry {
	struct kref		ref;
	struct rcu_head		rcu;
	struct list_head	ns_entry;
	struct rxe_ns		*ns;
	struct rxe_dev		*rxe;
	union ib_gid		gid;
	bool			ipv4;
	bool			linklocal;
	int			ifindex;
	u16			vlan;
	bool			own_ndev;
	bool			dead;
};

/* Is it the address of a multicast group, IPv4 or IPv6? */
static inline bool rxe_gid_is_mcast(const union ib_gid *gid)
{
	return rdma_is_multicast_addr((struct in6_addr *)gid);
}

/**
 * rxe_gid_get - entry of a GID index
 *
 * Context: any.
 * Return: the entry with a reference, NULL when there is none or it has no sockets.
 */
struct rxe_gid_entry *rxe_gid_get(struct rxe_dev *rxe, unsigned int index);

/* One more reference on an entry that the caller holds. */
void rxe_gid_hold(struct rxe_gid_entry *gid);

/* Context: any. */
void rxe_gid_put(struct rxe_gid_entry *gid);

/**
 * rxe_gid_usable - can packets be sent from this entry now?
 *
 * Default GIDs exist without the address being on the netdev (IPv6 off, L3
 * devices), and a point-to-point peer's address shows up as a GID.
 *
 * Context: any.
 * Return: true when the address is a local one of the entry's namespace.
 */
bool rxe_gid_usable(struct rxe_gid_entry *gid);

/**
 * rxe_gid_allowed - may the calling process use this entry? (DESIGN: isolation)
 *
 * Return: true when the entry's namespace is the caller's, or the caller has
 * CAP_NET_ADMIN over it.
 */
bool rxe_gid_allowed(struct rxe_gid_entry *gid);

/**
 * rxe_gid_any_allowed - rxe_gid_allowed() for any entry of a device
 *
 * A datagram QP receives what is sent to any of them.
 */
bool rxe_gid_any_allowed(struct rxe_dev *rxe);

/**
 * rxe_gid_is_local - is @addr one of the device's addresses behind these sockets?
 * @rxe:	device
 * @ns:		where the packet came in
 * @addr:	destination address as a GID
 * @ifindex:	where it came in, for link-local addresses
 *
 * Context: BH disabled or RCU.
 */
bool rxe_gid_is_local(struct rxe_dev *rxe, struct rxe_ns *ns, const union ib_gid *addr,
		      int ifindex);

/**
 * rxe_gid_vlan - VLAN ID for the completion of a datagram to a kernel user
 *
 * Arguments as for rxe_gid_is_local(); for a multicast address, the VLAN of the
 * netdev that it came in on.  The CM finds the GID of its answers by address
 * and VLAN.
 *
 * Context: BH disabled or RCU.
 * Return: VLAN ID of the netdev that has the address, RXE_GID_NO_VLAN for none.
 */
u16 rxe_gid_vlan(struct rxe_dev *rxe, struct rxe_ns *ns, const union ib_gid *addr, int ifindex);

/**
 * rxe_gid_find_dev - the device that owns an address: QPN 1 and multicast alone
 *
 * Several devices may share an address (bridge and port, VLAN and parent): the one
 * that was added first, because rdma_cm binds to that one, and an answer or a request
 * has to come to the device that waits for it.
 *
 * For a multicast address: a device with a GID on the netdev @ifindex, the one whose
 * own netdev that is before others.
 *
 * Context: RCU read side; the result is valid within it.
 * Return: device or NULL.
 */
struct rxe_dev *rxe_gid_find_dev(struct rxe_ns *ns, const union ib_gid *addr, int ifindex);

/**
 * rxe_gid_any_usable - has the device an entry that rxe_gid_usable() likes?
 *
 * Context: any.
 */
bool rxe_gid_any_usable(struct rxe_dev *rxe);

/**
 * rxe_gid_l3mdev_update - a netdev may have come to a VRF, or left it
 *
 * Its GIDs get the sockets of that one.  Connections made before cannot go on:
 * their addresses are in another network now.
 *
 * Context: RTNL, may sleep.
 */
void rxe_gid_l3mdev_update(struct rxe_dev *rxe, struct net_device *ndev);

/* ib_device_ops; hold the GID table's lock, may sleep, RTNL perhaps held */
int rxe_add_gid(const struct ib_gid_attr *attr, void **context);
int rxe_del_gid(const struct ib_gid_attr *attr, void **context);

#endif /* RXE_GID_H */
