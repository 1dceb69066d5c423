// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* From an address vector to a route, cached. */
#include <linux/hash.h>
#include <linux/inetdevice.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/roce.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_ns.h"
#include "rxe_route.h"

static const struct in6_addr *rxe_addr6(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid;
}

static __be32 rxe_addr4(const union ib_gid *gid)
{
	return rxe_addr6(gid)->s6_addr32[3];
}

/* The source GID of new path: there, allowed and with an address behind it. */
static struct rxe_gid_entry *rxe_path_sgid(struct rxe_dev *rxe, unsigned int index, bool user)
{
	struct rxe_gid_entry *gid = rxe_gid_get(rxe, index);

	if (!gid) {
		ibdev_warn_ratelimited(&rxe->ibdev,
				       "no usable GID at index %u: pick one that `ibv_devinfo -v` shows\n",
				       index);
		return ERR_PTR(-EINVAL);
	}
	if (user && !rxe_gid_allowed(gid)) {
		rxe_gid_put(gid);
		return ERR_PTR(-EPERM);
	}
	if (!rxe_gid_usable(gid)) {
		ibdev_warn_ratelimited(&rxe->ibdev,
				       "GID index %u (%pI6c) is no local address: add the address to the netdev, or pick another index\n",
				       index, gid->gid.raw);
		rxe_gid_put(gid);
		return ERR_PTR(-EINVAL);
	}
	return gid;
}

int rxe_path_init(struct rxe_path *path, struct rxe_dev *rxe, const struct rdma_ah_attr *attr,
		  u32 entropy, bool user)
{
	const struct ib_global_route *grh;
	struct rxe_gid_entry *gid;
	u8 hop_limit;
	u32 label;
	bool ipv4;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;
	grh = rdma_ah_read_grh(attr);
	ipv4 = ipv6_addr_v4mapped(rxe_addr6(&grh->dgid));
	if (ipv6_addr_any(rxe_addr6(&grh->dgid)))
		return -EINVAL;

	gid = rxe_path_sgid(rxe, grh->sgid_index, user);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	if (gid->ipv4 != ipv4) {
		rxe_gid_put(gid);
		return -EINVAL;
	}

	/* As sockets have it: nobody means the Internet by default. */
	hop_limit = grh->hop_limit;
	if (!hop_limit && rxe_gid_is_mcast(&grh->dgid))
		hop_limit = 1;
	label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	*path = (struct rxe_path) {
		.sgid		= gid,
		.dgid		= grh->dgid,
		.ipv4		= ipv4,
		.tclass		= grh->traffic_class,
		.hop_limit	= hop_limit,
		.flow_label	= label,
		.sport		= htons(rdma_flow_label_to_udp_sport(label ? :
								     hash_32(entropy, 20))),
	};
	return 0;
}

void rxe_path_copy(struct rxe_path *dst, const struct rxe_path *src)
{
	*dst = *src;
	if (dst->sgid)
		rxe_gid_hold(dst->sgid);
}

void rxe_path_fini(struct rxe_path *path)
{
	struct rxe_gid_entry *gid = path->sgid;

	path->sgid = NULL;
	if (gid)
		rxe_gid_put(gid);
}

/*
 * When a netdev's MAC changes, the core takes all its GIDs away and adds them
 * again: an entry is gone only if the same address has not come back.
 */
static bool rxe_path_gone(const struct rxe_path *path)
{
	const struct rxe_gid_entry *gid = path->sgid;

	return READ_ONCE(gid->dead) &&
	       !rxe_gid_is_local(gid->rxe, gid->ns, &gid->gid, gid->ifindex);
}

static struct dst_entry *rxe_route_lookup4(struct net *net, const struct rxe_path *path)
{
	struct flowi4 fl4 = {
		.flowi4_oif	= path->sgid->ns->l3mdev,
		.flowi4_dscp	= inet_dsfield_to_dscp(path->tclass),
		.flowi4_proto	= IPPROTO_UDP,
		.flowi4_uid	= sock_net_uid(net, NULL),
		.saddr		= rxe_addr4(&path->sgid->gid),
		.daddr		= rxe_addr4(&path->dgid),
		.fl4_sport	= path->sport,
		.fl4_dport	= htons(ROCE_UDP_PORT),
	};
	struct rtable *rt;

	/* Out of the netdev that the source address is on, if several have it. */
	if (ipv4_is_multicast(fl4.daddr))
		fl4.flowi4_oif = path->sgid->ifindex;
	rt = ip_route_output_flow(net, &fl4, NULL);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

static struct dst_entry *rxe_route_lookup6(struct net *net, const struct rxe_path *path)
{
	const struct rxe_gid_entry *gid = path->sgid;
	struct flowi6 fl6 = {
		.flowi6_oif	= gid->ns->l3mdev,
		.flowi6_proto	= IPPROTO_UDP,
		.flowi6_uid	= sock_net_uid(net, NULL),
		.flowlabel	= ip6_make_flowinfo(path->tclass, htonl(path->flow_label)),
		.saddr		= *rxe_addr6(&gid->gid),
		.daddr		= *rxe_addr6(&path->dgid),
		.fl6_sport	= path->sport,
		.fl6_dport	= htons(ROCE_UDP_PORT),
	};

