// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rxe_device.h"
#include "rxe_pd.h"

int rxe_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibuc->device);

	return rxe_limit_get(&rxe->num_uc, RXE_MAX_UCONTEXT) ? 0 : -ENOMEM;
}

void rxe_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	rxe_limit_put(&to_rdev(ibuc->device)->num_uc);
}

/*
 * Being there, it tells the core that the device may go while processes have
 * it open. Their rings stay mapped: plain memory whose pages the mappings hold.
 */
void rxe_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

int rxe_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibpd->device);

	return rxe_limit_get(&rxe->num_pd, RXE_MAX_PD) ? 0 : -ENOMEM;
}

int rxe_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	rxe_limit_put(&to_rdev(ibpd->device)->num_pd);
	return 0;
}
