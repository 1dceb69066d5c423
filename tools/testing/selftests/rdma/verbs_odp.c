// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs" with memory that is not pinned (on-demand paging): the
 * process takes pages away while they are used.
 */
#define _GNU_SOURCE
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if __has_include("../../../rdma/reg_dmabuf_mr.h")
#include "../../../rdma/reg_dmabuf_mr.h"
#define HAVE_UVERBS_CALL
#endif

#define KI	1024
#define MI	(KI * KI)
#define ACCESS	(IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_WRITE)

static void need_caps(struct end *e)
{
	struct ibv_device_attr_ex attr;

	verb(ibv_query_device_ex(e->ctx, NULL, &attr));
	need(attr.odp_caps.general_caps & IBV_ODP_SUPPORT);
	need(attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_SEND);
	need(attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE);
	need(attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_READ);
	need(attr.odp_caps.per_transport_caps.ud_odp_caps & IBV_ODP_SUPPORT_RECV);
	need(!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT));
}

/* ARGUMENT: a test that moves data; both ends have on-demand memory */
static void test_odp(struct end *a, struct end *b, const char *arg)
{
	need_caps(a);
	more_access = IBV_ACCESS_ON_DEMAND;
	run_test(data_tests, arg, a, b, NULL);
}

/* Gives all pages back; what is read next are zeros. */
static void discard(struct end *e)
{
	need(!madvise(e->buf, e->size, MADV_DONTNEED));
}

static void transfer(struct end *a, struct end *b, enum ibv_wr_opcode op, size_t len)
{
	post_send(a, op, 1, 0, len, b);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
}

/* A page that went and came again is another one. */
static void test_odp_discard(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .mr_access = ACCESS };
	const size_t len = 300 * KI + 5;
	size_t i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 10; i++) {
		fill(a->buf, len, i);
		transfer(a, b, IBV_WR_RDMA_WRITE, len);
		need(same(b->buf, len, i));
		discard(b);
		transfer(a, b, IBV_WR_RDMA_READ, len);
		need(a->buf[0] == 0 && !memcmp(a->buf, a->buf + 1, len - 1));

		fill(b->buf, len, i + 7);
		discard(a);
		transfer(a, b, IBV_WR_RDMA_READ, len);
		need(same(a->buf, len, i + 7));
	}
	pair_unmake(a, b);
}

/* Pages go all the time; each message arrives whole once nothing takes them. */
static void test_odp_race(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .mr_access = ACCESS, .timeout = 18 };
	double end = seconds() + (arg ? atof(arg) : 3);
	enum { DEPTH = 8, LEN = 100 * KI };
	int posted = 0, done = 0, i;
	struct ibv_wc wc;

	pair_make(a, b, &how);
	while (seconds() < end || done < posted) {
		while (posted - done < DEPTH && seconds() < end) {
			i = posted++ % DEPTH;
			post_send(a, i % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, i, i * LEN,
				  LEN, b);
		}
		need(!madvise(a->buf + posted % 64 * 4 * KI, 512 * KI, MADV_DONTNEED));
		need(!madvise(b->buf + posted % 32 * 4 * KI, 512 * KI, MADV_DONTNEED));
		while (ibv_poll_cq(a->scq, 1, &wc) == 1) {
			need(wc.status == IBV_WC_SUCCESS);
			done++;
		}
	}
	printf("%d messages\n", done);
	need(done > DEPTH);
	fill(a->buf, a->size, 3);
	transfer(a, b, IBV_WR_RDMA_WRITE, a->size);
	need(same(b->buf, a->size, 3));
	pair_unmake(a, b);
}

/* Memory of a file in place of the buffer's: it keeps its data when pages go. */
static void share(struct end *e)
{
	int fd = memfd_create("odp", 0);

	need(fd >= 0 && !ftruncate(fd, e->size));
	need(mmap(e->buf, e->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	     e->buf);
	close(fd);
}

/* Pages go all the time, their data do not: each message is right when it is done. */
static void test_odp_race_data(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .mr_access = ACCESS, .timeout = 18 };
	double end = seconds() + (arg ? atof(arg) : 1);
	enum { DEPTH = 8, LEN = 100 * KI };
	struct end *ends[] = { a, b };
	int posted = 0, done = 0, i;

	pair_make(a, b, &how);
	share(a);
	share(b);
	while (seconds() < end || done < posted) {
		while (posted - done < DEPTH && seconds() < end) {
			i = posted % DEPTH;
			/* by turns a WRITE from a to b and a READ from b to a */
			fill(ends[i % 2]->buf + i * LEN, LEN, posted);
			post_send(a, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, posted++,
				  i * LEN, LEN, b);
		}
		need(!madvise(a->buf + posted % 64 * 4 * KI, 512 * KI, MADV_DONTNEED));
		need(!madvise(b->buf + posted % 32 * 4 * KI, 512 * KI, MADV_DONTNEED));
		want_wc(a->scq, done, IBV_WC_SUCCESS);
		i = done % DEPTH;
		need(same(ends[!(i % 2)]->buf + i * LEN, LEN, done));
		done++;
	}
	printf("%d messages\n", done);
	pair_unmake(a, b);
}

