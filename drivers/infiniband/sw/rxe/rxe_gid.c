// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * GID table entries: where a device's addresses live, and through which
 * sockets they speak.
 */
#include <linux/cred.h>
#include <linux/inetdevice.h>
#include <linux/nsproxy.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <rdma/ib_cache.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_main.h"
#include "rxe_mcast.h"
#include "rxe_netdev.h"
#include "rxe_ns.h"

static const struct in6_addr *rxe_gid_addr(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid;
}

struct rxe_gid_entry *rxe_gid_get(struct rxe_dev *rxe, unsigned int index)
{
	struct rxe_gid_entry *gid;

	if (index >= RXE_GID_TBL_LEN)
		return NULL;
	rcu_read_lock();
	gid = rcu_dereference(rxe->gids[index]);
	if (gid && (!gid->ns || !kref_get_unless_zero(&gid->ref)))
		gid = NULL;
	rcu_read_unlock();
	return gid;
}

void rxe_gid_hold(struct rxe_gid_entry *gid)
{
	kref_get(&gid->ref);
}

static void rxe_gid_release(struct kref *ref)
{
	struct rxe_gid_entry *gid = container_of(ref, struct rxe_gid_entry, ref);

	if (gid->ns)
		rxe_ns_put(gid->ns);
	kfree_rcu(gid, rcu);
}

void rxe_gid_put(struct rxe_gid_entry *gid)
{
	kref_put(&gid->ref, rxe_gid_release);
}

/* Tentative addresses count: they will be fine in a moment, unless DAD fails. */
static bool rxe_gid_local6(struct net *net, const struct rxe_gid_entry *gid)
{
	const struct net_device *dev = NULL;

	/* Without IPv6 there are no tables to look at. */
	if (!ipv6_mod_enabled())
		return false;
	/* An address of a VRF is found only by who asks for one of that VRF. */
	if (gid->linklocal || gid->ns->l3mdev) {
		dev = dev_get_by_index_rcu(net, gid->linklocal ? gid->ifindex : gid->ns->l3mdev);
		if (!dev)
			return false;
	}
	return ipv6_chk_addr_and_flags(net, rxe_gid_addr(&gid->gid), dev, !gid->linklocal, 1,
				       IFA_F_DADFAILED);
}

/* Context: RCU read side. */
static bool rxe_gid_local(const struct rxe_gid_entry *gid)
{
	struct net *net;

	if (!gid->ns || READ_ONCE(gid->dead))
		return false;
	net = rcu_dereference(gid->ns->net);
	if (!net)
		return false;
	if (gid->ipv4)
		return __ip_dev_find(net, rxe_gid_addr(&gid->gid)->s6_addr32[3], false);
	return rxe_gid_local6(net, gid);
}

bool rxe_gid_usable(struct rxe_gid_entry *gid)
{
	bool usable;

	rcu_read_lock();
	usable = rxe_gid_local(gid);
	rcu_read_unlock();
	return usable;
}

bool rxe_gid_any_usable(struct rxe_dev *rxe)
{
	struct rxe_gid_entry *gid;
	unsigned int i;
	bool usable = false;

	rcu_read_lock();
	for (i = 0; i < RXE_GID_TBL_LEN && !usable; i++) {
		gid = rcu_dereference(rxe->gids[i]);
		usable = gid && rxe_gid_local(gid);
	}
	rcu_read_unlock();
	return usable;
}

bool rxe_gid_allowed(struct rxe_gid_entry *gid)
{
	struct net *net = NULL;
	bool allowed = false;

	rcu_read_lock();
	if (gid->ns)
		net = rcu_dereference(gid->ns->net);
	if (net)
		allowed = (current->nsproxy && net_eq(net, current->nsproxy->net_ns)) ||
			  ns_capable(net->user_ns, CAP_NET_ADMIN);
	rcu_read_unlock();
	return allowed;
}

bool rxe_gid_any_allowed(struct rxe_dev *rxe)
{
	struct rxe_gid_entry *gid;
	bool allowed = false;
	unsigned int i;

	for (i = 0; i < RXE_GID_TBL_LEN && !allowed; i++) {
		gid = rxe_gid_get(rxe, i);
		if (!gid)
			continue;
		allowed = rxe_gid_allowed(gid);
		rxe_gid_put(gid);
	}
	return allowed;
}

static bool rxe_gid_match(const struct rxe_gid_entry *gid, const union ib_gid *addr, int ifindex)
{
	return !memcmp(&gid->gid, addr, sizeof(*addr)) &&
	       (!gid->linklocal || gid->ifindex == ifindex);
}

