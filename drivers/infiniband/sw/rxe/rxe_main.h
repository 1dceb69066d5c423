/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Links: what `rdma link add` makes, from before its ib_device to after it. */
#ifndef RXE_MAIN_H
#define RXE_MAIN_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>

struct net;
struct rdma_link_ops;
struct rxe_dev;
struct rxe_ns;

enum rxe_link_state {
	RXE_LINK_BUILDING,	/* newlink works on it */
	RXE_LINK_LIVE,		/* its ib_device is registered */
	RXE_LINK_DYING,		/* marked: unregistration is queued or under way */
};

/**
 * struct rxe_link - one link
 * @ref:	the list and the device together, newlink, each waiter, a queued @kill
 * @entry:	in the module's list of links, protected by its spinlock (a
 *		leaf: never held across an ib_* call, a socket release or a wait)
 * @serial:	never used twice, grows along the list
 * @state:	protected by the same lock
 * @ndev:	netdev, for comparison; the reference is the device's
 * @net:	namespace at link add, for comparison
 * @guid:	node GUID, unique among links; protected by the same lock
 * @ns:		its sockets, as a user; given back when the device is gone.
 *		Changed under the lock while LIVE
 * @dev:	device, set just before it is registered; NULL once it is gone.
 *		The lock keeps it from being freed, except while BUILDING
 * @kill:	unregisters the device
 * @gone:	completed when the device is gone and the sockets are given back
 */
struct rxe_link {
	struct kref		ref;
	struct list_head	entry;
	u64			serial;
	enum rxe_link_state	state;
	struct net_device	*ndev;
	const struct net	*net;
	__be64			guid;
	struct rxe_ns		*ns;
	struct rxe_dev		*dev;
	struct work_struct	kill;
	struct completion	gone;
};

extern struct rdma_link_ops rxe_link_ops;

/**
 * rxe_link_gone - the ib_device of a link has been freed (dealloc_driver)
 *
 * Gives the sockets back, takes the link off the list, wakes who waits for
 * that, and drops the reference of list and device.
 *
 * Context: process, may sleep.
 */
void rxe_link_gone(struct rxe_link *link);

/**
 * rxe_link_kill_netdev - begin to unregister the links of a netdev
 *
 * Marks them, queues the unregistration, does not wait.
 *
 * Context: any; RTNL is normally held.
 */
void rxe_link_kill_netdev(const struct net_device *ndev);

/* The same for all links of a namespace. */
void rxe_link_kill_net(const struct net *net);

/**
 * rxe_link_wait_net - wait until no link of a namespace is left
 *
 * Context: process, no RTNL, no lock at all.
 */
void rxe_link_wait_net(const struct net *net);

/**
 * rxe_link_live - is the device registered, with nobody taking it away yet?
 *
 * Context: any.
 */
static inline bool rxe_link_live(const struct rxe_link *link)
{
	return READ_ONCE(link->state) == RXE_LINK_LIVE;
}

/**
 * rxe_link_next_dev - devices of LIVE links, one after the other
 * @ndev:	on this netdev; NULL for all links
 * @serial:	0 for the first one; then left alone
 *
 * Context: any.
 * Return: device with a registration reference (ib_device_put()), NULL: no more.
 */
struct rxe_dev *rxe_link_next_dev(const struct net_device *ndev, u64 *serial);

/**
 * rxe_link_l3mdev_update - a netdev may have come to a VRF, or left it
 *
 * The link on it goes to the sockets of that one.
 *
 * Context: RTNL, may sleep.
 */
void rxe_link_l3mdev_update(struct net_device *ndev);

/**
 * rxe_link_visit - call @fn for the device of each LIVE link on @ndev
 * @ndev:	netdev; NULL for all links
 * @fn:		function
 *
 * Context: any; @fn runs with a reference on the ib_device.
 */
void rxe_link_visit(const struct net_device *ndev, void (*fn)(struct rxe_dev *rxe));

#endif /* RXE_MAIN_H */
