// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs": many objects, what they take of the kernel's memory, and of time. */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A field of /proc/meminfo, in bytes */
static long mem_field(const char *field)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[200], name[40];
	long kib, found = -1;

	need(file);
	while (found < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "%39s %ld", name, &kib) == 2 && !strcmp(name, field))
			found = kib * 1024;
	fclose(file);
	need(found >= 0);
	return found;
}

/* The kernel's own memory, page tables and pages that processes have mapped aside. */
static long kernel_memory(void)
{
	return mem_field("Slab:") + mem_field("Percpu:") + mem_field("VmallocUsed:");
}

/* What this process has mapped of its verbs devices: the rings. */
static long rings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[500];
	long sum = 0;

	need(file);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "/uverbs") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			sum += to - from;
	fclose(file);
	return sum;
}

static void no_memlock_limit(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

/* ARGUMENT: how many pairs of connected RC QPs of depth 16 */
static void test_idle_qps(struct end *a, struct end *b, const char *arg)
{
	int pairs = arg ? atoi(arg) : 500, i;
	struct end *as = calloc(pairs, sizeof(*as)), *bs = calloc(pairs, sizeof(*bs));
	const struct how how = { .size = 4096, .depth = 16, .sges = 1 };
	struct ibv_qp_init_attr init;
	long before, vmalloc, each, ring;
	double start;

	need(as && bs);
	end_make(a, &how);
	end_make(b, &how);
	before = kernel_memory();
	vmalloc = mem_field("VmallocUsed:");
	ring = rings();
	start = seconds();
	for (i = 0; i < pairs; i++) {
		as[i] = *a;
		bs[i] = *b;
		init = (struct ibv_qp_init_attr){
			.qp_type = IBV_QPT_RC, .send_cq = a->scq, .recv_cq = a->rcq,
			.cap = { 16, 16, 1, 1, 0 },
		};
		as[i].qp = ibv_create_qp(a->pd, &init);
		init.send_cq = b->scq;
		init.recv_cq = b->rcq;
		bs[i].qp = ibv_create_qp(b->pd, &init);
		if (!as[i].qp || !bs[i].qp)
			die("no QP after %d pairs: %s", i, strerror(errno));
		pair_connect(&as[i], &bs[i], &how);
	}
	ring = (rings() - ring) / (2 * pairs);
	each = (kernel_memory() - before) / (2 * pairs);
	vmalloc = (mem_field("VmallocUsed:") - vmalloc) / (2 * pairs);
	/* Rings are in it if they are from vmalloc(). */
	if (vmalloc >= ring)
		each -= ring;
	printf("%d QPs made in %.1f s: %ld bytes each, besides %ld of rings\n", 2 * pairs,
	       seconds() - start, each, ring);
	need(ring > 0);

	/* the first and the last work */
	for (i = 0; i < pairs; i += pairs > 1 ? pairs - 1 : 1) {
		post_recv(&bs[i], 1, 0, 4096);
		post_send(&as[i], IBV_WR_SEND, 2, 0, 4096, NULL);
		want_wc(a->scq, 2, IBV_WC_SUCCESS);
		want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	}

	start = seconds();
	for (i = 0; i < pairs; i++) {
		verb(ibv_destroy_qp(as[i].qp));
		verb(ibv_destroy_qp(bs[i].qp));
	}
	printf("destroyed in %.1f s\n", seconds() - start);
	need((seconds() - start) / (2 * pairs) < 0.002);
	need(each < 8192);
	pair_unmake(a, b);
	free(as);
	free(bs);
}

/*
 * A part is measured in pieces, and the fastest one counts: a machine that is busy, or
 * does other things in between, changes nothing.
 */
enum { PIECE = 100 };

struct watch {
	double	start, best;	/* seconds; microseconds for a call */
};

/* After each call of a part, @i from 1. */
static void watch(struct watch *w, int i)
{
	double now, each;

	if (i % PIECE)
		return;
	now = seconds();
	each = (now - w->start) / PIECE * 1e6;
	if (i == PIECE || each < w->best)
		w->best = each;
	w->start = now;
}

/* ARGUMENT: how many MRs of a page each; the last ones take no longer than the first */
static void test_many_mrs(struct end *a, struct end *b, const char *arg)
{
	enum { PARTS = 8, PAGES = 4096 };
	int n = arg ? atoi(arg) : 40000, part = n / PARTS, i, p;
	struct watch reg[PARTS], dereg[PARTS];
	struct ibv_mr **mrs = calloc(n, sizeof(*mrs));
	const struct how how = { .size = PAGES * 4096 };
	long before;

	(void)b;
	need(mrs && part >= PIECE);
	no_memlock_limit();
	end_make(a, &how);
	memset(a->buf, 1, a->size);
	before = kernel_memory();
	for (p = 0; p < PARTS; p++) {
		reg[p].start = seconds();
		for (i = p * part; i < (p + 1) * part; i++) {
			mrs[i] = ibv_reg_mr(a->pd, a->buf + 4096L * (i % PAGES), 4096,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
			if (!mrs[i])
				die("no MR after %d: %s", i, strerror(errno));
			watch(&reg[p], i - p * part + 1);
		}
	}
	printf("%d MRs: %ld bytes of kernel memory each\n", PARTS * part,
	       (kernel_memory() - before) / (PARTS * part));
	for (p = 0; p < PARTS; p++) {
		dereg[p].start = seconds();
		for (i = p * part; i < (p + 1) * part; i++) {
			verb(ibv_dereg_mr(mrs[i]));
			watch(&dereg[p], i - p * part + 1);
		}
		printf("part %d: registered in %.1f us, deregistered in %.1f us\n", p,
		       reg[p].best, dereg[p].best);
	}
	/* were it quadratic, the last eighth would take 15 times what the first one does */
	need(reg[PARTS - 1].best < 4 * reg[0].best);
	need(dereg[0].best < 4 * dereg[PARTS - 1].best);
	end_unmake(a);
	free(mrs);
}

/* Objects of one kind, which a device has only so many of */
struct kind {
	const char	*name;
	int		max;
	void		*(*make)(struct end *e);
	int		(*unmake)(void *object);
};

static void *make_pd(struct end *e)
{
	return ibv_alloc_pd(e->ctx);
}

static int unmake_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_ah(struct end *e)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = e->gid, .sgid_index = e->gid_index, .hop_limit = 64 },
	};

	return ibv_create_ah(e->pd, &attr);
}

