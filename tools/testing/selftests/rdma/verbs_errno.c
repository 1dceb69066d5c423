// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": attributes that are wrong. Each verb says so with the errno of
 * its manual page, and leaves everything as it was.
 */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static int wrong;

/* All are looked at before the test fails. */
static void want(const char *verb, const char *what, int err, int expected)
{
	if (err < 0)
		err = errno;
	if (err == expected)
		return;
	printf("%s, %s: %s", verb, what, err_name(err));
	printf(", expected %s\n", err_name(expected));
	wrong++;
}

static void want_made(const char *verb, const char *what, const void *made, int expected)
{
	int err = made ? 0 : errno;

	want(verb, what, err, expected);
}

/* The counters of all kinds of objects, as the core has them. */
static void objects(struct end *e, char *line, int size)
{
	char command[200];
	FILE *out;

	snprintf(command, sizeof(command), "rdma resource show %s",
		 ibv_get_device_name(e->ctx->device));
	out = popen(command, "r");
	need(out && fgets(line, size, out));
	need(!pclose(out));
}

/*
 * reg_mr
 */

static void try_reg_mr(struct end *a, const char *what, void *addr, size_t len,
		       unsigned int access, int err)
{
	struct ibv_mr *mr = ibv_reg_mr(a->pd, addr, len, access);

	want_made("reg_mr", what, mr, err);
	if (mr)
		verb(ibv_dereg_mr(mr));
}

static void errno_reg_mr(struct end *a)
{
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct {
		const char	*what;
		void		*addr;
		size_t		len;
		unsigned int	access;
		int		err;
	} cases[] = {
		{ "good",			a->buf, 100, ACCESS, 0 },
		{ "a hint that nobody knows",	a->buf, 100, ACCESS | 1 << 25, 0 },
		{ "read-only, for reading",	ro, 4096, IBV_ACCESS_REMOTE_READ, 0 },
		{ "no length",			a->buf, 0, ACCESS, EINVAL },
		{ "remote write without local",	a->buf, 100, IBV_ACCESS_REMOTE_WRITE, EINVAL },
		{ "atomics without local write", a->buf, 100, IBV_ACCESS_REMOTE_ATOMIC, EINVAL },
		{ "an unknown right",		a->buf, 100, ACCESS | 1 << 18, EINVAL },
		{ "wraps",			(void *)-4096L, 8192, ACCESS, EINVAL },
		{ "too long",			a->buf, 1UL << 60, ACCESS, EINVAL },
		{ "longer than the mapping",	a->buf, a->size + (1UL << 40), ACCESS, EFAULT },
		{ "not mapped",			(void *)0x1000, 4096, ACCESS, EFAULT },
		{ "no user's address",		(void *)(1L << 62), 4096, ACCESS, EFAULT },
		{ "read-only, for writing",	ro, 4096, ACCESS, EFAULT },
		{ "neither read nor write",	none, 4096, ACCESS, EFAULT },
	};
	size_t i;

	need(ro != MAP_FAILED && none != MAP_FAILED);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		try_reg_mr(a, cases[i].what, cases[i].addr, cases[i].len, cases[i].access,
			   cases[i].err);
	munmap(ro, 4096);
	munmap(none, 8192);
}

/*
 * CQs and SRQs
 */

static void errno_cq(struct end *a, const struct ibv_device_attr *max)
{
	const struct {
		const char	*what;
		int		cqe;
		int		vector;
		int		err;
	} cases[] = {
		{ "good",		1, 0, 0 },
		{ "no entries",		0, 0, EINVAL },
		{ "too many",		max->max_cqe + 1, 0, EINVAL },
		{ "-1",			-1, 0, EINVAL },
		{ "vector too large",	16, a->ctx->num_comp_vectors, EINVAL },
		{ "vector -1",		16, -1, EINVAL },
	};
	struct ibv_cq *cq;
	size_t i;
	int cqe;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		cq = ibv_create_cq(a->ctx, cases[i].cqe, NULL, NULL, cases[i].vector);
		want_made("create_cq", cases[i].what, cq, cases[i].err);
		if (cq)
			verb(ibv_destroy_cq(cq));
		if (cases[i].vector || cases[i].cqe == 1)
			continue;
		cqe = a->scq->cqe;
		want("resize_cq", cases[i].what, ibv_resize_cq(a->scq, cases[i].cqe),
		     cases[i].err);
		need(a->scq->cqe == cqe);
	}
}

