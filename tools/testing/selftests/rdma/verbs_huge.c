// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs" with memory in huge pages of 2 MiB. */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE	(2UL << 20)
#define MEMORY		(4 * HUGE_PAGE)
/* one of the four is in small pages, so that an MR can have both kinds */
#define SMALL		(2 * HUGE_PAGE)
#define FENCE		64

#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB	(21 << 26)
#endif

#define EXIT_SKIP	4

#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static void skip(const char *why)
{
	printf("%s\n", why);
	exit(EXIT_SKIP);
}

/* How much of the memory at @at is in transparent huge pages. */
static size_t thp_bytes(const uint8_t *at, size_t len)
{
	unsigned long start, end, kb;
	bool inside = false;
	size_t sum = 0;
	char line[512];
	FILE *smaps = fopen("/proc/self/smaps", "r");

	need(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start < (uintptr_t)at + len && end > (uintptr_t)at;
		else if (inside && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			sum += kb << 10;
	}
	fclose(smaps);
	return sum;
}

static uint8_t *huge_alloc(bool thp)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, huge = flags | MAP_FIXED | MAP_HUGETLB | MAP_HUGE_2MB;
	uint8_t *reserved, *mem;

	reserved = mmap(NULL, MEMORY + HUGE_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	need(reserved != MAP_FAILED);
	mem = (void *)(((uintptr_t)reserved + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

	if (thp) {
		if (madvise(mem, MEMORY, MADV_HUGEPAGE))
			skip("no transparent huge pages");
		need(!madvise(mem + SMALL, HUGE_PAGE, MADV_NOHUGEPAGE));
	} else {
		if (mmap(mem, SMALL, PROT_READ | PROT_WRITE, huge, -1, 0) == MAP_FAILED ||
		    mmap(mem + SMALL + HUGE_PAGE, HUGE_PAGE, PROT_READ | PROT_WRITE, huge,
			 -1, 0) == MAP_FAILED)
			skip("no huge pages of 2 MiB to be had");
	}
	memset(mem, GUARD, MEMORY);
	if (thp && thp_bytes(mem, MEMORY) < MEMORY - HUGE_PAGE)
		skip("the kernel had no transparent huge pages to give");
	return mem;
}

static bool guarded(const uint8_t *mem, size_t from, size_t to)
{
	for (; from < to; from++)
		if (mem[from] != GUARD)
			return false;
	return true;
}

/* The bytes around a region are not touched. */
static void check_fences(const uint8_t *mem, size_t start, size_t len)
{
	size_t end = start + len;

	need(guarded(mem, start < FENCE ? 0 : start - FENCE, start));
	need(guarded(mem, end, end + FENCE > MEMORY ? MEMORY : end + FENCE));
}

struct region {
	uint8_t		*mem;
	size_t		start;
	uint64_t	iova;
	struct ibv_mr	*mr;
};

static struct region region(struct end *e, uint8_t *mem, size_t start, size_t len, bool own_iova)
{
	struct region r = { .mem = mem, .start = start, .iova = (uintptr_t)mem + start };

	/* the same place in a small page (the RDMA core wants that), another in a huge one */
	if (own_iova)
		r.iova = 0x123456789a7000ULL + r.iova % 4096;
	r.mr = own_iova ? ibv_reg_mr_iova(e->pd, mem + start, len, r.iova, ACCESS) :
			  ibv_reg_mr(e->pd, mem + start, len, ACCESS);
	if (!r.mr)
		die("no MR of %zu bytes at %zu: %s", len, start, strerror(errno));
	return r;
}

static void move(struct end *a, enum ibv_wr_opcode op, const struct region *local,
		 const struct region *remote, size_t offset, size_t len)
{
	struct ibv_sge sge = {
		.addr = local->iova + offset, .length = len, .lkey = local->mr->lkey,
	};
	struct ibv_send_wr wr = send_wr(op, len, &sge, 1, NULL, 0);

	wr.wr.rdma.remote_addr = remote->iova + offset;
	wr.wr.rdma.rkey = remote->mr->rkey;
	post_wr(a, &wr);
	want_wc(a->scq, len, IBV_WC_SUCCESS);
}

/* A WRITE of all of an MR, and a READ of it; then only what is next to a border of pages. */
static void exchange(struct end *a, struct end *b, uint8_t *from, uint8_t *to,
		     size_t start, size_t len, bool own_iova)
{
	/* the peer's is in other pages than ours, where it fits */
	size_t there = start + len + 4099 <= MEMORY ? start + 4099 : start;
	struct region ra = region(a, from, start, len, own_iova);
	struct region rb = region(b, to, there, len, own_iova);
	size_t border = HUGE_PAGE - start % HUGE_PAGE, part, offset;

	printf("%zu bytes at %zu%s\n", len, start, own_iova ? ", own iova" : "");
	fill(from + start, len, len);
	move(a, IBV_WR_RDMA_WRITE, &ra, &rb, 0, len);
	need(same(to + there, len, len));
	check_fences(to, there, len);

	memset(from + start, GUARD, len);
	move(a, IBV_WR_RDMA_READ, &ra, &rb, 0, len);
	need(same(from + start, len, len));
	check_fences(from, start, len);

	/* each crosses a border of huge pages, here */
	for (; border < len; border += HUGE_PAGE) {
		offset = border < 4097 ? 0 : border - 4097;
		part = len - offset < 9000 ? len - offset : 9000;
		fill(from + start + offset, part, offset + 1);
		memset(to + there, GUARD, len);
		move(a, IBV_WR_RDMA_WRITE, &ra, &rb, offset, part);
		need(same(to + there + offset, part, offset + 1));
		need(guarded(to, there, there + offset));
		need(guarded(to, there + offset + part, there + len));
	}
	verb(ibv_dereg_mr(ra.mr));
	verb(ibv_dereg_mr(rb.mr));
	memset(from + start, GUARD, len);
	memset(to + there, GUARD, len);
}

/* ARGUMENT: "thp" for transparent huge pages; those of hugetlbfs otherwise */
static void test_huge(struct end *a, struct end *b, const char *arg)
{
	static const struct {
		size_t start, len;
	} cases[] = {
		{ 0, MEMORY }, { 0, 1 }, { 0, HUGE_PAGE }, { 1, HUGE_PAGE }, { 4095, 2 },
		{ 4096, HUGE_PAGE }, { HUGE_PAGE - 1, 2 }, { HUGE_PAGE - 3, 2 * HUGE_PAGE + 7 },
		{ 12345, 3 * HUGE_PAGE + 4321 }, { SMALL - 1, HUGE_PAGE + 2 }, { SMALL + 5, 99999 },
		{ SMALL + HUGE_PAGE - 1, 4098 }, { MEMORY - 1, 1 },
	};
	bool thp = arg && !strcmp(arg, "thp");
	uint8_t *from = huge_alloc(thp), *to = huge_alloc(thp);
	const struct how how = { };
	size_t i;

	pair_make(a, b, &how);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		exchange(a, b, from, to, cases[i].start, cases[i].len, i % 2);
	exchange(a, b, from, to, cases[8].start, cases[8].len, true);
	pair_unmake(a, b);
}

const struct test huge_tests[] = {
	{ "huge", test_huge },
	{ }
};