static int unmake_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

static void *make_cq(struct end *e)
{
	return ibv_create_cq(e->ctx, 1, NULL, NULL, 0);
}

static int unmake_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *make_srq(struct end *e)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(e->pd, &init);
}

static int unmake_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_qp(struct end *e)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = e->scq, .recv_cq = e->rcq,
		.cap = { 1, 1, 1, 1, 0 },
	};

	return ibv_create_qp(e->pd, &init);
}

static int unmake_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

/*
 * All that query_device promises, but for what others have of it; the next one is
 * refused, and when one has gone there is room for one.
 */
static void fill_up(struct end *e, const struct kind *kind)
{
	void **objects = calloc(kind->max + 1, sizeof(*objects));
	double start = seconds();
	int n = 0, i;

	need(objects);
	while (n <= kind->max && (objects[n] = kind->make(e)))
		n++;
	if (n > kind->max || errno != ENOMEM || n < kind->max - 16)
		die("%d of %d %s, then %s", n, kind->max, kind->name, strerror(errno));
	printf("%d of %d %s in %.1f s", n, kind->max, kind->name, seconds() - start);
	verb(kind->unmake(objects[n / 2]));
	need(objects[n / 2] = kind->make(e));
	errno = 0;
	need(!kind->make(e) && errno == ENOMEM);

	start = seconds();
	for (i = 0; i < n; i++)
		verb(kind->unmake(objects[i]));
	printf(", destroyed in %.1f s\n", seconds() - start);
	free(objects);
}

/*
 * ARGUMENT: kinds of objects, PD, AH, CQ, SRQ, QP, of which there are as many as the
 * device can have. CQs, SRQs and QPs are mapped: vm.max_map_count.
 */
static void test_fill(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 4096, .depth = 1, .sges = 1, .cqe = 1 };
	struct ibv_device_attr attr;
	size_t i;

	(void)b;
	end_make(a, &how);
	verb(ibv_query_device(a->ctx, &attr));
	const struct kind kinds[] = {
		{ "PD",  attr.max_pd,  make_pd,  unmake_pd },
		{ "AH",  attr.max_ah,  make_ah,  unmake_ah },
		{ "CQ",  attr.max_cq,  make_cq,  unmake_cq },
		{ "SRQ", attr.max_srq, make_srq, unmake_srq },
		{ "QP",  attr.max_qp,  make_qp,  unmake_qp },
	};
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!arg || !strcmp(arg, kinds[i].name))
			fill_up(a, &kinds[i]);
	end_unmake(a);
}

const struct test memory_tests[] = {
	{ "idle_qps", test_idle_qps },
	{ "many_mrs", test_many_mrs, true },
	{ "fill", test_fill, true },
	{ }
};
