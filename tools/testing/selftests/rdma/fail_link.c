// SPDX-License-Identifier: GPL-2.0
/*
 * fail_link NETDEV LINK
 *
 * Adds an RDMA link again and again, with the first, second ... of the allocations
 * that this takes failing (/proc/self/fail-nth), until none is left.  Each time it is
 * added, or it fails and there is no device LINK and nobody has UDP port 4791.
 * Behind the fortieth in steps of 5 %, or all with RDMA_TEST_EVERY in the
 * environment, which takes hours on a debug kernel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST	20000
#define ROCE_PORT	4791

struct request {
	struct nlmsghdr	head;
	char		attrs[512];
};

static int die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(struct request *req, int type, const void *data, size_t len)
{
	struct nlattr *attr = (struct nlattr *)((char *)req + NLMSG_ALIGN(req->head.nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, data, len);
	req->head.nlmsg_len = NLMSG_ALIGN(req->head.nlmsg_len) + NLA_ALIGN(attr->nla_len);
}

/* 0 or an errno */
static int answer(int fd)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char more[2048];
	} reply;

	if (recv(fd, &reply, sizeof(reply), 0) < (ssize_t)(sizeof(reply.head) + sizeof(int)) ||
	    reply.head.nlmsg_type != NLMSG_ERROR)
		die("nothing came back");
	return -reply.err.error;
}

static void fail_nth(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", n);

	/* EFAULT: the failure came here, where the kernel copies the text */
	while (pwrite(fd, text, len, 0) != len)
		if (errno != EFAULT)
			die("fail-nth");
}

/* 0: it has failed */
static int left(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		return atoi(text);
	if (errno != EFAULT)
		die("fail-nth");
	return 1;
}

static int port_is_free(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(ROCE_PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err = bind(fd, (struct sockaddr *)&addr, sizeof(addr));

	close(fd);
	return !err;
}

static int exists(const char *link)
{
	char path[100];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", link);
	return !access(path, F_OK);
}

static void delete(const char *link)
{
	char command[100];

	snprintf(command, sizeof(command), "rdma link del %s", link);
	if (system(command))
		die(command);
}

int main(int argc, char **argv)
{
	struct request req = {
		.head = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};
	int nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	int nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	int n, err, rest, lost = 0, needed = 0;

	setlinebuf(stdout);
	if (argc != 3 || nth < 0 || nl < 0)
		die("fail_link");
	put(&req, RDMA_NLDEV_ATTR_DEV_NAME, argv[2], strlen(argv[2]) + 1);
	put(&req, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe", sizeof("rxe"));
	put(&req, RDMA_NLDEV_ATTR_NDEV_NAME, argv[1], strlen(argv[1]) + 1);

	for (n = 1; n < MOST; n += n < 40 || getenv("RDMA_TEST_EVERY") ? 1 : n / 20) {
		fail_nth(nth, n);
		err = send(nl, &req, req.head.nlmsg_len, 0) < 0 ? errno : -1;
		rest = left(nth);
		fail_nth(nth, 0);
		if (err < 0)
			/* the answer itself may have been lost */
			err = rest ? answer(nl) : recv(nl, NULL, 0, MSG_PEEK | MSG_DONTWAIT) < 0 ?
				ENOBUFS : answer(nl);
		lost += err == ENOBUFS;
		if (exists(argv[2])) {
			delete(argv[2]);
		} else {
			needed++;
			if (!err)
				printf("%d: added, and there is no link\n", n), exit(1);
			if (rest)
				errno = err, die("fails without a reason");
		}
		if (!port_is_free())
			printf("%d: port is taken (%s)\n", n, strerror(err)), exit(1);
		if (rest)
			break;
	}
	printf("up to %d allocations, %d that failed were needed, %d answers lost\n", n, needed,
	       lost);
	return n >= MOST || !needed;
}
