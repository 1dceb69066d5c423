// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/kmemleak.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "rxe_alloc.h"

void *rxe_user_pages(size_t size)
{
	size_t nr = size >> PAGE_SHIFT, n;
	struct page **pages;
	void *mem;

	/* not at the cost of all others, to fail in the end */
	if (nr > totalram_pages())
		return NULL;

	/* vfree() frees the array too */
	pages = kvmalloc_array(nr, sizeof(*pages), RXE_GFP_USER);
	if (!pages)
		return NULL;

	for (n = 0; n < nr; n++) {
		if (fatal_signal_pending(current))
			goto err_pages;
		cond_resched();
		pages[n] = alloc_page(RXE_GFP_USER | __GFP_ZERO | __GFP_HIGHMEM);
		if (!pages[n])
			goto err_pages;
	}
	mem = vmap(pages, nr, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!mem)
		goto err_pages;
	/* as vmalloc() has it: the wr_ids of a kernel user may be its only pointers */
	kmemleak_alloc(mem, size, 2, GFP_KERNEL);
	return mem;

err_pages:
	while (n--) {
		__free_page(pages[n]);
		cond_resched();
	}
	kvfree(pages);
	return NULL;
}

void *rxe_user_array(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);
	void *mem;

	if (bytes <= PAGE_SIZE)
		return kzalloc(bytes, RXE_GFP_USER);
	if (bytes > INT_MAX)	/* as kvmalloc() has it */
		return NULL;

	/* without effort: single pages do as well */
	mem = bytes > KMALLOC_MAX_CACHE_SIZE ? NULL :
	      kzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	return mem ?: rxe_user_pages(PAGE_ALIGN(bytes));
}