/* The MR belongs to the parent's memory; the child has a copy from its birth. */
static void test_odp_fork(struct end *a, struct end *b, const char *arg)
{
	/* while pages are brought nothing is acknowledged */
	const struct how how = { .mr_access = ACCESS, .timeout = 18 };
	int go[2], status, i;
	pid_t child;
	char byte;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 5; i++) {
		fill(a->buf, a->size, i);
		transfer(a, b, IBV_WR_RDMA_WRITE, a->size);
		need(!pipe(go));
		child = fork();
		need(child >= 0);
		if (!child) {
			/* after the parent has got something new */
			need(read(go[0], &byte, 1) == 1);
			_exit(same(b->buf, b->size, i) ? 0 : 2);
		}
		fill(a->buf, a->size, i + 100);
		transfer(a, b, IBV_WR_RDMA_WRITE, a->size);
		need(same(b->buf, b->size, i + 100));
		need(write(go[1], "", 1) == 1);
		need(waitpid(child, &status, 0) == child);
		need(WIFEXITED(status) && !WEXITSTATUS(status));
		close(go[0]);
		close(go[1]);
	}
	pair_unmake(a, b);
}

/* In the child: what it has of @e does not change before the parent says "go". */
static int stays(const struct end *e, int ready, int go)
{
	uint8_t *copy = malloc(e->size);
	char byte;

	if (!copy)
		return 3;
	memcpy(copy, e->buf, e->size);
	if (write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		return 4;
	return memcmp(copy, e->buf, e->size) ? 2 : 0;
}

/* Messages are under way at the fork: they come to the parent, none to the child. */
static void test_odp_fork_busy(struct end *a, struct end *b, const char *arg)
{
	enum { DEPTH = 16, LEN = 16 * KI };
	const struct how how = { .size = DEPTH * LEN, .mr_access = ACCESS, .timeout = 18 };
	int ready[2], go[2], status, i, n;
	struct end *to;
	pid_t child;
	char byte;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 4; i++) {
		to = i % 2 ? a : b;
		fill((i % 2 ? b : a)->buf, a->size, i + 1);
		memset(to->buf, 0, to->size);
		need(!pipe(ready) && !pipe(go));
		for (n = 0; n < DEPTH; n++)
			post_send(a, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, n, n * LEN, LEN,
				  b);
		/* fork() after the first, the second ... one */
		for (n = 0; n < i; n++)
			want_wc(a->scq, n, IBV_WC_SUCCESS);
		child = fork();
		need(child >= 0);
		if (!child)
			_exit(stays(to, ready[1], go[0]));
		need(read(ready[0], &byte, 1) == 1);
		for (; n < DEPTH; n++)
			want_wc(a->scq, n, IBV_WC_SUCCESS);
		need(same(to->buf, to->size, i + 1));
		/* and what is sent once the child has its copy */
		fill((i % 2 ? b : a)->buf, LEN, i + 99);
		transfer(a, b, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, LEN);
		need(same(to->buf, LEN, i + 99));
		need(write(go[1], "", 1) == 1);
		need(waitpid(child, &status, 0) == child);
		need(WIFEXITED(status) && !WEXITSTATUS(status));
		for (n = 0; n < 2; n++) {
			close(ready[n]);
			close(go[n]);
		}
	}
	pair_unmake(a, b);
}

