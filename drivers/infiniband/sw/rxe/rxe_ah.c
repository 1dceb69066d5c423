// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/random.h>
#include <rdma/rdma_user_rxe.h>
#include "rxe_ah.h"
#include "rxe_device.h"
#include "rxe_pd.h"

/* Numbers are used in turn, so that a stale one seldom hits a new AH. */
#define RXE_AH_NUM_LIMIT	XA_LIMIT(1, 0xffffff)

/* Without RDMA_CREATE_AH_SLEEPABLE the caller may be anywhere, IRQs off included. */
static int rxe_ah_insert(struct rxe_dev *rxe, struct rxe_ah *ah, bool sleepable)
{
	unsigned long flags;
	int err;

	if (sleepable) {
		err = xa_alloc_cyclic_irq(&rxe->ahs, &ah->ah_num, ah, RXE_AH_NUM_LIMIT,
					  &rxe->ah_next, GFP_KERNEL);
	} else {
		xa_lock_irqsave(&rxe->ahs, flags);
		err = __xa_alloc_cyclic(&rxe->ahs, &ah->ah_num, ah, RXE_AH_NUM_LIMIT,
					&rxe->ah_next, GFP_ATOMIC);
		xa_unlock_irqrestore(&rxe->ahs, flags);
	}
	return err < 0 ? err : 0;
}

static void rxe_ah_erase(struct rxe_dev *rxe, struct rxe_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&rxe->ahs, flags);
	__xa_erase(&rxe->ahs, ah->ah_num);
	xa_unlock_irqrestore(&rxe->ahs, flags);
}

/* For query_ah; the core's GID entry is referenced by the core alone. */
static void rxe_ah_set_attr(struct rxe_ah *ah, const struct rdma_ah_attr *attr)
{
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL;
}

int rxe_ah_path(struct rxe_pd *pd, u32 ah_num, struct rxe_path *path)
{
	struct rxe_dev *rxe = to_rdev(pd->ibpd.device);
	unsigned long flags;
	struct rxe_ah *ah;
	int err = -EINVAL;

	xa_lock_irqsave(&rxe->ahs, flags);
	ah = xa_load(&rxe->ahs, ah_num);
	if (ah && ah->ibah.pd == &pd->ibpd) {
		rxe_path_copy(path, &ah->path);
		err = 0;
	}
	xa_unlock_irqrestore(&rxe->ahs, flags);
	return err;
}

/* A provider without room for the number puts the whole AV into each WQE. */
static int rxe_ah_respond(struct rxe_ah *ah, struct ib_udata *udata)
{
	struct rxe_create_ah_resp resp = { .ah_num = ah->ah_num };

	if (udata->outlen < sizeof(resp))
		return 0;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibah->device);
	struct rxe_ah *ah = to_rah(ibah);
	int err;

	if (!rxe_limit_get(&rxe->num_ah, RXE_MAX_AH))
		return -ENOMEM;

	err = rxe_path_init(&ah->path, rxe, init->ah_attr, get_random_u32(), udata);
	if (err)
		goto limit;
	rxe_ah_set_attr(ah, init->ah_attr);

	err = rxe_ah_insert(rxe, ah, init->flags & RDMA_CREATE_AH_SLEEPABLE);
	if (err)
		goto path;

	err = udata ? rxe_ah_respond(ah, udata) : 0;
	if (err)
		goto erase;
	return 0;
erase:
	rxe_ah_erase(rxe, ah);
path:
	rxe_path_fini(&ah->path);
limit:
	rxe_limit_put(&rxe->num_ah);
	return err;
}

int rxe_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct rxe_dev *rxe = to_rdev(ibah->device);
	struct rxe_ah *ah = to_rah(ibah);
	struct rxe_path path = {}, old;
	unsigned long flags;
	int err;

	err = rxe_path_init(&path, rxe, attr, get_random_u32(), ibah->uobject);
	if (err)
		return err;

	xa_lock_irqsave(&rxe->ahs, flags);
	old = ah->path;
	ah->path = path;
	rxe_ah_set_attr(ah, attr);
	xa_unlock_irqrestore(&rxe->ahs, flags);

	rxe_path_fini(&old);
	return 0;
}

int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct rxe_dev *rxe = to_rdev(ibah->device);
	unsigned long flags;

	xa_lock_irqsave(&rxe->ahs, flags);
	*attr = to_rah(ibah)->attr;
	xa_unlock_irqrestore(&rxe->ahs, flags);
	return 0;
}

/* Context: any. The core frees the AH next: who looked it up holds the lock or has a copy. */
int rxe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct rxe_dev *rxe = to_rdev(ibah->device);
	struct rxe_ah *ah = to_rah(ibah);

	rxe_ah_erase(rxe, ah);
	rxe_path_fini(&ah->path);
	rxe_limit_put(&rxe->num_ah);
	return 0;
}