bool rxe_gid_is_local(struct rxe_dev *rxe, struct rxe_ns *ns, const union ib_gid *addr,
		      int ifindex)
{
	struct rxe_gid_entry *gid;
	bool local = false;

	rcu_read_lock();
	list_for_each_entry_rcu(gid, &ns->gids, ns_entry) {
		if (gid->rxe == rxe && rxe_gid_match(gid, addr, ifindex)) {
			local = true;
			break;
		}
	}
	rcu_read_unlock();
	return local;
}

u16 rxe_gid_vlan(struct rxe_dev *rxe, struct rxe_ns *ns, const union ib_gid *addr, int ifindex)
{
	bool mcast = rxe_gid_is_mcast(addr);
	struct rxe_gid_entry *gid;
	u16 vlan = RXE_GID_NO_VLAN;

	rcu_read_lock();
	list_for_each_entry_rcu(gid, &ns->gids, ns_entry) {
		if (gid->rxe != rxe ||
		    (mcast ? gid->ifindex != ifindex : !rxe_gid_match(gid, addr, ifindex)))
			continue;
		vlan = gid->vlan;
		if (gid->ifindex == ifindex)
			break;
	}
	rcu_read_unlock();
	return vlan;
}

/* As rdma_cm chooses: the device that was there first, if its namespace may use it. */
static bool rxe_gid_goes_before(const struct rxe_gid_entry *gid, const struct rxe_dev *other,
				const struct net *net)
{
	struct ib_device *ibdev = &gid->rxe->ibdev;

	return rdma_dev_access_netns(ibdev, net) &&
	       (!other || gid->rxe->link->serial < other->link->serial);
}

struct rxe_dev *rxe_gid_find_dev(struct rxe_ns *ns, const union ib_gid *addr, int ifindex)
{
	struct net *net = rcu_dereference(ns->net);
	bool mcast = rxe_gid_is_mcast(addr);
	struct rxe_dev *rxe = NULL;
	struct rxe_gid_entry *gid;

	if (!net)
		return NULL;
	list_for_each_entry_rcu(gid, &ns->gids, ns_entry) {
		if (mcast ? gid->ifindex != ifindex : !rxe_gid_match(gid, addr, ifindex))
			continue;
		if (mcast && gid->own_ndev)
			return gid->rxe;
		if (mcast ? !rxe : rxe_gid_goes_before(gid, rxe, net))
			rxe = gid->rxe;
	}
	return rxe;
}

/*
 * Find out where an entry's netdev is.  It may be elsewhere than the device
 * (a macvlan that moved), or on the way out: then there is no namespace.
 */
static struct net *rxe_gid_locate(const struct ib_gid_attr *attr, struct rxe_gid_entry *gid,
				  int *l3mdev)
{
	struct net_device *ndev;
	struct net *net = NULL;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev) {
		gid->ifindex = ndev->ifindex;
		gid->own_ndev = ndev == gid->rxe->ndev;
		*l3mdev = l3mdev_master_ifindex_rcu(ndev);
		net = maybe_get_net(dev_net_rcu(ndev));
	}
	rcu_read_unlock();
	if (rdma_read_gid_l2_fields(attr, &gid->vlan, NULL))
		gid->vlan = RXE_GID_NO_VLAN;
	return net;
}

/*
 * An entry without sockets is kept all the same: the core has taken the
 * address, and would complain about each one that is refused.
 */
static int rxe_gid_open(const struct ib_gid_attr *attr, struct rxe_gid_entry *gid)
{
	struct rxe_ns *ns;
	struct net *net;
	int l3mdev = 0;

	net = rxe_gid_locate(attr, gid, &l3mdev);
	if (!net)
		return 0;
	ns = rxe_ns_open(net, l3mdev);
	put_net(net);
	if (IS_ERR(ns))
		return PTR_ERR(ns) == -ENOMEM ? -ENOMEM : 0;

	rxe_ns_get(ns);
	gid->ns = ns;
	return 0;
}

/* Only while the device is registered: afterwards the core flushes events no more. */
static void rxe_gid_changed(struct rxe_dev *rxe)
{
	rxe_mcast_gids_changed(rxe);
	if (!ib_device_try_get(&rxe->ibdev))
		return;
	rxe_netdev_port_update(rxe);
	ib_device_put(&rxe->ibdev);
}

static void rxe_gid_list(struct rxe_dev *rxe, unsigned int index, struct rxe_gid_entry *gid)
{
	unsigned long flags;

	lockdep_assert_held(&rxe->gid_mutex);
	if (gid->ns) {
		spin_lock_irqsave(&gid->ns->lock, flags);
		list_add_tail_rcu(&gid->ns_entry, &gid->ns->gids);
		spin_unlock_irqrestore(&gid->ns->lock, flags);
	}
	rcu_assign_pointer(rxe->gids[index], gid);
}