/* What is not mapped, or not for writing, is an error of who named it. */
static void test_odp_unmapped(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .mr_access = ACCESS };

	(void)arg;
	pair_make(a, b, &how);
	need(!munmap(b->buf + 64 * KI, 4 * KI));
	transfer(a, b, IBV_WR_RDMA_WRITE, 64 * KI);
	post_send(a, IBV_WR_RDMA_WRITE, 2, 60 * KI, 5 * KI, b);
	want_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);

	pair_make(a, b, &how);
	need(!munmap(b->buf + 64 * KI, 4 * KI));
	post_send(a, IBV_WR_RDMA_READ, 3, 0, 128 * KI, b);
	want_wc(a->scq, 3, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);

	pair_make(a, b, &how);
	need(!mprotect(b->buf, 4 * KI, PROT_READ));
	transfer(a, b, IBV_WR_RDMA_READ, 4 * KI);
	post_send(a, IBV_WR_RDMA_WRITE, 4, 0, 8, b);
	want_wc(a->scq, 4, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);

	pair_make(a, b, &how);
	need(!munmap(a->buf + 64 * KI, 4 * KI));
	post_send(a, IBV_WR_RDMA_WRITE, 5, 0, 128 * KI, b);
	want_wc(a->scq, 5, IBV_WC_LOC_PROT_ERR);
	pair_unmake(a, b);

	pair_make(a, b, &how);
	need(!munmap(b->buf, 4 * KI));
	post_recv(b, 6, 0, KI);
	post_send(a, IBV_WR_SEND, 7, 0, KI, b);
	want_wc(b->rcq, 6, IBV_WC_LOC_PROT_ERR);
	want_wc(a->scq, 7, IBV_WC_REM_OP_ERR);
	pair_unmake(a, b);
}

/* What peers write gets to the file, and what is behind its end does not exist. */
static void test_odp_file(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .mr_access = ACCESS };
	static uint8_t data[64 * KI];
	int fd = memfd_create("odp", 0);
	uint8_t *map;

	(void)arg;
	need(fd >= 0 && !ftruncate(fd, 64 * KI));
	pair_make(a, b, &how);
	map = mmap(b->buf, 64 * KI, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	need(map == b->buf);
	fill(a->buf, 64 * KI, 11);
	transfer(a, b, IBV_WR_RDMA_WRITE, 64 * KI);
	need(pread(fd, data, 64 * KI, 0) == 64 * KI && same(data, 64 * KI, 11));

	need(!madvise(b->buf, 64 * KI, MADV_PAGEOUT) || errno == EINVAL);
	need(pread(fd, data, 64 * KI, 0) == 64 * KI && same(data, 64 * KI, 11));
	memset(a->buf, 0, 64 * KI);
	transfer(a, b, IBV_WR_RDMA_READ, 64 * KI);
	need(same(a->buf, 64 * KI, 11));

	need(!ftruncate(fd, 4 * KI));
	post_send(a, IBV_WR_RDMA_WRITE, 2, 8 * KI, 8, b);
	want_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);
	close(fd);
}

/*
 * All of the address space at once is not offered; nor is so much of it that nobody else
 * would have memory, which is found out before it is so.
 */
static void test_odp_implicit(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .size = 4 * KI };
	double start;
	int shift;

	(void)unused;
	(void)arg;
	end_make(e, &how);
	errno = 0;
	need(!ibv_reg_mr(e->pd, NULL, SIZE_MAX, ACCESS) && errno == EOPNOTSUPP);
	start = seconds();
	for (shift = 40; shift <= 43; shift++) {
		errno = 0;
		need(!ibv_reg_mr(e->pd, (void *)(64 * KI), 1ULL << shift, ACCESS) &&
		     errno == ENOMEM);
	}
	need(seconds() - start < 2);
	end_unmake(e);
}

#ifdef HAVE_UVERBS_CALL
static int advise_flags(struct end *e, uint64_t advice, uint32_t flags,
			const struct ibv_sge *range)
{
	struct ib_uverbs_sge sge = {
		.addr = range->addr, .length = range->length, .lkey = range->lkey
	};
	struct ib_uverbs_attr attrs[] = {
		UVERBS_HANDLE(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, e->pd->handle),
		UVERBS_VALUE(UVERBS_ATTR_ADVISE_MR_ADVICE, 8, advice),
		UVERBS_VALUE(UVERBS_ATTR_ADVISE_MR_FLAGS, 4, flags),
		UVERBS_RESULT(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sge),
	};

	return uverbs_call(e->ctx, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, attrs,
			   ARRAY_SIZE(attrs));
}

static int advise(struct end *e, uint64_t advice, const struct ibv_sge *range)
{
	return advise_flags(e, advice, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, range);
}

static size_t resident(const struct end *e)
{
	unsigned char there[KI];
	size_t pages = 0, i;

	need(e->size / (4 * KI) <= sizeof(there) && !mincore(e->buf, e->size, there));
	for (i = 0; i < e->size / (4 * KI); i++)
		pages += there[i] & 1;
	return pages;
}

