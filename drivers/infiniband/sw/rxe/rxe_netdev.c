// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What happens to a link's netdev and to addresses.
 *
 * Up, down and carrier of the netdev come from the notifier below; newer cores
 * tell of them too (.report_port_event), but not for bonds: who comes second
 * finds nothing new. Addresses are those of the netdev, of bridges, bonds
 * and VLANs above it and of macvlans in other namespaces: each event asks all
 * ports, which is cheap since one usable GID settles it.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <rdma/roce.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_main.h"
#include "rxe_netdev.h"
#include "rxe_stats.h"

/* The largest headers that a packet with a full payload has: a WRITE with immediate over IPv6. */
#define RXE_OVERHEAD	(sizeof(struct ipv6hdr) + sizeof(struct udphdr) +		\
			 ROCE_MAX_DATA_HDR + ROCE_ICRC_SIZE)

enum ib_mtu rxe_netdev_mtu(const struct net_device *ndev)
{
	unsigned int mtu = READ_ONCE(ndev->mtu);
	int ib_mtu;

	for (ib_mtu = IB_MTU_4096; ib_mtu > IB_MTU_256; ib_mtu--)
		if (mtu >= ib_mtu_enum_to_int(ib_mtu) + RXE_OVERHEAD)
			break;
	return ib_mtu;
}

enum ib_port_state rxe_netdev_port_state(struct rxe_dev *rxe)
{
	if (ib_get_curr_port_state(rxe->ndev) == IB_PORT_ACTIVE && rxe_gid_any_usable(rxe))
		return IB_PORT_ACTIVE;
	return IB_PORT_DOWN;
}

void rxe_netdev_port_update(struct rxe_dev *rxe)
{
	unsigned long flags;
	bool active;

	if (!rxe_link_live(rxe->link))
		return;

	/* look and tell in one step, so that the last event tells the last state */
	spin_lock_irqsave(&rxe->port_lock, flags);
	active = rxe_netdev_port_state(rxe) == IB_PORT_ACTIVE;
	if (active != rxe->port_active) {
		rxe->port_active = active;
		if (!active)
			rxe_count(rxe, RXE_CNT_LINK_DOWNED);
		rxe_device_event(rxe, active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	}
	spin_unlock_irqrestore(&rxe->port_lock, flags);
}

static void rxe_netdev_mtu_changed(struct rxe_dev *rxe)
{
	enum ib_mtu mtu = rxe_netdev_mtu(rxe->ndev);

	ASSERT_RTNL();
	if (mtu < rxe->active_mtu)
		ibdev_warn(&rxe->ibdev, "MTU %u of %s carries %d bytes per packet: connections made with more will fail, make them again\n",
			   rxe->ndev->mtu, netdev_name(rxe->ndev), ib_mtu_enum_to_int(mtu));
	else if (mtu > rxe->active_mtu)
		ibdev_info(&rxe->ibdev, "MTU %u of %s carries %d bytes per packet: new connections can use them\n",
			   rxe->ndev->mtu, netdev_name(rxe->ndev), ib_mtu_enum_to_int(mtu));
	rxe->active_mtu = mtu;
}

static int rxe_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_UNREGISTER:		/* also: moved to another namespace */
		rxe_link_kill_netdev(ndev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		rxe_link_visit(ndev, rxe_netdev_port_update);
		break;
	case NETDEV_CHANGEMTU:
		rxe_link_visit(ndev, rxe_netdev_mtu_changed);
		break;
	default:
		return NOTIFY_DONE;
	}
	return NOTIFY_OK;
}

/* inet6addr events come from softirqs, too. */
static int rxe_addr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	rxe_link_visit(NULL, rxe_netdev_port_update);
	return NOTIFY_OK;
}

static struct notifier_block rxe_netdev_nb = { .notifier_call = rxe_netdev_event };
static struct notifier_block rxe_inetaddr_nb = { .notifier_call = rxe_addr_event };
static struct notifier_block rxe_inet6addr_nb = { .notifier_call = rxe_addr_event };

int __init rxe_netdev_init(void)
{
	int err;

	err = register_netdevice_notifier(&rxe_netdev_nb);
	if (err)
		return err;
	err = register_inetaddr_notifier(&rxe_inetaddr_nb);
	if (err)
		goto netdev;
	err = register_inet6addr_notifier(&rxe_inet6addr_nb);
	if (err)
		goto inetaddr;
	return 0;
inetaddr:
	unregister_inetaddr_notifier(&rxe_inetaddr_nb);
netdev:
	unregister_netdevice_notifier(&rxe_netdev_nb);
	return err;
}

void rxe_netdev_exit(void)
{
	unregister_inet6addr_notifier(&rxe_inet6addr_nb);
	unregister_inetaddr_notifier(&rxe_inetaddr_nb);
	unregister_netdevice_notifier(&rxe_netdev_nb);
}