static void rxe_gid_unlist(struct rxe_dev *rxe, unsigned int index, struct rxe_gid_entry *gid)
{
	unsigned long flags;

	lockdep_assert_held(&rxe->gid_mutex);
	RCU_INIT_POINTER(rxe->gids[index], NULL);
	if (gid->ns) {
		spin_lock_irqsave(&gid->ns->lock, flags);
		list_del_rcu(&gid->ns_entry);
		spin_unlock_irqrestore(&gid->ns->lock, flags);
	}
}

/* The entry in place of @old, in another L3 domain; NULL when that has no sockets. */
static struct rxe_gid_entry *rxe_gid_clone(const struct rxe_gid_entry *old, struct net *net,
					   int l3mdev)
{
	struct rxe_gid_entry *gid;

	gid = kmemdup(old, sizeof(*old), GFP_KERNEL);
	if (!gid)
		return NULL;
	kref_init(&gid->ref);
	gid->ns = rxe_ns_open(net, l3mdev);
	if (IS_ERR(gid->ns)) {
		kfree(gid);
		return NULL;
	}
	rxe_ns_get(gid->ns);
	return gid;
}

/* Out of the table, and the table's reference given back. */
static void rxe_gid_bury(struct rxe_dev *rxe, unsigned int index, struct rxe_gid_entry *gid)
{
	WRITE_ONCE(gid->dead, true);
	rxe_gid_unlist(rxe, index, gid);
	if (gid->ns)
		rxe_ns_close(gid->ns);
	rxe_gid_put(gid);
}

static struct rxe_gid_entry *rxe_gid_at(const struct rxe_dev *rxe, unsigned int index)
{
	return rcu_dereference_protected(rxe->gids[index], lockdep_is_held(&rxe->gid_mutex));
}

void rxe_gid_l3mdev_update(struct rxe_dev *rxe, struct net_device *ndev)
{
	int l3mdev = l3mdev_master_ifindex(ndev);
	struct net *net = dev_net(ndev);
	struct rxe_gid_entry *gid, *new;
	bool changed = false;
	unsigned int i;

	ASSERT_RTNL();
	mutex_lock(&rxe->gid_mutex);
	for (i = 0; i < RXE_GID_TBL_LEN; i++) {
		gid = rxe_gid_at(rxe, i);
		if (!gid || !gid->ns || gid->ifindex != ndev->ifindex ||
		    gid->ns->l3mdev == l3mdev || rcu_access_pointer(gid->ns->net) != net)
			continue;
		new = rxe_gid_clone(gid, net, l3mdev);
		if (!new)
			continue;
		rxe_gid_bury(rxe, i, gid);
		rxe_gid_list(rxe, i, new);
		changed = true;
	}
	mutex_unlock(&rxe->gid_mutex);
	if (changed)
		rxe_gid_changed(rxe);
}

/* What the core offers to a link on a VLAN may be the address of a netdev beside it. */
static bool rxe_gid_wanted(struct rxe_dev *rxe, const struct ib_gid_attr *attr)
{
	struct net_device *ndev;
	bool wanted;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	wanted = !ndev || rxe_netdev_has_addrs_of(rxe->ndev, ndev);
	rcu_read_unlock();
	return wanted;
}

int rxe_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct rxe_dev *rxe = to_rdev(attr->device);
	struct rxe_gid_entry *gid;
	int err;

	if (attr->index >= RXE_GID_TBL_LEN)
		return -EINVAL;
	if (!rxe_gid_wanted(rxe, attr))
		return -EADDRNOTAVAIL;
	gid = kzalloc_obj(*gid);
	if (!gid)
		return -ENOMEM;
	kref_init(&gid->ref);
	gid->rxe = rxe;
	gid->gid = attr->gid;
	gid->ipv4 = ipv6_addr_v4mapped(rxe_gid_addr(&gid->gid));
	gid->linklocal = ipv6_addr_type(rxe_gid_addr(&gid->gid)) & IPV6_ADDR_LINKLOCAL;

	err = rxe_gid_open(attr, gid);
	if (err) {
		kfree(gid);
		return err;
	}
	mutex_lock(&rxe->gid_mutex);
	rxe_gid_list(rxe, attr->index, gid);
	mutex_unlock(&rxe->gid_mutex);
	rxe_gid_changed(rxe);
	return 0;
}

/*
 * attr->ndev may be NULL here: all that matters was noted by rxe_add_gid().  The
 * core uses an index again only after this; @context would not follow an entry
 * that rxe_gid_l3mdev_update() has replaced.
 */
int rxe_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct rxe_dev *rxe = to_rdev(attr->device);
	struct rxe_gid_entry *gid;

	if (attr->index >= RXE_GID_TBL_LEN)
		return -EINVAL;
	mutex_lock(&rxe->gid_mutex);
	gid = rxe_gid_at(rxe, attr->index);
	if (gid)
		rxe_gid_bury(rxe, attr->index, gid);
	mutex_unlock(&rxe->gid_mutex);
	rxe_gid_changed(rxe);
	return 0;
}
