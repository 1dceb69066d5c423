/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifdef HAVE_RXE_UABI_FLUSH
#include_next <uapi/rdma/rdma_user_rxe.h>
#else
/* The newest uapi header, unchanged: same sizes and offsets, more members. */
#include <uapi/rdma/rdma_user_rxe_newest.h>
#endif