static void errno_create_srq(struct end *a, const struct ibv_device_attr *max)
{
	const struct {
		const char	*what;
		uint32_t	wr;
		uint32_t	sge;
		int		err;
	} cases[] = {
		{ "good",		1, 1, 0 },
		{ "no WRs",		0, 1, EINVAL },
		{ "too many WRs",	max->max_srq_wr + 1, 1, EINVAL },
		{ "WRs -1",		-1, 1, EINVAL },
		{ "too many SGEs",	16, max->max_srq_sge + 1, EINVAL },
		{ "SGEs -1",		16, -1, EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_srq_init_attr init = {
			.attr = { .max_wr = cases[i].wr, .max_sge = cases[i].sge },
		};
		struct ibv_srq *srq = ibv_create_srq(a->pd, &init);

		want_made("create_srq", cases[i].what, srq, cases[i].err);
		if (srq)
			verb(ibv_destroy_srq(srq));
	}
}

static void errno_modify_srq(struct end *a, const struct ibv_device_attr *max)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(a->pd, &init);
	struct ibv_srq_attr before, after;
	const struct {
		const char	*what;
		int		mask;
		uint32_t	wr;
		uint32_t	limit;
		int		err;
	} cases[] = {
		{ "limit above the size",	IBV_SRQ_LIMIT, 0, 10000, EINVAL },
		{ "limit -1",			IBV_SRQ_LIMIT, 0, -1, EINVAL },
		{ "no WRs",			IBV_SRQ_MAX_WR, 0, 0, EINVAL },
		{ "too many WRs",		IBV_SRQ_MAX_WR, max->max_srq_wr + 1, 0, EINVAL },
		{ "WRs -1",			IBV_SRQ_MAX_WR, -1, 0, EINVAL },
		{ "limit above the new size",	IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 100, 10000, EINVAL },
		{ "a bit that does not exist",	1 << 2, 0, 0, EINVAL },
	};
	size_t i;

	need(srq);
	verb(ibv_query_srq(srq, &before));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_srq_attr attr = {
			.max_wr = cases[i].wr, .srq_limit = cases[i].limit,
		};

		want("modify_srq", cases[i].what, ibv_modify_srq(srq, &attr, cases[i].mask),
		     cases[i].err);
		verb(ibv_query_srq(srq, &after));
		need(!memcmp(&before, &after, sizeof(before)));
	}
	verb(ibv_destroy_srq(srq));
}

/*
 * QPs
 */

