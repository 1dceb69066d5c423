// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FLUSH (IBTA Annex A19): memory written by a peer becomes visible, or persistent.
 *
 * The payload of what came before has been copied by this CPU or, behind a
 * change of the executor's owner, by one that it has synchronised with: to be
 * visible everywhere it only has to be ordered.  To be persistent it has to
 * leave the caches, for which the memory must be persistent; registration
 * refuses other memory.
 */
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>

#include "rxe_access.h"
#include "rxe_copy.h"
#include "rxe_flush.h"
#include "rxe_mr.h"
#include "rxe_qp.h"

/* Context: any. Blocks are not contiguous: page by page. */
static void flush_persistent(const struct rxe_mr *mr, u64 va, u64 len)
{
	while (len) {
		void *p = rxe_mr_ptr(mr, va, true);
		u64 n = min_t(u64, len, PAGE_SIZE - offset_in_page(p));

		arch_wb_cache_pmem(p, n);
		va += n;
		len -= n;
	}
}

int rxe_flush_mem(struct rxe_qp *qp, const struct rxe_pkt *pkt, bool check)
{
	int access = rxe_flush_access(pkt), err;
	u64 va = pkt->va, len = pkt->length;
	struct rxe_mem mem;

	if (pkt->sel == IB_FLUSH_MR) {
		err = rxe_mem_get_whole(qp, pkt->rkey, access, &mem);
		va = mem.start;
		len = mem.size;
	} else {
		err = rxe_mem_get(qp, pkt->rkey, access, va, len, &mem);
	}
	if (err)
		return err;

	if (!check) {
		if (pkt->plt & IB_FLUSH_PERSISTENT)
			flush_persistent(mem.mr, va + mem.delta, len);
		mb();	/* all that was written before, for all who look */
	}
	rxe_mem_put(&mem);
	return 0;
}

/* The legacy kind, of firmware without an NFIT or of memmap=, is as good. */
static bool is_persistent(phys_addr_t start, size_t len)
{
	return region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY) == REGION_INTERSECTS ||
	       region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY_LEGACY) == REGION_INTERSECTS;
}

int rxe_flush_check_mr(const struct rxe_mr *mr)
{
	u64 off, n;

	if (!IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API))
		return -EINVAL;
	for (off = 0; off < mr->length; off += n) {
		void *p = rxe_mr_ptr(mr, mr->iova + off, true);

		n = min_t(u64, mr->length - off, PAGE_SIZE - offset_in_page(p));
		if (!is_persistent(virt_to_phys(p), n))
			return -EINVAL;
	}
	return 0;
}
