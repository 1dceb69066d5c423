// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Handles: one for each network namespace and L3 master, with its sockets.
 *
 * A handle dies once, with its last user or with its namespace, whichever
 * comes first.  Both ways end in rxe_ns_kill(); what still points to a dead
 * handle finds no namespace, no sockets and no routes there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <rdma/roce.h>
#include "rxe_main.h"
#include "rxe_ns.h"
#include "rxe_route.h"
#include "rxe_rx.h"
#include "rxe_tx.h"

/**
 * struct rxe_net - what a namespace has
 * @handles:	live handles (struct rxe_ns.entry), protected by rxe_ns_mutex
 * @dead:	the namespace exits: no new handle; same protection
 */
struct rxe_net {
	struct list_head	handles;
	bool			dead;
};

static unsigned int rxe_net_id __read_mostly;

/*
 * Protects the lists of handles, their users, and the opening and closing of
 * sockets.  Not one for each namespace, because GID entries of links elsewhere
 * close their handle when its namespace is gone already.  Taken inside RTNL
 * and the GID table's lock: nothing under it may take RTNL.
 */
static DEFINE_MUTEX(rxe_ns_mutex);

static struct rxe_rx_sock *rxe_ns_sock(struct rxe_ns *ns, bool ipv6)
{
	return rcu_dereference_protected(ipv6 ? ns->sk6 : ns->sk4,
					 lockdep_is_held(&rxe_ns_mutex));
}

static void rxe_ns_set_reuse(struct rxe_net *rn, bool ipv6, bool reuse)
{
	struct rxe_rx_sock *rs;
	struct rxe_ns *ns;

	list_for_each_entry(ns, &rn->handles, entry) {
		rs = rxe_ns_sock(ns, ipv6);
		if (rs)
			rxe_rx_sock_reuse(rs, reuse);
	}
}

static struct rxe_rx_sock *rxe_ns_bind(struct rxe_net *rn, struct net *net, struct rxe_ns *ns,
				       bool ipv6)
{
	struct rxe_rx_sock *rs;

	rs = rxe_rx_sock_open(net, ns, ipv6, false);
	if (rs != ERR_PTR(-EADDRINUSE) || list_empty(&rn->handles))
		return rs;

	/* Perhaps it is our own socket of another L3 domain. */
	rxe_ns_set_reuse(rn, ipv6, true);
	rs = rxe_rx_sock_open(net, ns, ipv6, true);
	rxe_ns_set_reuse(rn, ipv6, false);
	return rs;
}

static int rxe_ns_open_socks(struct rxe_net *rn, struct net *net, struct rxe_ns *ns)
{
	struct rxe_rx_sock *rs;

	rs = rxe_ns_bind(rn, net, ns, false);
	if (IS_ERR(rs))
		goto err;
	rcu_assign_pointer(ns->sk4, rs);

	if (!ipv6_mod_enabled())
		return 0;
	rs = rxe_ns_bind(rn, net, ns, true);
	if (rs == ERR_PTR(-EAFNOSUPPORT))
		return 0;
	if (IS_ERR(rs))
		goto err_close;
	rcu_assign_pointer(ns->sk6, rs);
	return 0;

err_close:
	rxe_rx_sock_close(rxe_ns_sock(ns, false));
	RCU_INIT_POINTER(ns->sk4, NULL);
err:
	if (rs == ERR_PTR(-EADDRINUSE))
		pr_warn_ratelimited("UDP port %u is taken in network namespace %u (ls -L -i /proc/PID/ns/net): run \"ss -lunp sport = :%u\" there, stop what it shows and add the link again\n",
				    ROCE_UDP_PORT, net->ns.inum, ROCE_UDP_PORT);
	return PTR_ERR(rs);
}

static struct rxe_ns *rxe_ns_create(struct rxe_net *rn, struct net *net, int l3mdev)
{
	struct rxe_ns *ns;
	int err;

	ns = kzalloc_obj(*ns);
	if (!ns)
		return ERR_PTR(-ENOMEM);
	kref_init(&ns->ref);
	ns->users = 1;
	ns->l3mdev = l3mdev;
	spin_lock_init(&ns->lock);
	INIT_LIST_HEAD(&ns->gids);
	INIT_LIST_HEAD(&ns->routes);
	rcu_assign_pointer(ns->net, net);

