// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "rxe_alloc.h"

void *rxe_user_pages(size_t size)
{
	size_t nr = size >> PAGE_SHIFT, n;
	struct page **pages;
	void *mem;

	/* vfree() frees the array too */
	pages = kvmalloc_array(nr, sizeof(*pages), RXE_GFP_USER);
	if (!pages)
		return NULL;

	for (n = 0; n < nr; n++) {
		pages[n] = alloc_page(RXE_GFP_USER | __GFP_ZERO | __GFP_HIGHMEM);
		if (!pages[n])
			goto err_pages;
	}
	mem = vmap(pages, nr, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!mem)
		goto err_pages;
	return mem;

err_pages:
	while (n--)
		__free_page(pages[n]);
	kvfree(pages);
	return NULL;
}

void *rxe_user_array(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);
	void *mem;

	if (bytes <= PAGE_SIZE)
		return kzalloc(bytes, RXE_GFP_USER);

	/* without effort: single pages do as well */
	mem = bytes > KMALLOC_MAX_CACHE_SIZE ? NULL :
	      kzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (mem || bytes > SIZE_MAX - PAGE_SIZE)
		return mem;
	return rxe_user_pages(PAGE_ALIGN(bytes));
}
