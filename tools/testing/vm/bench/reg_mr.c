// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * reg_mr DEVICE BYTES: prints how many nanoseconds it takes to register that much
 * memory and to deregister it. The memory is there, in small pages.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define BATCHES	4

static struct ibv_pd *open_pd(const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), device))
			continue;
		ctx = ibv_open_device(list[i]);
		return ctx ? ibv_alloc_pd(ctx) : NULL;
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double batch(struct ibv_pd *pd, void *buf, size_t size, int times)
{
	double start = now();

	for (int i = 0; i < times; i++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, buf, size, ACCESS);

		if (!mr || ibv_dereg_mr(mr)) {
			perror(mr ? "ibv_dereg_mr" : "ibv_reg_mr");
			exit(1);
		}
	}
	return (now() - start) / times;
}

int main(int argc, char **argv)
{
	size_t size = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	int times = size >= 1 << 20 ? 1 : 100;
	double best = 0;
	struct ibv_pd *pd;
	void *buf;

	if (!size) {
		fprintf(stderr, "usage: reg_mr DEVICE BYTES\n");
		return 2;
	}
	pd = open_pd(argv[1]);
	if (!pd) {
		fprintf(stderr, "cannot open %s\n", argv[1]);
		return 1;
	}
	buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	madvise(buf, size, MADV_NOHUGEPAGE);
	memset(buf, 1, size);

	/* the shortest: the first one of a process allocates, and the kernel does other things */
	for (int i = 0; i < BATCHES; i++) {
		double time = batch(pd, buf, size, times);

		if (!i || time < best)
			best = time;
	}
	printf("%.0f\n", best);
	return 0;
}
