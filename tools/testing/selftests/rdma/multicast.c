// SPDX-License-Identifier: GPL-2.0
/*
 * multicast receive LINK GID-INDEX GROUP QPS
 *
 * Makes QPS datagram QPs, puts all into GROUP, says "ready", and then "QP I: N
 * bytes, TEXT" for each datagram that is to the group and has the bytes that it
 * should have.  SIGUSR1: QP 0 leaves the group; SIGUSR2: the others do.  It ends
 * only when it is killed, without leaving.
 *
 * multicast send LINK GID-INDEX GROUP COUNT BYTES TEXT [HOPS [QKEY]]
 *
 * Sends COUNT datagrams to GROUP, posted all at once.
 *
 * multicast errors LINK GID-INDEX
 * multicast limits LINK GID-INDEX
 *
 * What cannot be attached; and that as much as promised can.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QKEY		0x11111111
#define GRH		40
#define MCAST_QPN	0xffffff
#define SLOT		4200		/* a GRH and the largest datagram */
#define DEPTH		64
#define MAX_QPS		512

#define need(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("line %d: not true: %s (errno %s)\n",	\
			       __LINE__, #cond, strerror(errno));	\
			exit(1);					\
		}							\
	} while (0)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[MAX_QPS];
static struct ibv_mr *mr;
static uint8_t *buf;

static union ibv_gid group_gid(const char *text)
{
	union ibv_gid gid = {};

	if (strchr(text, ':')) {
		need(inet_pton(AF_INET6, text, gid.raw) == 1);
	} else {
		gid.raw[10] = gid.raw[11] = 0xff;
		need(inet_pton(AF_INET, text, gid.raw + 12) == 1);
	}
	return gid;
}

static void open_link(const char *name, size_t size)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	need(list);
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	need(list[i]);
	ctx = ibv_open_device(list[i]);
	need(ctx);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	need(pd);
	cq = ibv_create_cq(ctx, 16384, NULL, NULL, 0);
	need(cq);
	buf = calloc(1, size);
	need(buf);
	mr = ibv_reg_mr(pd, buf, size, IBV_ACCESS_LOCAL_WRITE);
	need(mr);
}

static struct ibv_qp *make_qp(enum ibv_qp_type type, uint32_t qkey)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	need(qp);
	if (type != IBV_QPT_UD)
		return qp;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static struct ibv_wc next_wc(void)
{
	struct ibv_wc wc;
	int n, tries = 20000;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		need(tries--);
		usleep(1000);
	}
	need(n == 1);
	return wc;
}

/*
 * receive
 */

static void post_recv(int qp, uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf + slot * SLOT,
		.length = SLOT,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_recv(qps[qp], &wr, &bad));
}

/* the group in the GRH, the text in front, and a count of bytes behind it */
static void show(const struct ibv_wc *wc, const union ibv_gid *group)
{
	const uint8_t *grh = buf + wc->wr_id * SLOT, *data = grh + GRH;
	uint32_t len = wc->byte_len - GRH, i;

	need(wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV);
	need(wc->wc_flags & IBV_WC_GRH);
	need(wc->src_qp > 1 && wc->src_qp < MCAST_QPN);
	if (group->raw[0] == 0xff)
		need(!memcmp(grh + 24, group->raw, 16));
	else
		need(!memcmp(grh + 36, group->raw + 12, 4));
	for (i = strlen((const char *)data) + 1; i < len; i++)
		need(data[i] == (uint8_t)i);
	printf("QP %d: %u bytes, %s\n", (int)(wc->wr_id / DEPTH), len, data);
}

static void leave(int from, int to, union ibv_gid *group)
{
	for (; from < to; from++)
		need(!ibv_detach_mcast(qps[from], group, 0));
	printf("left\n");
}

static int receive(const char *link, const char *group_text, int num)
{
	union ibv_gid group = group_gid(group_text);
	const struct timespec wait = { .tv_nsec = 1000000 };
	sigset_t signals;
	struct ibv_wc wc;
	int i;

	need(num <= MAX_QPS);
	open_link(link, (size_t)num * DEPTH * SLOT);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	need(!sigprocmask(SIG_BLOCK, &signals, NULL));
	for (i = 0; i < num; i++) {
		qps[i] = make_qp(IBV_QPT_UD, QKEY);
		need(!ibv_attach_mcast(qps[i], &group, 0));
	}
	for (i = 0; i < num * DEPTH; i++)
		post_recv(i / DEPTH, i);
	printf("ready\n");
	for (;;) {
		while (ibv_poll_cq(cq, 1, &wc) == 1) {
			show(&wc, &group);
			post_recv(wc.wr_id / DEPTH, wc.wr_id);
		}
		switch (sigtimedwait(&signals, NULL, &wait)) {
		case SIGUSR1:
			leave(0, 1, &group);
			break;
		case SIGUSR2:
			leave(1, num, &group);
			break;
		}
	}
}

/*
 * send
 */

