/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The block iterators had no header of their own. */
#ifdef HAVE_RDMA_ITER_H
#include_next <rdma/iter.h>
#else
#include <rdma/ib_umem.h>
#endif