	err = rxe_ns_open_socks(rn, net, ns);
	if (err) {
		/* Packets may have come in already, and they hold references. */
		rxe_ns_put(ns);
		return ERR_PTR(err);
	}
	list_add_tail(&ns->entry, &rn->handles);
	return ns;
}

struct rxe_ns *rxe_ns_open(struct net *net, int l3mdev)
{
	struct rxe_net *rn = net_generic(net, rxe_net_id);
	struct rxe_ns *ns;

	mutex_lock(&rxe_ns_mutex);
	if (rn->dead) {
		ns = ERR_PTR(-ENODEV);
		goto out;
	}
	list_for_each_entry(ns, &rn->handles, entry) {
		if (ns->l3mdev == l3mdev) {
			ns->users++;
			goto out;
		}
	}
	ns = rxe_ns_create(rn, net, l3mdev);
out:
	mutex_unlock(&rxe_ns_mutex);
	return ns;
}

/*
 * Nothing comes in or goes out when this returns, but for senders inside an
 * RCU read side that have seen the socket.
 */
static void rxe_ns_kill(struct rxe_ns *ns)
{
	struct rxe_rx_sock *rs4 = rxe_ns_sock(ns, false);
	struct rxe_rx_sock *rs6 = rxe_ns_sock(ns, true);

	lockdep_assert_held(&rxe_ns_mutex);
	if (list_empty(&ns->entry))
		return;
	list_del_init(&ns->entry);

	/* The lock: a route is listed either before this, or not at all. */
	spin_lock_irq(&ns->lock);
	RCU_INIT_POINTER(ns->net, NULL);
	spin_unlock_irq(&ns->lock);
	RCU_INIT_POINTER(ns->sk4, NULL);
	RCU_INIT_POINTER(ns->sk6, NULL);
	rxe_route_drop_all(ns);

	if (rs6)
		rxe_rx_sock_close(rs6);
	rxe_rx_sock_close(rs4);
}

void rxe_ns_close(struct rxe_ns *ns)
{
	bool last;

	mutex_lock(&rxe_ns_mutex);
	last = !--ns->users;
	if (last)
		rxe_ns_kill(ns);
	mutex_unlock(&rxe_ns_mutex);

	if (last)
		rxe_ns_put(ns);
}

void rxe_ns_get(struct rxe_ns *ns)
{
	kref_get(&ns->ref);
}

static void rxe_ns_release(struct kref *ref)
{
	struct rxe_ns *ns = container_of(ref, struct rxe_ns, ref);

	kfree_rcu(ns, rcu);
}

void rxe_ns_put(struct rxe_ns *ns)
{
	kref_put(&ns->ref, rxe_ns_release);
}

static int __net_init rxe_net_init(struct net *net)
{
	struct rxe_net *rn = net_generic(net, rxe_net_id);

	INIT_LIST_HEAD(&rn->handles);
	return 0;
}

/*
 * The core waits for a grace period between this and rxe_net_exit(), once for
 * all namespaces that exit together: it ends the senders that have seen @net.
 */
static void __net_exit rxe_net_pre_exit(struct net *net)
{
	struct rxe_net *rn = net_generic(net, rxe_net_id);
	struct rxe_ns *ns, *next;

	mutex_lock(&rxe_ns_mutex);
	rn->dead = true;
	list_for_each_entry_safe(ns, next, &rn->handles, entry)
		rxe_ns_kill(ns);
	mutex_unlock(&rxe_ns_mutex);

	rxe_link_kill_net(net);
}

static void __net_exit rxe_net_exit(struct net *net)
{
	rxe_link_wait_net(net);
}

static struct pernet_operations rxe_net_ops = {
	.init		= rxe_net_init,
	.pre_exit	= rxe_net_pre_exit,
	.exit		= rxe_net_exit,
	.id		= &rxe_net_id,
	.size		= sizeof(struct rxe_net),
};

int __init rxe_ns_init(void)
{
	int err;

	err = rxe_rx_module_init();
	if (err)
		return err;
	err = register_pernet_device(&rxe_net_ops);
	if (err)
		goto err_rx;
	return 0;

err_rx:
	rxe_rx_module_exit();
	return err;
}

void rxe_ns_exit(void)
{
	unregister_pernet_device(&rxe_net_ops);
	/* A data_ready that was entered before its socket closed. */
	synchronize_rcu();
	rxe_tx_module_exit();
	rxe_rx_module_exit();
}