static int send_to(int argc, char **argv)
{
	int count = atoi(argv[5]), bytes = atoi(argv[6]), i;
	struct ibv_ah_attr ah_attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = group_gid(argv[4]),
			.sgid_index = atoi(argv[3]),
			.hop_limit = argc > 8 ? atoi(argv[8]) : 1,
		},
	};
	struct ibv_send_wr wr[DEPTH] = {}, *bad;
	struct ibv_sge sge;
	struct ibv_ah *ah;

	need(count <= DEPTH && bytes <= SLOT - GRH && bytes > (int)strlen(argv[7]));
	open_link(argv[2], SLOT);
	qps[0] = make_qp(IBV_QPT_UD, QKEY);
	ah = ibv_create_ah(pd, &ah_attr);
	need(ah);
	for (i = 0; i < bytes; i++)
		buf[i] = i;
	memcpy(buf, argv[7], strlen(argv[7]) + 1);
	sge = (struct ibv_sge){ .addr = (uintptr_t)buf, .length = bytes, .lkey = mr->lkey };
	for (i = 0; i < count; i++) {
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < count ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_SEND,
			.sg_list = &sge,
			.num_sge = 1,
			.wr.ud = {
				.ah = ah,
				.remote_qpn = MCAST_QPN,
				.remote_qkey = argc > 9 ? strtoul(argv[9], NULL, 0) : QKEY,
			},
		};
	}
	need(!ibv_post_send(qps[0], wr, &bad));
	for (i = 0; i < count; i++)
		need(next_wc().status == IBV_WC_SUCCESS);
	return 0;
}

/*
 * errors, limits
 */

static int fails(int result, int err)
{
	return result == err || (result == -1 && errno == err);
}

static int errors(const char *link)
{
	union ibv_gid group = group_gid("239.77.0.1"), unicast = group_gid("10.1.1.1");
	union ibv_gid unicast6 = group_gid("fd00::1");
	struct ibv_qp *rc;

	open_link(link, SLOT);
	qps[0] = make_qp(IBV_QPT_UD, QKEY);
	rc = make_qp(IBV_QPT_RC, QKEY);
	need(fails(ibv_attach_mcast(rc, &group, 0), EINVAL));
	need(fails(ibv_attach_mcast(qps[0], &unicast, 0), EINVAL));
	need(fails(ibv_attach_mcast(qps[0], &unicast6, 0), EINVAL));
	need(fails(ibv_detach_mcast(qps[0], &group, 0), EINVAL));

	/* twice is once; with another LID it is the same group */
	need(!ibv_attach_mcast(qps[0], &group, 0));
	need(!ibv_attach_mcast(qps[0], &group, 0));
	need(!ibv_attach_mcast(qps[0], &group, 0xc001));
	need(fails(ibv_destroy_qp(qps[0]), EBUSY));
	need(!ibv_detach_mcast(qps[0], &group, 0));
	need(fails(ibv_detach_mcast(qps[0], &group, 0), EINVAL));
	need(fails(ibv_destroy_qp(qps[0]), EBUSY));
	need(!ibv_detach_mcast(qps[0], &group, 0xc001));
	need(!ibv_destroy_qp(qps[0]));
	return 0;
}

static union ibv_gid nth_group(int n)
{
	union ibv_gid gid = group_gid("239.78.0.0");

	gid.raw[14] = n >> 8;
	gid.raw[15] = n;
	return gid;
}

static int limits(const char *link)
{
	struct ibv_device_attr attr;
	union ibv_gid group;
	int i, num;

	open_link(link, SLOT);
	need(!ibv_query_device(ctx, &attr));
	printf("%d groups, %d QPs in one, %d in all\n", attr.max_mcast_grp,
	       attr.max_mcast_qp_attach, attr.max_total_mcast_qp_attach);
	num = attr.max_mcast_qp_attach;
	need(num > 0 && num < MAX_QPS && attr.max_total_mcast_qp_attach >= num);
	need(attr.max_mcast_grp > 0 && attr.max_mcast_grp < 0x10000);

	group = group_gid("239.77.0.2");
	for (i = 0; i <= num; i++)
		qps[i] = make_qp(IBV_QPT_UD, QKEY);
	for (i = 0; i < num; i++)
		need(!ibv_attach_mcast(qps[i], &group, 0));
	need(fails(ibv_attach_mcast(qps[num], &group, 0), ENOMEM));
	need(!ibv_detach_mcast(qps[0], &group, 0));
	need(!ibv_attach_mcast(qps[num], &group, 0));

	/* one group is there already */
	for (i = 1; i < attr.max_mcast_grp; i++) {
		group = nth_group(i);
		need(!ibv_attach_mcast(qps[i % num], &group, 0));
	}
	group = nth_group(i);
	need(fails(ibv_attach_mcast(qps[0], &group, 0), ENOMEM));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";

	setlinebuf(stdout);
	if (!strcmp(what, "receive") && argc == 6)
		return receive(argv[2], argv[4], atoi(argv[5]));
	if (!strcmp(what, "send") && argc >= 8)
		return send_to(argc, argv);
	if (!strcmp(what, "errors"))
		return errors(argv[2]);
	if (!strcmp(what, "limits"))
		return limits(argv[2]);
	fprintf(stderr, "multicast: wrong arguments\n");
	return 1;
}
