// SPDX-License-Identifier: GPL-2.0
/*
 * tun_wire tun|tap NAMESPACE1 NETDEV1 NAMESPACE2 NETDEV2
 *
 * Makes a netdev of that kind in each namespace (/run/netns/NAMESPACE) and carries
 * packets between the two for ever.  Prints "ready".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int make(short kind, const char *ns, const char *name)
{
	struct ifreq req = { .ifr_flags = kind | IFF_NO_PI };
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
	fd = open("/dev/net/tun", O_RDWR);
	if (fd < 0)
		die("/dev/net/tun");
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &req))
		die("TUNSETIFF");
	return fd;
}

static void carry(int from, int to)
{
	static char packet[65536];
	ssize_t len = read(from, packet, sizeof(packet));

	if (len < 0)
		die("read");
	/* EIO: the other one is down */
	if (write(to, packet, len) != len && errno != EIO)
		die("write");
}

int main(int argc, char **argv)
{
	struct pollfd fds[2];
	short kind;
	int i;

	if (argc != 6 || (strcmp(argv[1], "tun") && strcmp(argv[1], "tap"))) {
		fprintf(stderr, "usage: tun_wire tun|tap NAMESPACE1 NETDEV1 NAMESPACE2 NETDEV2\n");
		return 1;
	}
	kind = strcmp(argv[1], "tap") ? IFF_TUN : IFF_TAP;
	for (i = 0; i < 2; i++)
		fds[i] = (struct pollfd){
			.fd = make(kind, argv[2 + 2 * i], argv[3 + 2 * i]),
			.events = POLLIN,
		};
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		for (i = 0; i < 2; i++)
			if (fds[i].revents)
				carry(fds[i].fd, fds[!i].fd);
	}
}
