// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module, and its links from `rdma link add` to the end.
 *
 * Whoever wants an end of a link marks it DYING under the lock below. A LIVE
 * link is then unregistered by a work item; one that is still BUILDING is so
 * by newlink itself, which looks at the mark again when the device is
 * registered. ib_unregister_device() is a fence: of several callers one does
 * the work, and all return when it is done.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include "rxe_cq.h"
#include "rxe_device.h"
#include "rxe_exec.h"
#include "rxe_icrc.h"
#include "rxe_main.h"
#include "rxe_netdev.h"
#include "rxe_ns.h"
#include "rxe_qp.h"

#if IS_ENABLED(CONFIG_PREEMPT_RT)
#error "rdma_rxe has not been tested with PREEMPT_RT: its executors rely on BH that are really off"
#endif
#if !IS_ENABLED(CONFIG_64BIT)
#error "rdma_rxe needs a 64-bit kernel: addresses of memory regions are 64 bits wide"
#endif

/* Protects the list and what rxe_main.h says about a link; a leaf, irqsave. */
static DEFINE_SPINLOCK(rxe_links_lock);
static LIST_HEAD(rxe_links);
static u64 rxe_link_serial;

static struct workqueue_struct *rxe_link_wq;

static void rxe_link_release(struct kref *ref)
{
	kfree(container_of(ref, struct rxe_link, ref));
}

static void rxe_link_put(struct rxe_link *link)
{
	kref_put(&link->ref, rxe_link_release);
}

void rxe_link_gone(struct rxe_link *link)
{
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	link->dev = NULL;
	link->state = RXE_LINK_DYING;
	spin_unlock_irqrestore(&rxe_links_lock, flags);

	if (link->ns)
		rxe_ns_close(link->ns);

	/* Only now: who finds no link of a namespace finds its port free. */
	spin_lock_irqsave(&rxe_links_lock, flags);
	list_del(&link->entry);
	spin_unlock_irqrestore(&rxe_links_lock, flags);

	complete_all(&link->gone);
	rxe_link_put(link);
}

/*
 * ib_unregister_device_queued() would do for the work item, if it did not need
 * a registration reference: there is none to be had for the moment in which
 * `rdma dev set netns` takes the device down and up again.
 */
static void rxe_link_unregister(struct rxe_link *link)
{
	struct rxe_dev *rxe;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	rxe = link->dev;
	if (rxe)
		get_device(&rxe->ibdev.dev);
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	if (!rxe)
		return;

	ib_unregister_device(&rxe->ibdev);
	put_device(&rxe->ibdev.dev);
}

static void rxe_link_kill_work(struct work_struct *work)
{
	struct rxe_link *link = container_of(work, struct rxe_link, kill);

	rxe_link_unregister(link);
	rxe_link_put(link);
}

static void rxe_link_kill(struct rxe_link *link)
{
	bool live = link->state == RXE_LINK_LIVE;

	lockdep_assert_held(&rxe_links_lock);
	link->state = RXE_LINK_DYING;
	if (!live)
		return;
	kref_get(&link->ref);
	queue_work(rxe_link_wq, &link->kill);
}

void rxe_link_kill_netdev(const struct net_device *ndev)
{
	struct rxe_link *link;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(link, &rxe_links, entry)
		if (link->ndev == ndev)
			rxe_link_kill(link);
	spin_unlock_irqrestore(&rxe_links_lock, flags);
}

void rxe_link_kill_net(const struct net *net)
{
	struct rxe_link *link;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(link, &rxe_links, entry)
		if (link->net == net)
			rxe_link_kill(link);
	spin_unlock_irqrestore(&rxe_links_lock, flags);
}

static struct rxe_link *rxe_link_get_by_net(const struct net *net)
{
	struct rxe_link *link, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(link, &rxe_links, entry) {
		if (link->net != net)
			continue;
		kref_get(&link->ref);
		found = link;
		break;
	}
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	return found;
}

void rxe_link_wait_net(const struct net *net)
{
	struct rxe_link *link;

	might_sleep();
	while ((link = rxe_link_get_by_net(net))) {
		wait_for_completion(&link->gone);
		rxe_link_put(link);
	}
}

struct rxe_dev *rxe_link_next_dev(const struct net_device *ndev, u64 *serial)
{
	struct rxe_dev *rxe = NULL;
	struct rxe_link *link;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(link, &rxe_links, entry) {
		if (link->serial <= *serial || link->state != RXE_LINK_LIVE ||
		    (ndev && link->ndev != ndev))
			continue;
		if (!ib_device_try_get(&link->dev->ibdev))
			continue;
		*serial = link->serial;
		rxe = link->dev;
		break;
	}
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	return rxe;
}

