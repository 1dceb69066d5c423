// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs" with memory of other drivers: dma-bufs, made of memfds by
 * /dev/udmabuf.  Exit status 4: there is none here.
 */
#define _GNU_SOURCE
#include "verbs.h"

#if __has_include("../../../rdma/reg_dmabuf_mr.h")
#include "../../../rdma/reg_dmabuf_mr.h"
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KI	1024
#define SIZE	(1024 * KI)
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define IOVA	0x7000000000ULL

struct buffer {
	int		memfd;
	int		fd;		/* the dma-buf */
	uint8_t		*map;
};

static void buffer_make(struct buffer *b)
{
	struct udmabuf_create create = { .size = SIZE };
	int dev = open("/dev/udmabuf", O_RDWR);

	if (dev < 0) {
		printf("there is no /dev/udmabuf\n");
		exit(4);
	}
	b->memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING);
	need(b->memfd >= 0 && !ftruncate(b->memfd, SIZE));
	need(!fcntl(b->memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	create.memfd = b->memfd;
	b->fd = ioctl(dev, UDMABUF_CREATE, &create);
	need(b->fd >= 0);
	b->map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, b->memfd, 0);
	need(b->map != MAP_FAILED);
	close(dev);
}

static void buffer_unmake(struct buffer *b)
{
	munmap(b->map, SIZE);
	close(b->memfd);
	close(b->fd);
}

/* From one dma-buf to another, by each operation. */
static void test_dmabuf(struct end *a, struct end *b, const char *arg)
{
	const size_t len = 700 * KI + 3, at = 4096 + 123;
	const struct how how = { .size = 64 * KI };
	struct buffer from, to;
	struct dmabuf_mr ma = { }, mb = { };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	(void)arg;
	buffer_make(&from);
	buffer_make(&to);
	pair_make(a, b, &how);
	verb(reg_dmabuf_mr(&ma, a->pd, 0, SIZE, IOVA, from.fd, ACCESS));
	verb(reg_dmabuf_mr(&mb, b->pd, 4096, SIZE - 4096, IOVA, to.fd, ACCESS));

	fill(from.map, SIZE, 5);
	sge = (struct ibv_sge){ .addr = IOVA + at, .length = len, .lkey = ma.lkey };
	wr = send_wr(IBV_WR_RDMA_WRITE, 1, &sge, 1, NULL, 0);
	wr.wr.rdma.remote_addr = IOVA + at - 4096;
	wr.wr.rdma.rkey = mb.rkey;
	post_wr(a, &wr);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	need(same(to.map + at, len, 5 + at));
	need(!to.map[at - 1] && !to.map[at + len]);

	fill(to.map, SIZE, 9);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr_id = 2;
	post_wr(a, &wr);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	need(same(from.map + at, len, 9 + at));

	/* the MR holds the memory when everybody else has let go of it */
	buffer_unmake(&to);
	fill(from.map, SIZE, 15);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr_id = 3;
	post_wr(a, &wr);
	want_wc(a->scq, 3, IBV_WC_SUCCESS);
	memset(from.map, 0, SIZE);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr_id = 4;
	post_wr(a, &wr);
	want_wc(a->scq, 4, IBV_WC_SUCCESS);
	need(same(from.map + at, len, 15 + at));

	/* and no byte more */
	wr.wr_id = 5;
	wr.wr.rdma.remote_addr = IOVA + SIZE - 4096 - len + 1;
	post_wr(a, &wr);
	want_wc(a->scq, 5, IBV_WC_REM_ACCESS_ERR);

	verb(dereg_dmabuf_mr(&mb));
	verb(dereg_dmabuf_mr(&ma));
	pair_unmake(a, b);
	buffer_unmake(&from);
}

static void test_dmabuf_errors(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .size = 4 * KI };
	struct buffer buf;
	struct dmabuf_mr mr = { };

	(void)unused;
	(void)arg;
	buffer_make(&buf);
	end_make(e, &how);
	need(reg_dmabuf_mr(&mr, e->pd, 0, SIZE, 0, buf.memfd, ACCESS) == EINVAL);
	need(reg_dmabuf_mr(&mr, e->pd, 0, SIZE, 0, -1, ACCESS) != 0);
	need(reg_dmabuf_mr(&mr, e->pd, 0, SIZE + 1, 0, buf.fd, ACCESS) == EINVAL);
	need(reg_dmabuf_mr(&mr, e->pd, 4096, SIZE, 0, buf.fd, ACCESS) == EINVAL);
	need(reg_dmabuf_mr(&mr, e->pd, -4096ULL, 8192, 0, buf.fd, ACCESS) == EINVAL);
	need(reg_dmabuf_mr(&mr, e->pd, 0, 0, 0, buf.fd, ACCESS) == EINVAL);
	need(reg_dmabuf_mr(&mr, e->pd, 0, SIZE, 0, buf.fd,
			   ACCESS | IBV_ACCESS_ON_DEMAND) == EINVAL);
	verb(reg_dmabuf_mr(&mr, e->pd, 0, SIZE, 0, buf.fd, ACCESS));
	verb(dereg_dmabuf_mr(&mr));
	need(dereg_dmabuf_mr(&mr) == ENOENT);
	end_unmake(e);
	buffer_unmake(&buf);
}

/* Leaves without tidying up: the kernel does. */
static void test_dmabuf_exit(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 4 * KI };
	struct buffer buf;
	struct dmabuf_mr mr = { };

	(void)arg;
	buffer_make(&buf);
	pair_make(a, b, &how);
	verb(reg_dmabuf_mr(&mr, a->pd, 0, SIZE, 0, buf.fd, ACCESS));
	exit(0);
}

const struct test dmabuf_tests[] = {
	{ "dmabuf", test_dmabuf },
	{ "dmabuf_errors", test_dmabuf_errors, true },
	{ "dmabuf_exit", test_dmabuf_exit },
	{ }
};
#else
const struct test dmabuf_tests[] = { { } };
#endif
