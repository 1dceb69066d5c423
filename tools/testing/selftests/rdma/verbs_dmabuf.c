// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs" with memory of other drivers: dma-bufs, made of memfds by
 * /dev/udmabuf, or by the system heap.  Exit status 4: there is none here.
 */
#define _GNU_SOURCE
#include "verbs.h"

#if __has_include("../../../rdma/reg_dmabuf_mr.h")
#include "../../../rdma/reg_dmabuf_mr.h"
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KI	1024
#define SIZE	(1024 * KI)
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define IOVA	0x7000000000ULL

struct buffer {
	int		memfd;		/* what it is made of, or -1 */
	int		fd;		/* the dma-buf */
	uint8_t		*map;
};

/* @exporter: "system", a heap, or NULL for /dev/udmabuf */
static void buffer_make(struct buffer *b, const char *exporter)
{
	const char *name = exporter ? "/dev/dma_heap/system" : "/dev/udmabuf";
	struct dma_heap_allocation_data alloc = { .len = SIZE, .fd_flags = O_RDWR | O_CLOEXEC };
	struct udmabuf_create create = { .size = SIZE };
	int dev = open(name, O_RDWR);

	if (dev < 0) {
		printf("there is no %s\n", name);
		exit(4);
	}
	b->memfd = -1;
	if (exporter) {
		need(!ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &alloc));
		b->fd = alloc.fd;
	} else {
		b->memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING);
		need(b->memfd >= 0 && !ftruncate(b->memfd, SIZE));
		need(!fcntl(b->memfd, F_ADD_SEALS, F_SEAL_SHRINK));
		create.memfd = b->memfd;
		b->fd = ioctl(dev, UDMABUF_CREATE, &create);
		need(b->fd >= 0);
	}
	close(dev);
	b->map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      exporter ? b->fd : b->memfd, 0);
	need(b->map != MAP_FAILED);
}

static void buffer_unmake(struct buffer *b)
{
	munmap(b->map, SIZE);
	if (b->memfd >= 0)
		close(b->memfd);
	close(b->fd);
}

static void pass_fd(int sock, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	need(sendmsg(sock, &msg, 0) == 1);
}

/* -1: the other end has gone */
static int take_fd(int sock)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(sock, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* ARGUMENT: the exporter. From one dma-buf to another, by each operation. */
static void test_dmabuf(struct end *a, struct end *b, const char *arg)
{
	const size_t len = 700 * KI + 3, at = 4096 + 123;
	const struct how how = { .size = 64 * KI };
	struct buffer from, to;
	struct dmabuf_mr ma = { }, mb = { };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	buffer_make(&from, arg);
	buffer_make(&to, arg);
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
	buffer_make(&buf, NULL);
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
	buffer_make(&buf, NULL);
	pair_make(a, b, &how);
	verb(reg_dmabuf_mr(&mr, a->pd, 0, SIZE, 0, buf.fd, ACCESS));
	exit(0);
}

/*
 * ARGUMENT: the exporter. The process that has made the buffer is killed under traffic,
 * and then all descriptors of it are closed: the MR keeps the memory.
 */
static void test_dmabuf_killed(struct end *a, struct end *b, const char *arg)
{
	enum { WRITES = 16, HALF = SIZE / 2 };
	const struct how how = { .size = SIZE };
	struct dmabuf_mr mr = { };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int socks[2], status, fd, i;
	struct buffer buf;
	pid_t pid;

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	pid = fork();
	need(pid >= 0);
	if (!pid) {
		close(socks[0]);
		buffer_make(&buf, arg);
		fill(buf.map, SIZE, 3);
		pass_fd(socks[1], buf.fd);
		pause();
		_exit(1);
	}
	close(socks[1]);
	fd = take_fd(socks[0]);
	if (fd < 0) {
		need(waitpid(pid, &status, 0) == pid);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	pair_make(a, b, &how);
	verb(reg_dmabuf_mr(&mr, b->pd, 0, SIZE, IOVA, fd, ACCESS));
	close(fd);
	fill(a->buf, HALF, 7);
	sge = sge_at(a, 0, HALF);
	wr = send_wr(IBV_WR_RDMA_WRITE, 1, &sge, 1, NULL, 0);
	wr.wr.rdma.remote_addr = IOVA;
	wr.wr.rdma.rkey = mr.rkey;
	for (i = 0; i < WRITES; i++)
		post_wr(a, &wr);
	need(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	for (i = 0; i < WRITES; i++)
		want_wc(a->scq, 1, IBV_WC_SUCCESS);
	/* the half that has been written, and the one that the dead process has */
	memset(a->buf, 0, SIZE);
	sge.length = SIZE;
	wr.opcode = IBV_WR_RDMA_READ;
	post_wr(a, &wr);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	need(same(a->buf, HALF, 7));
	need(same(a->buf + HALF, HALF, 3 + HALF));
	verb(dereg_dmabuf_mr(&mr));
	pair_unmake(a, b);
	close(socks[0]);
}

const struct test dmabuf_tests[] = {
	{ "dmabuf", test_dmabuf },
	{ "dmabuf_errors", test_dmabuf_errors, true },
	{ "dmabuf_exit", test_dmabuf_exit },
	{ "dmabuf_killed", test_dmabuf_killed },
	{ }
};
#else
const struct test dmabuf_tests[] = { { } };
#endif
