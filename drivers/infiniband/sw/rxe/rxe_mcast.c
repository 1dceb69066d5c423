// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: who is in them, and where they are joined.
 *
 * Everything is written under RTNL, as the stack wants it for joining; what the
 * receiver looks at is written under rxe_mcast_lock as well.
 */
#include <linux/hashtable.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_mcast.h"
#include "rxe_ns.h"
#include "rxe_qp.h"

/**
 * struct rxe_mcast_member - a QP in a group
 * @entry:	in rxe_mcast_group.members
 * @qp:		alive: the core lets no QP go before it has left
 * @count:	times attached, each of which the core will undo
 */
struct rxe_mcast_member {
	struct list_head	entry;
	struct rxe_qp		*qp;
	unsigned int		count;
};

/**
 * struct rxe_mcast_join - a netdev on which a group is joined
 * @entry:	in rxe_mcast_group.joins
 * @ndev:	valid under RTNL: forgotten when it is unregistered
 * @ifindex:	its index, as packets tell it
 * @ns:		the handle that packets come in through; a reference on memory
 */
struct rxe_mcast_join {
	struct list_head	entry;
	struct net_device	*ndev;
	int			ifindex;
	struct rxe_ns		*ns;
};

/**
 * struct rxe_mcast_group - a group of one device
 * @node:	in rxe_mcast_groups
 * @rxe:	device
 * @mgid:	address of the group, IPv4 as ::ffff:a.b.c.d
 * @ipv4:	it is an IPv4 address
 * @num_members: entries of @members
 * @members:	QPs (struct rxe_mcast_member)
 * @joins:	netdevs (struct rxe_mcast_join)
 */
struct rxe_mcast_group {
	struct hlist_node	node;
	struct rxe_dev		*rxe;
	union ib_gid		mgid;
	bool			ipv4;
	unsigned int		num_members;
	struct list_head	members;
	struct list_head	joins;
};

/* All groups of the module, by address; writers hold RTNL and the lock. */
static DEFINE_HASHTABLE(rxe_mcast_groups, 8);

/* BH; rxe_rxq.queue.lock nests in it. */
static DEFINE_SPINLOCK(rxe_mcast_lock);

static u32 rxe_mcast_key(const union ib_gid *mgid)
{
	return jhash(mgid, sizeof(*mgid), 0);
}

static const struct in6_addr *rxe_mcast_addr6(const struct rxe_mcast_group *group)
{
	return (const struct in6_addr *)&group->mgid;
}

static __be32 rxe_mcast_addr4(const struct rxe_mcast_group *group)
{
	return rxe_mcast_addr6(group)->s6_addr32[3];
}

/* Context: rxe_mcast_lock or RTNL. */
static struct rxe_mcast_join *rxe_mcast_joined(const struct rxe_mcast_group *group,
					       const struct rxe_ns *ns, int ifindex)
{
	struct rxe_mcast_join *join;

	list_for_each_entry(join, &group->joins, entry)
		if (join->ns == ns && join->ifindex == ifindex)
			return join;
	return NULL;
}

static void rxe_mcast_give_copy(struct rxe_qp *qp, struct sk_buff *skb, rxe_mcast_give_fn give,
				void *arg)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (!copy) {
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_QUEUE);
		return;
	}
	rxe_ns_get(rxe_skb_cb(copy)->ns);
	give(qp, copy, arg);
}

bool rxe_mcast_deliver(struct sk_buff *skb, rxe_mcast_give_fn give, void *arg)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	struct rxe_mcast_member *member;
	struct rxe_mcast_group *group;
	struct rxe_qp *last = NULL;
	union ib_gid mgid;

	rxe_skb_daddr(skb, &mgid);
	cb->mcast = true;

	spin_lock(&rxe_mcast_lock);
	hash_for_each_possible(rxe_mcast_groups, group, node, rxe_mcast_key(&mgid)) {
		if (memcmp(&group->mgid, &mgid, sizeof(mgid)) ||
		    !rxe_mcast_joined(group, cb->ns, cb->ifindex))
			continue;
		list_for_each_entry(member, &group->members, entry) {
			if (last)
				rxe_mcast_give_copy(last, skb, give, arg);
			last = member->qp;
		}
	}
	if (last)
		give(last, skb, arg);
	spin_unlock(&rxe_mcast_lock);
	return last;
}

