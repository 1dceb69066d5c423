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
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_main.h"
#include "rxe_mcast.h"
#include "rxe_netdev.h"
#include "rxe_stats.h"

enum ib_mtu rxe_netdev_mtu(const struct net_device *ndev)
{
	unsigned int mtu = READ_ONCE(ndev->mtu);
	int ib_mtu;

	for (ib_mtu = IB_MTU_4096; ib_mtu > IB_MTU_256; ib_mtu--)
		if (mtu >= ib_mtu_enum_to_int(ib_mtu) + RXE_NETDEV_OVERHEAD)
			break;
	return ib_mtu;
}

/*
 * The core gives a device the addresses of VLANs on its netdev, but those of its netdev
 * not if that is a VLAN itself: so it is told of the netdev below.
 */
struct net_device *rxe_netdev_for_core(struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
}

bool rxe_netdev_has_addrs_of(struct net_device *ndev, struct net_device *other)
{
	return !is_vlan_dev(ndev) || other == ndev || netdev_has_upper_dev_all_rcu(ndev, other);
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

/* A netdev may have GIDs of any link. */
void rxe_netdev_l3mdev_update(struct net_device *ndev)
{
	u64 serial = 0;
	struct rxe_dev *rxe;

	rxe_link_l3mdev_update(ndev);
	while ((rxe = rxe_link_next_dev(NULL, &serial))) {
		rxe_gid_l3mdev_update(rxe, ndev);
		ib_device_put(&rxe->ibdev);
	}
}

static int rxe_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct netdev_notifier_changeupper_info *upper = ptr;
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_UNREGISTER:		/* also: moved to another namespace */
		rxe_mcast_netdev_changed(ndev, true);
		rxe_link_kill_netdev(ndev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		rxe_link_visit(ndev, rxe_netdev_port_update);
		break;
	case NETDEV_CHANGEUPPER:
		if (netif_is_l3_master(upper->upper_dev))
			rxe_netdev_l3mdev_update(ndev);
		break;
	case NETDEV_CHANGEMTU:
		rxe_mcast_netdev_changed(ndev, false);
		rxe_link_visit(ndev, rxe_netdev_mtu_changed);
		break;
	default:
		return NOTIFY_DONE;
	}
	return NOTIFY_OK;
}

/*
 * The core looks at addresses of netdevs that are not Ethernet once, when the
 * device is registered. An address that is removed stays in the table, but
 * cannot be used (rxe_gid_usable()).
 */
static void rxe_netdev_rescan_work(struct work_struct *work)
{
	struct rxe_dev *rxe = container_of(work, struct rxe_dev, rescan_work);

	if (!ib_device_try_get(&rxe->ibdev))
		return;
	rdma_roce_rescan_device(&rxe->ibdev);
	ib_device_put(&rxe->ibdev);
}

static void rxe_netdev_rescan(struct rxe_dev *rxe)
{
	queue_work(system_dfl_wq, &rxe->rescan_work);
}

void rxe_netdev_dev_init(struct rxe_dev *rxe)
{
	INIT_WORK(&rxe->rescan_work, rxe_netdev_rescan_work);
}

void rxe_netdev_dev_fini(struct rxe_dev *rxe)
{
	cancel_work_sync(&rxe->rescan_work);
}

/* inet6addr events come from softirqs, too. */
static int rxe_addr_event(const struct net_device *ndev, unsigned long event)
{
	if (event == NETDEV_UP && ndev->type != ARPHRD_ETHER)
		rxe_link_visit(ndev, rxe_netdev_rescan);
	rxe_link_visit(NULL, rxe_netdev_port_update);
	return NOTIFY_OK;
}

static int rxe_inetaddr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	return rxe_addr_event(ifa->ifa_dev->dev, event);
}

static int rxe_inet6addr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	return rxe_addr_event(ifa->idev->dev, event);
}

static struct notifier_block rxe_netdev_nb = { .notifier_call = rxe_netdev_event };
static struct notifier_block rxe_inetaddr_nb = { .notifier_call = rxe_inetaddr_event };
static struct notifier_block rxe_inet6addr_nb = { .notifier_call = rxe_inet6addr_event };

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
