/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <uapi/rdma/rdma_user_rxe.h>
