/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection domains and user contexts: nothing beyond the core's objects. */
#ifndef RXE_PD_H
#define RXE_PD_H

#include <rdma/ib_verbs.h>

struct rxe_pd {
	struct ib_pd	ibpd;
};

struct rxe_ucontext {
	struct ib_ucontext	ibuc;
};

static inline struct rxe_pd *to_rpd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct rxe_pd, ibpd);
}

static inline struct rxe_ucontext *to_ruc(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct rxe_ucontext, ibuc);
}

/* ib_device_ops */
int rxe_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void rxe_dealloc_ucontext(struct ib_ucontext *ibuc);
void rxe_disassociate_ucontext(struct ib_ucontext *ibuc);
int rxe_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int rxe_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* RXE_PD_H */