static void errno_create_qp(struct end *a, const struct ibv_device_attr *max)
{
	const struct {
		const char		*what;
		enum ibv_qp_type	type;
		struct ibv_qp_cap	cap;
		int			err;
	} cases[] = {
		{ "good",		IBV_QPT_RC, { 1, 1, 1, 1, 0 }, 0 },
		{ "no queues",		IBV_QPT_RC, { 0, 0, 0, 0, 0 }, 0 },
		{ "raw packets",	IBV_QPT_RAW_PACKET, { 1, 1, 1, 1, 0 }, EOPNOTSUPP },
		{ "vendor's type",	IBV_QPT_DRIVER, { 1, 1, 1, 1, 0 }, EOPNOTSUPP },
		{ "no such type",	99, { 1, 1, 1, 1, 0 }, EINVAL },
		{ "type 0",		0, { 1, 1, 1, 1, 0 }, EINVAL },
		{ "send WRs",		IBV_QPT_RC, { max->max_qp_wr + 1, 1, 1, 1, 0 }, EINVAL },
		{ "receive WRs",	IBV_QPT_UC, { 1, max->max_qp_wr + 1, 1, 1, 0 }, EINVAL },
		{ "send SGEs",		IBV_QPT_UD, { 1, 1, max->max_sge + 1, 1, 0 }, EINVAL },
		{ "receive SGEs",	IBV_QPT_RC, { 1, 1, 1, max->max_sge + 1, 0 }, EINVAL },
		{ "send WRs -1",	IBV_QPT_RC, { -1, 1, 1, 1, 0 }, EINVAL },
		{ "receive WRs -1",	IBV_QPT_RC, { 1, -1, 1, 1, 0 }, EINVAL },
		{ "send SGEs -1",	IBV_QPT_RC, { 1, 1, -1, 1, 0 }, EINVAL },
		{ "receive SGEs -1",	IBV_QPT_RC, { 1, 1, 1, -1, 0 }, EINVAL },
		{ "inline 1 MiB",	IBV_QPT_RC, { 1, 1, 1, 1, 1 << 20 }, EINVAL },
		{ "inline -1",		IBV_QPT_RC, { 1, 1, 1, 1, -1 }, EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_qp_init_attr init = {
			.qp_type = cases[i].type, .cap = cases[i].cap,
			.send_cq = a->scq, .recv_cq = a->rcq,
		};
		struct ibv_qp *qp = ibv_create_qp(a->pd, &init);

		want_made("create_qp", cases[i].what, qp, cases[i].err);
		if (qp)
			verb(ibv_destroy_qp(qp));
	}
}

/* A transition that succeeds with @good and the bits of @mask, all of which it needs. */
struct step {
	const char		*name;
	struct ibv_qp_attr	good;
	int			mask;
};

#define ALL_ATTRS	(2 * IBV_QP_DEST_QPN - 1)

static void try_modify(struct end *a, const char *step, const char *what,
		       struct ibv_qp_attr *attr, int mask, int err)
{
	struct ibv_qp_attr before, after;
	struct ibv_qp_init_attr init;
	char name[100];

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	verb(ibv_query_qp(a->qp, &before, ALL_ATTRS, &init));
	snprintf(name, sizeof(name), "modify_qp %s", step);
	want(name, what, ibv_modify_qp(a->qp, attr, mask), err);
	verb(ibv_query_qp(a->qp, &after, ALL_ATTRS, &init));
	if (memcmp(&before, &after, sizeof(before)))
		die("%s, %s: the QP has changed", name, what);
}

/* One attribute after the other is not given, or is one too many. */
static void incomplete(struct end *a, const struct step *step)
{
	struct ibv_qp_attr attr = step->good;
	char what[40];
	int bit;

	for (bit = IBV_QP_CUR_STATE; bit < IBV_QP_DEST_QPN * 2; bit <<= 1) {
		if (!(step->mask & bit))
			continue;
		snprintf(what, sizeof(what), "without %#x", bit);
		try_modify(a, step->name, what, &attr, step->mask & ~bit, EINVAL);
	}
	try_modify(a, step->name, "with a bit that does not exist", &attr,
		   step->mask | 1 << 30, EOPNOTSUPP);
}

/* VALUE in FIELD is wrong */
#define BAD(step, field, value, error) do {						\
	struct ibv_qp_attr attr = (step)->good;						\
											\
	attr.field = (value);								\
	try_modify(a, (step)->name, #field " " #value, &attr, (step)->mask, error);	\
} while (0)

static void errno_init(struct end *a)
{
	const struct step step = {
		.name = "RESET-INIT",
		.good = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS },
		.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	};

	incomplete(a, &step);
	BAD(&step, port_num, 0, EINVAL);
	BAD(&step, port_num, 2, EINVAL);
	BAD(&step, port_num, 255, EINVAL);
	BAD(&step, pkey_index, 1, EINVAL);
	BAD(&step, pkey_index, 0xffff, EINVAL);
	BAD(&step, qp_access_flags, 1 << 18, EOPNOTSUPP);
	BAD(&step, qp_state, IBV_QPS_RTR, EINVAL);
	BAD(&step, qp_state, IBV_QPS_RTS, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQE, EINVAL);
	BAD(&step, qp_state, 99, EINVAL);
}

static void errno_rtr(struct end *a, struct end *b)
{
	const struct step step = {
		.name = "INIT-RTR",
		.good = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = a->mtu < b->mtu ? a->mtu : b->mtu,
			.dest_qp_num = b->qp->qp_num,
			.rq_psn = 1,
			.max_dest_rd_atomic = 4,
			.min_rnr_timer = 12,
			.ah_attr = {
				.is_global = 1, .port_num = 1,
				.grh = { .dgid = b->gid, .sgid_index = a->gid_index,
					 .hop_limit = 64 },
			},
		},
		.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	};

	incomplete(a, &step);
	BAD(&step, path_mtu, 0, EINVAL);
	BAD(&step, path_mtu, 6, EINVAL);
	BAD(&step, path_mtu, 255, EINVAL);
	BAD(&step, max_dest_rd_atomic, 17, EINVAL);
	BAD(&step, max_dest_rd_atomic, 255, EINVAL);
	BAD(&step, min_rnr_timer, 32, EINVAL);
	BAD(&step, min_rnr_timer, 255, EINVAL);
	BAD(&step, ah_attr.is_global, 0, EINVAL);
	BAD(&step, ah_attr.port_num, 0, EINVAL);
	BAD(&step, ah_attr.port_num, 2, EINVAL);
	BAD(&step, ah_attr.grh.dgid.raw[0], 0xff, EINVAL);	/* multicast */
	BAD(&step, qp_state, IBV_QPS_RTS, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
}