void rxe_link_visit(const struct net_device *ndev, void (*fn)(struct rxe_dev *rxe))
{
	struct rxe_dev *rxe;
	u64 serial = 0;

	while ((rxe = rxe_link_next_dev(ndev, &serial))) {
		fn(rxe);
		ib_device_put(&rxe->ibdev);
	}
}

/* @ns: to be closed: what the LIVE link on @ndev had, or the new one if there is none. */
static struct rxe_ns *rxe_link_swap_ns(const struct net_device *ndev, struct rxe_ns *ns)
{
	struct rxe_link *link;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(link, &rxe_links, entry) {
		if (link->ndev == ndev && link->state == RXE_LINK_LIVE) {
			swap(link->ns, ns);
			break;
		}
	}
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	return ns;
}

void rxe_link_l3mdev_update(struct net_device *ndev)
{
	struct rxe_dev *rxe;
	struct rxe_ns *ns;
	u64 serial = 0;

	ASSERT_RTNL();
	rxe = rxe_link_next_dev(ndev, &serial);
	if (!rxe)
		return;
	ns = rxe_ns_open(dev_net(ndev), l3mdev_master_ifindex(ndev));
	if (!IS_ERR(ns))
		rxe_ns_close(rxe_link_swap_ns(ndev, ns));
	ib_device_put(&rxe->ibdev);
}

static struct rxe_link *rxe_link_alloc(struct net_device *ndev)
{
	struct rxe_link *link = kzalloc_obj(*link);

	if (!link)
		return NULL;
	kref_init(&link->ref);
	INIT_LIST_HEAD(&link->entry);
	INIT_WORK(&link->kill, rxe_link_kill_work);
	init_completion(&link->gone);
	link->state = RXE_LINK_BUILDING;
	link->ndev = ndev;
	return link;
}

/* Can there be a link on this netdev? */
static int rxe_link_check_netdev(struct net_device *ndev)
{
	ASSERT_RTNL();

	if (ndev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (ndev->mtu < RXE_NETDEV_MIN_MTU) {
		netdev_warn(ndev, "no RDMA link with an MTU of %u: it has to be %zu at least\n",
			    ndev->mtu, RXE_NETDEV_MIN_MTU);
		return -EINVAL;
	}

	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:	/* tun, WireGuard, ipvlan in mode l3 ... */
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return 0;
	default:
		netdev_warn(ndev, "no RDMA link on this type of netdev (%u): take one that carries Ethernet or IP packets\n",
			    ndev->type);
		return -EOPNOTSUPP;
	}
}

static bool rxe_link_guid_used(__be64 guid)
{
	struct rxe_link *link;

	lockdep_assert_held(&rxe_links_lock);
	list_for_each_entry(link, &rxe_links, entry)
		if (link->guid == guid)
			return true;
	return false;
}

/*
 * The EUI-64 of the MAC. VLANs share their parent's MAC and some netdevs have
 * none; librdmacm tells devices apart by GUID, so these get a random one.
 */
static __be64 rxe_link_choose_guid(const struct net_device *ndev)
{
	__be64 guid = 0;

	lockdep_assert_held(&rxe_links_lock);
	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		addrconf_addr_eui48((u8 *)&guid, (const char *)ndev->dev_addr);
	while (!guid || rxe_link_guid_used(guid))
		get_random_bytes(&guid, sizeof(guid));
	return guid;
}

/*
 * List a new link, unless its netdev has one. One that is dying is returned
 * with a reference in @dying, to be waited for.
 */
static int rxe_link_list_once(struct rxe_link *link, struct rxe_link **dying)
{
	struct rxe_link *other;
	unsigned long flags;
	int err = 0;

	*dying = NULL;
	spin_lock_irqsave(&rxe_links_lock, flags);
	list_for_each_entry(other, &rxe_links, entry) {
		if (other->ndev != link->ndev)
			continue;
		err = -EEXIST;
		if (other->state == RXE_LINK_DYING) {
			kref_get(&other->ref);
			*dying = other;
		}
		goto out;
	}
	link->serial = ++rxe_link_serial;
	link->guid = rxe_link_choose_guid(link->ndev);
	kref_get(&link->ref);
	list_add_tail(&link->entry, &rxe_links);
out:
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	return err;
}

/*
 * From here on the netdev notifier finds the link. The namespace is taken
 * under RTNL: the netdev may have moved since the core looked it up.
 *
 * Return: the namespace, held, so that it cannot exit before newlink is
 * through; ERR_PTR().
 */
static struct net *rxe_link_list(struct rxe_link *link, int *l3mdev)
{
	struct rxe_link *dying;
	struct net *net;
	int err;