static void test_odp_prefetch(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .mr_access = ACCESS };
	const struct how pinned = { };
	struct ibv_pd *pd = ibv_alloc_pd(e->ctx);
	struct ibv_mr *read_only, *foreign;
	struct ibv_mw *window;
	struct ibv_sge sge;

	(void)unused;
	(void)arg;
	end_make(e, &how);
	foreign = ibv_reg_mr(pd, e->buf, e->size, ACCESS);
	window = ibv_alloc_mw(e->pd, IBV_MW_TYPE_2);
	need(foreign && window);
	discard(e);
	sge = sge_at(e, 100, 64 * KI);
	verb(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, &sge));
	need(resident(e) == 0);
	verb(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, &sge));
	need(resident(e) >= 17);
	discard(e);
	verb(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge));

	sge.lkey ^= 1;
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == ENOENT);
	sge.lkey = window->rkey;
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == EINVAL);
	sge.lkey = foreign->lkey;
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == EPERM);
	verb(ibv_dereg_mr(foreign));
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == ENOENT);
	verb(ibv_dealloc_pd(pd));
	verb(ibv_dealloc_mw(window));
	sge = sge_at(e, e->size - 10, 11);
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == EFAULT);
	sge = sge_at(e, 0, 8);
	need(advise(e, 77, &sge) == EOPNOTSUPP);
	need(advise_flags(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 2, &sge) == EINVAL);
	read_only = ibv_reg_mr(e->pd, e->buf, 4 * KI, IBV_ACCESS_ON_DEMAND);
	need(read_only);
	sge.lkey = read_only->lkey;
	verb(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge));
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, &sge) == EPERM);
	verb(ibv_dereg_mr(read_only));
	sge = sge_at(e, 0, 8);
	need(!munmap(e->buf, 4 * KI));
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == EFAULT);
	end_unmake(e);

	end_make(e, &pinned);
	sge = sge_at(e, 0, 8);
	need(advise(e, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, &sge) == EINVAL);
	end_unmake(e);
}

static struct ibv_sge ahead;
static unsigned long fetched;
static bool fetch_stop;

static void *prefetch(void *arg)
{
	struct ibv_sge sge = ahead;
	int err;

	while (!__atomic_load_n(&fetch_stop, __ATOMIC_ACQUIRE)) {
		sge.lkey = __atomic_load_n(&ahead.lkey, __ATOMIC_ACQUIRE);
		err = advise(arg, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, &sge);
		need(!err || err == ENOENT);
		if (!err)
			__atomic_add_fetch(&fetched, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* An MR goes, and its pages, while they are brought. */
static void test_odp_prefetch_race(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .mr_access = ACCESS };
	double end = seconds() + 20;
	pthread_t threads[2];
	unsigned long before;
	struct ibv_mr *mr;
	int i;

	(void)unused;
	(void)arg;
	end_make(e, &how);
	ahead = sge_at(e, 0, e->size);
	for (i = 0; i < 2; i++)
		need(!pthread_create(&threads[i], NULL, prefetch, e));
	for (i = 0; i < 50; i++) {
		mr = ibv_reg_mr(e->pd, e->buf, e->size, ACCESS);
		need(mr);
		before = __atomic_load_n(&fetched, __ATOMIC_ACQUIRE);
		__atomic_store_n(&ahead.lkey, mr->lkey, __ATOMIC_RELEASE);
		discard(e);
		while (__atomic_load_n(&fetched, __ATOMIC_ACQUIRE) < before + i % 3)
			need(seconds() < end);
		discard(e);
		verb(ibv_dereg_mr(mr));
	}
	__atomic_store_n(&fetch_stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		need(!pthread_join(threads[i], NULL));
	printf("%lu times\n", fetched);
	end_unmake(e);
}
#endif

const struct test odp_tests[] = {
	{ "odp", test_odp },
	{ "odp_discard", test_odp_discard },
	{ "odp_race", test_odp_race },
	{ "odp_race_data", test_odp_race_data },
	{ "odp_fork", test_odp_fork },
	{ "odp_fork_busy", test_odp_fork_busy },
	{ "odp_unmapped", test_odp_unmapped },
	{ "odp_file", test_odp_file },
	{ "odp_implicit", test_odp_implicit, true },
#ifdef HAVE_UVERBS_CALL
	{ "odp_prefetch", test_odp_prefetch, true },
	{ "odp_prefetch_race", test_odp_prefetch_race, true },
#endif
	{ }
};