/* The netdev of a GID entry, NULL when it has gone.  Context: RTNL keeps it. */
static struct net_device *rxe_mcast_gid_netdev(const struct rxe_gid_entry *gid)
{
	struct net_device *ndev = NULL;
	struct net *net;

	ASSERT_RTNL();
	rcu_read_lock();
	net = rcu_dereference(gid->ns->net);
	if (net)
		ndev = dev_get_by_index_rcu(net, gid->ifindex);
	rcu_read_unlock();
	return ndev;
}

/* Tell the stack, which tells routers (IGMP, MLD) and the netdev's filter. */
static int rxe_mcast_stack_join(const struct rxe_mcast_group *group, struct net_device *ndev)
{
	struct in_device *in_dev;

	if (!group->ipv4)
		return ipv6_dev_mc_inc(ndev, rxe_mcast_addr6(group));
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, rxe_mcast_addr4(group));
	return 0;
}

static void rxe_mcast_stack_leave(const struct rxe_mcast_group *group, struct net_device *ndev)
{
	struct in_device *in_dev;

	if (!group->ipv4) {
		ipv6_dev_mc_dec(ndev, rxe_mcast_addr6(group));
		return;
	}
	in_dev = __in_dev_get_rtnl(ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, rxe_mcast_addr4(group));
}

static int rxe_mcast_join(struct rxe_mcast_group *group, struct rxe_gid_entry *gid)
{
	struct rxe_mcast_join *join;
	struct net_device *ndev;
	int err;

	ndev = rxe_mcast_gid_netdev(gid);
	if (!ndev)
		return 0;
	join = kzalloc_obj(*join);
	if (!join)
		return -ENOMEM;
	/* Other errors: IP is off there, and no packet will come. */
	err = rxe_mcast_stack_join(group, ndev);
	if (err) {
		kfree(join);
		return err == -ENOMEM ? err : 0;
	}

	rxe_ns_get(gid->ns);
	join->ns = gid->ns;
	join->ndev = ndev;
	join->ifindex = gid->ifindex;
	spin_lock_bh(&rxe_mcast_lock);
	list_add_tail(&join->entry, &group->joins);
	spin_unlock_bh(&rxe_mcast_lock);
	return 0;
}

static void rxe_mcast_forget(struct rxe_mcast_join *join)
{
	spin_lock_bh(&rxe_mcast_lock);
	list_del(&join->entry);
	spin_unlock_bh(&rxe_mcast_lock);
	rxe_ns_put(join->ns);
	kfree(join);
}

static void rxe_mcast_leave(struct rxe_mcast_group *group, struct rxe_mcast_join *join)
{
	rxe_mcast_stack_leave(group, join->ndev);
	rxe_mcast_forget(join);
}

/* Has the device still a GID there? */
static bool rxe_mcast_wanted(const struct rxe_mcast_group *group,
			     const struct rxe_mcast_join *join)
{
	const struct rxe_gid_entry *gid;
	bool wanted = false;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < RXE_GID_TBL_LEN && !wanted; i++) {
		gid = rcu_dereference(group->rxe->gids[i]);
		wanted = gid && gid->ns == join->ns && gid->ifindex == join->ifindex &&
			 gid->ipv4 == group->ipv4;
	}
	rcu_read_unlock();
	return wanted;
}