static void errno_rts(struct end *a)
{
	const struct step step = {
		.name = "RTR-RTS",
		.good = { .qp_state = IBV_QPS_RTS, .sq_psn = 1, .timeout = 14, .retry_cnt = 7,
			  .rnr_retry = 7, .max_rd_atomic = 4 },
		.mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	};

	incomplete(a, &step);
	BAD(&step, timeout, 32, EINVAL);
	BAD(&step, timeout, 255, EINVAL);
	BAD(&step, retry_cnt, 8, EINVAL);
	BAD(&step, rnr_retry, 8, EINVAL);
	BAD(&step, max_rd_atomic, 17, EINVAL);
	BAD(&step, max_rd_atomic, 255, EINVAL);
	BAD(&step, qp_state, IBV_QPS_INIT, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
}

static void errno_at_rts(struct end *a)
{
	const struct {
		const char		*what;
		struct ibv_qp_attr	attr;
		int			mask;
		int			err;
	} cases[] = {
		{ "back to INIT",	{ .qp_state = IBV_QPS_INIT }, IBV_QP_STATE, EINVAL },
		{ "back to RTR",	{ .qp_state = IBV_QPS_RTR }, IBV_QP_STATE, EINVAL },
		{ "a state that is not the present one",
		  { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE },
		  IBV_QP_STATE | IBV_QP_CUR_STATE, EINVAL },
		{ "RNR timer",		{ .min_rnr_timer = 32 }, IBV_QP_MIN_RNR_TIMER, EINVAL },
		{ "rights",		{ .qp_access_flags = 1 << 18 }, IBV_QP_ACCESS_FLAGS,
		  EOPNOTSUPP },
		{ "a Q_Key",		{ .qkey = 1 }, IBV_QP_QKEY, EINVAL },
		{ "another port",	{ .port_num = 2 }, IBV_QP_PORT, EINVAL },
		{ "another peer",	{ .dest_qp_num = 1 }, IBV_QP_DEST_QPN, EINVAL },
		{ "another PSN",	{ .sq_psn = 1 }, IBV_QP_SQ_PSN, EINVAL },
		{ "another path MTU",	{ .path_mtu = IBV_MTU_256 }, IBV_QP_PATH_MTU, EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_qp_attr attr = cases[i].attr;

		try_modify(a, "RTS", cases[i].what, &attr, cases[i].mask, cases[i].err);
	}
}

/*
 * Work requests
 */

static void errno_post_send(struct end *a, struct end *b)
{
	struct ibv_sge sge[9] = { sge_at(a, 0, 8), sge_at(a, 0, 8) }, odd = sge_at(a, 0, 7);
	const struct {
		const char		*what;
		enum ibv_wr_opcode	opcode;
		unsigned int		flags;
		struct ibv_sge		*sge;
		int			num;
		size_t			at;
	} cases[] = {
		{ "too many SGEs",	IBV_WR_SEND, 0, sge, 9, 0 },
		{ "inline too long",	IBV_WR_SEND, IBV_SEND_INLINE,
		  &(struct ibv_sge){ (uintptr_t)a->buf, 10000, a->mr->lkey }, 1, 0 },
		{ "atomic of 7 bytes",	IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &odd, 1, 0 },
		{ "atomic not aligned",	IBV_WR_ATOMIC_CMP_AND_SWP, 0, sge, 1, 4 },
	};
	struct ibv_send_wr *bad;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_send_wr wr = {
			.wr_id = 77, .opcode = cases[i].opcode,
			.sg_list = cases[i].sge, .num_sge = cases[i].num,
			.send_flags = IBV_SEND_SIGNALED | cases[i].flags,
			.wr.atomic = { .remote_addr = (uintptr_t)b->buf + cases[i].at,
				       .rkey = b->mr->rkey },
		};

		bad = NULL;
		want("post_send", cases[i].what, ibv_post_send(a->qp, &wr, &bad), EINVAL);
		need(bad == &wr);
	}
	no_wc(a->scq, 10);
}

static void errno_post_recv(struct end *a)
{
	struct ibv_sge sge[9] = { };
	struct ibv_recv_wr wr = { .num_sge = 9, .sg_list = sge }, *bad = NULL;
	int i, err = 0;

	want("post_recv", "too many SGEs", ibv_post_recv(a->qp, &wr, &bad), EINVAL);
	need(bad == &wr);
	wr.num_sge = 0;
	bad = NULL;
	for (i = 0; i < 100000 && !err; i++)
		err = ibv_post_recv(a->qp, &wr, &bad);
	want("post_recv", "the queue is full", err, ENOMEM);
	need(bad == &wr);
}

/*
 * Others
 */

static void errno_ah(struct end *a, struct end *b)
{
	const struct ibv_ah_attr good = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid, .sgid_index = a->gid_index, .hop_limit = 64 },
	};
	static const char * const names[] = { "good", "port 0", "port 2", "not global" };
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	int i;

	for (i = 0; i < 4; i++) {
		attr = good;
		switch (i) {
		case 1:
			attr.port_num = 0;
			break;
		case 2:
			attr.port_num = 2;
			break;
		case 3:
			attr.is_global = 0;
			break;
		}
		ah = ibv_create_ah(a->pd, &attr);
		want_made("create_ah", names[i], ah, i ? EINVAL : 0);
		if (ah)
			verb(ibv_destroy_ah(ah));
	}
}

