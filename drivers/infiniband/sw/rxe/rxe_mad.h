/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Management datagrams that the port answers: performance counters. */
#ifndef RXE_MAD_H
#define RXE_MAD_H

#include <rdma/ib_mad.h>

/* ib_device_ops */
int rxe_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		    const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);

#endif /* RXE_MAD_H */