/* Join on the netdevs that have a GID of the family, leave on all others. */
static int rxe_mcast_sync(struct rxe_mcast_group *group)
{
	struct rxe_mcast_join *join, *next;
	struct rxe_gid_entry *gid;
	int err = 0;
	unsigned int i;

	ASSERT_RTNL();
	list_for_each_entry_safe(join, next, &group->joins, entry)
		if (!rxe_mcast_wanted(group, join))
			rxe_mcast_leave(group, join);

	for (i = 0; i < RXE_GID_TBL_LEN && !err; i++) {
		gid = rxe_gid_get(group->rxe, i);
		if (!gid)
			continue;
		if (gid->ipv4 == group->ipv4 &&
		    !rxe_mcast_joined(group, gid->ns, gid->ifindex))
			err = rxe_mcast_join(group, gid);
		rxe_gid_put(gid);
	}
	return err;
}

static void rxe_mcast_work(struct work_struct *work)
{
	struct rxe_dev *rxe = container_of(work, struct rxe_dev, mcast_work);
	struct rxe_mcast_group *group;
	unsigned int bkt;

	rtnl_lock();
	hash_for_each(rxe_mcast_groups, bkt, group, node)
		if (group->rxe == rxe && rxe_mcast_sync(group))
			ibdev_warn_ratelimited(&rxe->ibdev,
					       "no memory to join multicast group %pI6c: leave it and join again\n",
					       group->mgid.raw);
	rtnl_unlock();
}

void rxe_mcast_gids_changed(struct rxe_dev *rxe)
{
	smp_mb();	/* the GID, before the look at the groups: see rxe_mcast_create() */
	if (READ_ONCE(rxe->num_mcast_grp))
		queue_work(system_dfl_wq, &rxe->mcast_work);
}

/* False: its memberships have gone with the IP part of the netdev. */
static bool rxe_mcast_has_ip(const struct net_device *ndev, bool ipv4)
{
	return ipv4 ? !!__in_dev_get_rtnl(ndev) : !!__in6_dev_get(ndev);
}

void rxe_mcast_netdev_changed(struct net_device *ndev, bool gone)
{
	struct rxe_mcast_join *join, *next;
	struct rxe_mcast_group *group;
	unsigned int bkt;

	ASSERT_RTNL();
	hash_for_each(rxe_mcast_groups, bkt, group, node) {
		list_for_each_entry_safe(join, next, &group->joins, entry) {
			if (join->ndev != ndev)
				continue;
			if (!rxe_mcast_has_ip(ndev, group->ipv4))
				rxe_mcast_forget(join);
			else if (gone)
				rxe_mcast_leave(group, join);
		}
	}
}

static struct rxe_mcast_group *rxe_mcast_find(const struct rxe_dev *rxe, const union ib_gid *mgid)
{
	struct rxe_mcast_group *group;

	ASSERT_RTNL();
	hash_for_each_possible(rxe_mcast_groups, group, node, rxe_mcast_key(mgid))
		if (group->rxe == rxe && !memcmp(&group->mgid, mgid, sizeof(*mgid)))
			return group;
	return NULL;
}

/* A new group, joined, without members. */
static struct rxe_mcast_group *rxe_mcast_create(struct rxe_dev *rxe, const union ib_gid *mgid)
{
	struct rxe_mcast_group *group;

	if (rxe->num_mcast_grp >= RXE_MAX_MCAST_GRP)
		return ERR_PTR(-ENOMEM);
	group = kzalloc_obj(*group);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->rxe = rxe;
	group->mgid = *mgid;
	group->ipv4 = ipv6_addr_v4mapped(rxe_mcast_addr6(group));
	INIT_LIST_HEAD(&group->members);
	INIT_LIST_HEAD(&group->joins);

	/* Counted before the look at the GIDs: a change from now on queues the work. */
	WRITE_ONCE(rxe->num_mcast_grp, rxe->num_mcast_grp + 1);
	smp_mb();	/* pairs with rxe_mcast_gids_changed() */
	spin_lock_bh(&rxe_mcast_lock);
	hash_add(rxe_mcast_groups, &group->node, rxe_mcast_key(mgid));
	spin_unlock_bh(&rxe_mcast_lock);
	return group;
}