static void errno_query(struct end *a)
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr port;
	__be16 pkey;

	want("query_port", "port 0", ibv_query_port(a->ctx, 0, &port), EINVAL);
	want("query_port", "port 2", ibv_query_port(a->ctx, 2, &port), EINVAL);
	want("query_port", "port 255", ibv_query_port(a->ctx, 255, &port), EINVAL);
	want("query_gid_ex", "port 2", ibv_query_gid_ex(a->ctx, 2, 0, &entry, 0), EINVAL);
	want("query_gid_ex", "index 256", ibv_query_gid_ex(a->ctx, 1, 256, &entry, 0), EINVAL);
	want("query_gid_ex", "an empty index", ibv_query_gid_ex(a->ctx, 1, 255, &entry, 0),
	     ENODATA);
	need(ibv_query_pkey(a->ctx, 1, 1, &pkey));
}

static void errno_mcast(struct end *a)
{
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 1 } };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = a->scq, .recv_cq = a->rcq,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *ud = ibv_create_qp(a->pd, &init);

	need(ud);
	want("attach_mcast", "RC", ibv_attach_mcast(a->qp, &group, 0), EINVAL);
	want("attach_mcast", "a unicast GID", ibv_attach_mcast(ud, &a->gid, 0), EINVAL);
	want("detach_mcast", "not attached", ibv_detach_mcast(ud, &group, 0), EINVAL);
	want("detach_mcast", "a unicast GID", ibv_detach_mcast(ud, &a->gid, 0), EINVAL);
	verb(ibv_destroy_qp(ud));
}

static void errno_mw(struct end *a)
{
	struct ibv_mw *mw = ibv_alloc_mw(a->pd, 99);

	want_made("alloc_mw", "no such type", mw, EINVAL);
	mw = ibv_alloc_mw(a->pd, 0);
	want_made("alloc_mw", "type 0", mw, EINVAL);
}

/* What others use stays. */
static void errno_in_use(struct end *a)
{
	want("dealloc_pd", "in use", ibv_dealloc_pd(a->pd), EBUSY);
	want("destroy_cq", "in use", ibv_destroy_cq(a->scq), EBUSY);
	want("destroy_comp_channel", "in use", ibv_destroy_comp_channel(a->channel), EBUSY);
}

static void test_wrong_input(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536, .sges = 8, .inline_data = 64 };
	char before[200], after[200];
	struct ibv_device_attr max;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	verb(ibv_query_device(a->ctx, &max));
	objects(a, before, sizeof(before));
	errno_reg_mr(a);
	errno_cq(a, &max);
	errno_create_srq(a, &max);
	errno_modify_srq(a, &max);
	errno_create_qp(a, &max);
	errno_ah(a, b);
	errno_query(a);
	errno_mcast(a);
	errno_mw(a);
	errno_in_use(a);

	errno_init(a);
	end_init(a);
	end_init(b);
	errno_rtr(a, b);
	end_rtr(a, b, &how);
	end_rtr(b, a, &how);
	errno_rts(a);
	end_rts(a, &how);
	end_rts(b, &how);
	errno_at_rts(a);
	errno_post_send(a, b);
	errno_post_recv(a);

	objects(a, after, sizeof(after));
	if (strcmp(before, after))
		die("objects before: %sand now: %s", before, after);
	/* all still works */
	post_recv(b, 1, 0, 10000);
	fill(a->buf, 10000, 0);
	post_send(a, IBV_WR_SEND, 2, 0, 10000, NULL);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	need(same(b->buf, 10000, 0));
	pair_unmake(a, b);
	if (wrong)
		die("%d were not as expected", wrong);
}

const struct test errno_tests[] = {
	{ "wrong_input", test_wrong_input },
	{ }
};
