/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory whose size a process chooses.
 *
 * It pays for it, and where there is not enough, in its cgroup or at all, its verb
 * fails: no process is ended for it, not later either. vmalloc() frees what it had
 * before it failed in a work item, on newer kernels; until that has run, a cgroup is
 * full, and the next page that its process touches wakes the OOM killer. So pages are
 * allocated here, and mapped in a row when all are there.
 */
#ifndef RXE_ALLOC_H
#define RXE_ALLOC_H

#include <linux/gfp.h>

#define RXE_GFP_USER	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * rxe_user_pages() - zeroed pages that a process may map
 * @size: bytes, a multiple of PAGE_SIZE
 *
 * Context: May sleep.
 * Return: the memory, to be freed by vfree(); NULL if there is not enough
 */
void *rxe_user_pages(size_t size);

/**
 * rxe_user_array() - a zeroed array
 * @n: elements
 * @size: bytes of one
 *
 * Context: May sleep.
 * Return: the memory, to be freed by kvfree(); NULL if there is not enough
 */
void *rxe_user_array(size_t n, size_t size);

#endif /* RXE_ALLOC_H */