static void rxe_mcast_destroy(struct rxe_mcast_group *group)
{
	struct rxe_dev *rxe = group->rxe;
	struct rxe_mcast_join *join, *next;

	list_for_each_entry_safe(join, next, &group->joins, entry)
		rxe_mcast_leave(group, join);
	spin_lock_bh(&rxe_mcast_lock);
	hash_del(&group->node);
	spin_unlock_bh(&rxe_mcast_lock);
	WRITE_ONCE(rxe->num_mcast_grp, rxe->num_mcast_grp - 1);
	kfree(group);
}

static struct rxe_mcast_member *rxe_mcast_member(const struct rxe_mcast_group *group,
						 const struct rxe_qp *qp)
{
	struct rxe_mcast_member *member;

	ASSERT_RTNL();
	list_for_each_entry(member, &group->members, entry)
		if (member->qp == qp)
			return member;
	return NULL;
}

static int rxe_mcast_add_member(struct rxe_mcast_group *group, struct rxe_qp *qp)
{
	struct rxe_mcast_member *member = rxe_mcast_member(group, qp);
	struct rxe_dev *rxe = group->rxe;

	if (member) {
		member->count++;
		return 0;
	}
	if (group->num_members >= RXE_MAX_MCAST_QP_ATTACH ||
	    rxe->num_mcast_attach >= RXE_MAX_TOTAL_MCAST_ATTACH)
		return -ENOMEM;
	member = kzalloc_obj(*member);
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	member->count = 1;
	group->num_members++;
	rxe->num_mcast_attach++;
	spin_lock_bh(&rxe_mcast_lock);
	list_add_tail(&member->entry, &group->members);
	spin_unlock_bh(&rxe_mcast_lock);
	return 0;
}

static int rxe_mcast_attach(struct rxe_qp *qp, const union ib_gid *mgid)
{
	struct rxe_mcast_group *group = rxe_mcast_find(qp->rxe, mgid);
	int err = 0;

	if (group)
		return rxe_mcast_add_member(group, qp);
	group = rxe_mcast_create(qp->rxe, mgid);
	if (IS_ERR(group))
		return PTR_ERR(group);
	err = rxe_mcast_sync(group);
	if (!err)
		err = rxe_mcast_add_member(group, qp);
	if (err)
		rxe_mcast_destroy(group);
	return err;
}

static int rxe_mcast_detach(struct rxe_qp *qp, const union ib_gid *mgid)
{
	struct rxe_mcast_group *group = rxe_mcast_find(qp->rxe, mgid);
	struct rxe_mcast_member *member;

	member = group ? rxe_mcast_member(group, qp) : NULL;
	if (!member)
		return -EINVAL;
	if (--member->count)
		return 0;
	spin_lock_bh(&rxe_mcast_lock);
	list_del(&member->entry);
	spin_unlock_bh(&rxe_mcast_lock);
	kfree(member);
	group->num_members--;
	group->rxe->num_mcast_attach--;
	if (!group->num_members)
		rxe_mcast_destroy(group);
	return 0;
}

/* The core has checked the address and the type of the QP; RoCE has no LIDs. */
int rxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 mlid)
{
	struct rxe_qp *qp = to_rqp(ibqp);
	int err;

	/* As for receiving unicast datagrams. */
	if (qp->user && !rxe_gid_any_allowed(qp->rxe))
		return -EPERM;
	rtnl_lock();
	err = rxe_mcast_attach(qp, mgid);
	rtnl_unlock();
	return err;
}

int rxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 mlid)
{
	int err;

	rtnl_lock();
	err = rxe_mcast_detach(to_rqp(ibqp), mgid);
	rtnl_unlock();
	return err;
}

void rxe_mcast_dev_init(struct rxe_dev *rxe)
{
	INIT_WORK(&rxe->mcast_work, rxe_mcast_work);
}

void rxe_mcast_dev_fini(struct rxe_dev *rxe)
{
	cancel_work_sync(&rxe->mcast_work);
	WARN_ON_ONCE(rxe->num_mcast_grp);
}