	for (;;) {
		rtnl_lock();
		err = rxe_link_check_netdev(link->ndev);
		net = err ? NULL : maybe_get_net(dev_net(link->ndev));
		if (!net) {
			rtnl_unlock();
			return ERR_PTR(err ?: -ENODEV);
		}
		link->net = net;
		*l3mdev = l3mdev_master_ifindex(link->ndev);
		err = rxe_link_list_once(link, &dying);
		rtnl_unlock();
		if (!err)
			return net;
		put_net(net);
		if (!dying)
			return ERR_PTR(err);

		/* A netdev that was moved here takes its old link along for a while. */
		err = wait_for_completion_killable(&dying->gone);
		rxe_link_put(dying);
		if (err)
			return ERR_PTR(err);
	}
}

/* The device is registered, and perhaps already gone again. */
static int rxe_link_go_live(struct rxe_link *link)
{
	unsigned long flags;
	bool live;

	spin_lock_irqsave(&rxe_links_lock, flags);
	live = link->state == RXE_LINK_BUILDING;
	if (live)
		link->state = RXE_LINK_LIVE;
	spin_unlock_irqrestore(&rxe_links_lock, flags);

	if (!live) {
		rxe_link_unregister(link);
		return -ENODEV;
	}
	/* The notifier has passed over a link that was BUILDING. */
	rtnl_lock();
	rxe_netdev_l3mdev_update(link->ndev);
	rtnl_unlock();
	rxe_link_visit(link->ndev, rxe_netdev_port_update);
	return 0;
}

/* The core holds a reference on @ndev, the type's rwsem, and no RTNL. */
static int rxe_newlink(const char *name, struct net_device *ndev)
{
	struct rxe_link *link;
	struct net *net;
	int l3mdev, err;

	link = rxe_link_alloc(ndev);
	if (!link)
		return -ENOMEM;

	net = rxe_link_list(link, &l3mdev);
	if (IS_ERR(net)) {
		err = PTR_ERR(net);
		goto put_link;
	}

	link->ns = rxe_ns_open(net, l3mdev);
	if (IS_ERR(link->ns)) {
		err = PTR_ERR(link->ns);
		link->ns = NULL;
		goto gone;
	}

	err = rxe_device_create(link, net, name, ndev);
	if (err)
		goto gone;

	err = rxe_link_go_live(link);
	goto put_net;
gone:
	rxe_link_gone(link);
put_net:
	put_net(net);
put_link:
	rxe_link_put(link);
	return err;
}

/* The core holds a registration reference, and unregisters the device next. */
static int rxe_dellink(struct ib_device *ibdev)
{
	struct rxe_link *link = to_rdev(ibdev)->link;
	unsigned long flags;

	spin_lock_irqsave(&rxe_links_lock, flags);
	link->state = RXE_LINK_DYING;
	spin_unlock_irqrestore(&rxe_links_lock, flags);
	return 0;
}

struct rdma_link_ops rxe_link_ops = {
	.type = "rxe",
	.newlink = rxe_newlink,
	.dellink = rxe_dellink,
};

static int __init rxe_init(void)
{
	int err;

	rxe_icrc_module_init();
	rxe_link_wq = alloc_workqueue("rxe_unreg", WQ_UNBOUND, 0);
	if (!rxe_link_wq)
		return -ENOMEM;
	err = rxe_cq_module_init();
	if (err)
		goto link_wq;
	err = rxe_exec_module_init();
	if (err)
		goto cq;
	err = rxe_qp_module_init();
	if (err)
		goto exec;
	err = rxe_ns_init();
	if (err)
		goto qp;
	err = rxe_netdev_init();
	if (err)
		goto ns;
	rdma_link_register(&rxe_link_ops);
	return 0;
ns:
	rxe_ns_exit();
qp:
	rxe_qp_module_exit();
exec:
	rxe_exec_module_exit();
cq:
	rxe_cq_module_exit();
link_wq:
	destroy_workqueue(rxe_link_wq);
	rcu_barrier();
	return err;
}

static void __exit rxe_exit(void)
{
	/* No newlink runs when this returns ... */
	rdma_link_unregister(&rxe_link_ops);
	/* ... and no verb, no dealloc_driver after this. */
	ib_unregister_driver(RDMA_DRIVER_RXE);
	rxe_netdev_exit();
	rxe_ns_exit();
	rxe_qp_module_exit();
	rxe_exec_module_exit();
	rxe_cq_module_exit();
	destroy_workqueue(rxe_link_wq);
	/* Callbacks of call_rcu() are text of this module. */
	rcu_barrier();
}

module_init(rxe_init);
module_exit(rxe_exit);

MODULE_AUTHOR("The rdma_rxe authors");
MODULE_DESCRIPTION("Soft RoCEv2: RDMA over any netdev, in every network namespace");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(RXE_VERSION);
MODULE_ALIAS_RDMA_LINK("rxe");