	/* Addresses that mean nothing without a link. */
	if (gid->linklocal || rt6_need_strict(&fl6.daddr))
		fl6.flowi6_oif = gid->ifindex;
	return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
}

static struct dst_entry *rxe_route_lookup(const struct rxe_path *path)
{
	struct rxe_gid_entry *gid = path->sgid;
	struct net *net;

	net = rcu_dereference(gid->ns->net);
	if (!net || rxe_path_gone(path))
		return ERR_PTR(-ENODEV);
	return path->ipv4 ? rxe_route_lookup4(net, path) : rxe_route_lookup6(net, path);
}

void rxe_route_init(struct rxe_route *route)
{
	memset(route, 0, sizeof(*route));
	spin_lock_init(&route->lock);
	INIT_LIST_HEAD(&route->entry);
}

/* Keep a reference on @dst, unless the handle has died meanwhile. */
static void rxe_route_store(struct rxe_route *route, const struct rxe_path *path,
			    struct dst_entry *dst)
{
	struct rxe_ns *ns = path->sgid->ns;
	struct dst_entry *old;
	unsigned long flags;

	if (WARN_ON_ONCE(route->ns && route->ns != ns))
		return;

	spin_lock_irqsave(&ns->lock, flags);
	if (!rcu_access_pointer(ns->net)) {
		spin_unlock_irqrestore(&ns->lock, flags);
		return;
	}
	spin_lock(&route->lock);
	old = route->dst;
	route->dst = dst_clone(dst);
	route->cookie = path->ipv4 ? 0 : rt6_get_cookie(dst_rt6_info(dst));
	if (!route->ns) {
		rxe_ns_get(ns);
		route->ns = ns;
		list_add(&route->entry, &ns->routes);
	}
	spin_unlock(&route->lock);
	spin_unlock_irqrestore(&ns->lock, flags);
	dst_release(old);
}

struct dst_entry *rxe_route_get(struct rxe_route *route, const struct rxe_path *path)
{
	struct dst_entry *dst;
	unsigned long flags;

	if (!route)
		return rxe_route_lookup(path);
	if (rxe_path_gone(path))
		return ERR_PTR(-ENODEV);

	spin_lock_irqsave(&route->lock, flags);
	dst = route->dst;
	if (dst && dst_check(dst, route->cookie)) {
		dst_hold(dst);
		spin_unlock_irqrestore(&route->lock, flags);
		return dst;
	}
	spin_unlock_irqrestore(&route->lock, flags);

	dst = rxe_route_lookup(path);
	if (!IS_ERR(dst))
		rxe_route_store(route, path, dst);
	return dst;
}

/* @ns is written by the route's owner alone, who calls this. */
void rxe_route_reset(struct rxe_route *route)
{
	struct rxe_ns *ns = route->ns;
	struct dst_entry *dst;
	unsigned long flags;

	if (!ns)
		return;
	spin_lock_irqsave(&ns->lock, flags);
	spin_lock(&route->lock);
	dst = route->dst;
	route->dst = NULL;
	route->ns = NULL;
	list_del_init(&route->entry);
	spin_unlock(&route->lock);
	spin_unlock_irqrestore(&ns->lock, flags);
	dst_release(dst);
	rxe_ns_put(ns);
}

/* Their owners keep @ns, and find nothing cached. */
void rxe_route_drop_all(struct rxe_ns *ns)
{
	struct rxe_route *route, *next;
	struct dst_entry *dst;
	unsigned long flags;

	spin_lock_irqsave(&ns->lock, flags);
	list_for_each_entry_safe(route, next, &ns->routes, entry) {
		spin_lock(&route->lock);
		dst = route->dst;
		route->dst = NULL;
		list_del_init(&route->entry);
		spin_unlock(&route->lock);
		dst_release(dst);
	}
	spin_unlock_irqrestore(&ns->lock, flags);
}

int rxe_path_mtu(const struct rxe_path *path)
{
	unsigned int overhead, mtu, ib = ROCE_MAX_MTU;
	struct dst_entry *dst;

	overhead = (path->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
		   sizeof(struct udphdr) + ROCE_MAX_DATA_HDR + ROCE_ICRC_SIZE;

	local_bh_disable();
	rcu_read_lock();
	dst = rxe_route_get(NULL, path);
	if (!IS_ERR(dst)) {
		mtu = dst_mtu(dst);
		dst_release(dst);
	}
	rcu_read_unlock();
	local_bh_enable();
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	while (ib >= 256 && ib + overhead > mtu)
		ib /= 2;
	return ib >= 256 ? ib : -EMSGSIZE;
}
