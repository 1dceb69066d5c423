// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": attributes that are wrong. Each verb says so with the errno of
 * its manual page, and leaves everything as it was.
 */
#include "verbs.h"

#include <endian.h>
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

/* MAKE fails with that errno, or, if it is 0, makes something that UNMAKE takes away. */
#define want_made(name, what, make, expected, unmake) do {				\
	__auto_type made = (make);							\
											\
	want(name, what, made ? 0 : errno, expected);					\
	if (made)									\
		verb(unmake(made));							\
} while (0)

/* for_each_case(CASE, TABLE) statement: CASE points at each element in turn */
#define for_each_case(c, cases)								\
	for (const __typeof__(*(cases)) *(c) = (cases); (c) < (cases) + ARRAY_SIZE(cases); (c)++)

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

	need(ro != MAP_FAILED && none != MAP_FAILED);
	for_each_case(c, cases)
		want_made("reg_mr", c->what, ibv_reg_mr(a->pd, c->addr, c->len, c->access),
			  c->err, ibv_dereg_mr);
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
	int cqe = a->scq->cqe;

	for_each_case(c, cases) {
		want_made("create_cq", c->what,
			  ibv_create_cq(a->ctx, c->cqe, NULL, NULL, c->vector), c->err,
			  ibv_destroy_cq);
		if (c->vector || c->cqe == 1)
			continue;
		want("resize_cq", c->what, ibv_resize_cq(a->scq, c->cqe), c->err);
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

	for_each_case(c, cases) {
		struct ibv_srq_init_attr init = {
			.attr = { .max_wr = c->wr, .max_sge = c->sge },
		};

		want_made("create_srq", c->what, ibv_create_srq(a->pd, &init), c->err,
			  ibv_destroy_srq);
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

	need(srq);
	verb(ibv_query_srq(srq, &before));
	for_each_case(c, cases) {
		struct ibv_srq_attr attr = {
			.max_wr = c->wr, .srq_limit = c->limit,
		};

		want("modify_srq", c->what, ibv_modify_srq(srq, &attr, c->mask),
		     c->err);
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

	for_each_case(c, cases) {
		struct ibv_qp_init_attr init = {
			.qp_type = c->type, .cap = c->cap,
			.send_cq = a->scq, .recv_cq = a->rcq,
		};

		want_made("create_qp", c->what, ibv_create_qp(a->pd, &init), c->err,
			  ibv_destroy_qp);
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

	for_each_case(c, cases) {
		struct ibv_qp_attr attr = c->attr;

		try_modify(a, "RTS", c->what, &attr, c->mask, c->err);
	}
}

/*
 * Work requests
 */

static void errno_post_send(struct end *a, struct end *b)
{
	struct ibv_sge sge[9] = { sge_at(a, 0, 8), sge_at(a, 0, 8) }, odd = sge_at(a, 0, 7);
	struct ibv_sge empty = sge_at(a, 0, 0);
	const struct {
		const char		*what;
		enum ibv_wr_opcode	opcode;
		unsigned int		flags;
		struct ibv_sge		*sge;
		int			num;
		size_t			at;
		uint32_t		imm;
	} cases[] = {
		{ "too many SGEs",	IBV_WR_SEND, 0, sge, 9, 0 },
		{ "inline too long",	IBV_WR_SEND, IBV_SEND_INLINE,
		  &(struct ibv_sge){ (uintptr_t)a->buf, 10000, a->mr->lkey }, 1, 0 },
		{ "atomic of 7 bytes",	IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &odd, 1, 0 },
		{ "atomic not aligned",	IBV_WR_ATOMIC_CMP_AND_SWP, 0, sge, 1, 4 },
		{ "bind with data",	IBV_WR_BIND_MW, 0, sge, 1 },
		{ "bind with an SGE",	IBV_WR_BIND_MW, 0, &empty, 1 },
		{ "bind with immediate", IBV_WR_BIND_MW, .imm = htobe32(1) },
	};
	const struct ibv_send_wr write = send_wr(IBV_WR_RDMA_WRITE, 76, NULL, 0, b, 0);
	struct ibv_send_wr *bad;

	for_each_case(c, cases) {
		struct ibv_send_wr wr[] = { write, {
			.wr_id = 77, .opcode = c->opcode, .next = &wr[2], .imm_data = c->imm,
			.sg_list = c->sge, .num_sge = c->num,
			.send_flags = IBV_SEND_SIGNALED | c->flags,
			.wr.atomic = { .remote_addr = (uintptr_t)b->buf + c->at,
				       .rkey = b->mr->rkey },
		}, write };

		wr[0].next = &wr[1];
		bad = NULL;
		want("post_send", c->what, ibv_post_send(a->qp, wr, &bad), EINVAL);
		need(bad == &wr[1]);
		/* what stands before it is done, what follows is not */
		want_wc(a->scq, write.wr_id, IBV_WC_SUCCESS);
	}
	no_wc(a->scq, 10);
}

/* In SQD the queue only takes. */
static void errno_send_queue_full(struct end *a, struct end *b)
{
	struct ibv_send_wr wr = send_wr(IBV_WR_RDMA_WRITE, 0, NULL, 0, b, 0), *bad = NULL;
	unsigned int i;
	int err;

	end_state(a, IBV_QPS_SQD);
	while (!(err = ibv_post_send(a->qp, &wr, &bad)) && wr.wr_id < 100000)
		wr.wr_id++;
	want("post_send", "the queue is full", err, ENOMEM);
	need(bad == &wr);
	end_state(a, IBV_QPS_RTS);
	for (i = 0; i < wr.wr_id; i++)
		want_wc(a->scq, i, IBV_WC_SUCCESS);
	no_wc(a->scq, 10);
}

/*
 * To the QP's own queue, or to the SRQ: one WR among others has an SGE more than @sges,
 * then there are more than fit.
 *
 * Return: how many did.
 */
static unsigned int too_many_recvs(const char *name, struct ibv_qp *qp, struct ibv_srq *srq,
				   int sges)
{
	struct ibv_sge sge[100] = { };
	struct ibv_recv_wr wr[] = {
		{ .next = &wr[1] },
		{ .next = &wr[2], .sg_list = sge, .num_sge = sges + 1 },
		{ },
	}, *bad;
	unsigned int posted = 0;
	int err;

	need((size_t)sges < ARRAY_SIZE(sge));
#define POST(first) (bad = NULL, srq ? ibv_post_srq_recv(srq, first, &bad) :	\
				       ibv_post_recv(qp, first, &bad))
	want(name, "too many SGEs", POST(wr), EINVAL);
	need(bad == &wr[1]);
	do {
		posted++;
		err = POST(&wr[2]);
	} while (!err && posted < 100000);
	want(name, "the queue is full", err, ENOMEM);
	need(bad == &wr[2]);
	want(name, "the queue is full, a list", POST(wr), ENOMEM);
	need(bad == &wr[0]);
#undef POST
	return posted;
}

static void errno_post_recv(struct end *a)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(a->pd, &init);
	struct ibv_qp_init_attr qp_init;
	struct ibv_srq_attr srq_attr;
	struct ibv_qp_attr attr;

	verb(ibv_query_qp(a->qp, &attr, IBV_QP_CAP, &qp_init));
	need(too_many_recvs("post_recv", a->qp, NULL, attr.cap.max_recv_sge) ==
	     attr.cap.max_recv_wr);

	need(srq);
	verb(ibv_query_srq(srq, &srq_attr));
	need(too_many_recvs("post_srq_recv", NULL, srq, srq_attr.max_sge) == srq_attr.max_wr);
	verb(ibv_destroy_srq(srq));
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
		want_made("create_ah", names[i], ibv_create_ah(a->pd, &attr), i ? EINVAL : 0,
			  ibv_destroy_ah);
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

static struct ibv_qp *make_ud(struct end *a)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = a->scq, .recv_cq = a->rcq,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *ud = ibv_create_qp(a->pd, &init);

	need(ud);
	return ud;
}

static void errno_mcast(struct end *a)
{
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 1 } };
	struct ibv_qp *ud = make_ud(a);

	want("attach_mcast", "RC", ibv_attach_mcast(a->qp, &group, 0), EINVAL);
	want("attach_mcast", "a unicast GID", ibv_attach_mcast(ud, &a->gid, 0), EINVAL);
	want("detach_mcast", "not attached", ibv_detach_mcast(ud, &group, 0), EINVAL);
	want("detach_mcast", "a unicast GID", ibv_detach_mcast(ud, &a->gid, 0), EINVAL);
	verb(ibv_destroy_qp(ud));
}

static void errno_alloc_mw(struct end *a)
{
	want_made("alloc_mw", "no such type", ibv_alloc_mw(a->pd, 99), EINVAL, ibv_dealloc_mw);
	want_made("alloc_mw", "type 0", ibv_alloc_mw(a->pd, 0), EINVAL, ibv_dealloc_mw);
}

/* What the library refuses. For what the device does see verbs_window.c. */
static void errno_bind_mw(struct end *a)
{
	struct ibv_mw *one = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
	struct ibv_mw *two = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_mr *other = ibv_reg_mr(pd, a->buf, 100, ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_qp *ud = make_ud(a);
	const uintptr_t at = (uintptr_t)a->buf;
	const struct {
		const char		*what;
		struct ibv_qp		*qp;
		struct ibv_mw		*mw;
		struct ibv_mw_bind_info	info;
		int			err;
	} cases[] = {
		{ "type 2",		a->qp, two, { a->mr, at, 100, ACCESS }, EINVAL },
		{ "address but no MR",	a->qp, one, { NULL, at, 0, 0 }, EINVAL },
		{ "length but no MR",	a->qp, one, { NULL, 0, 100, 0 }, EINVAL },
		{ "MR of another PD",	a->qp, one, { other, at, 100, ACCESS }, EPERM },
		{ "zero-based",		a->qp, one,
		  { a->mr, at, 100, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED }, EINVAL },
		{ "UD",			ud, one, { a->mr, at, 100, IBV_ACCESS_REMOTE_READ }, EINVAL },
	};

	need(one && two && other);
	for_each_case(c, cases) {
		struct ibv_mw_bind bind = {
			.wr_id = 77, .send_flags = IBV_SEND_SIGNALED, .bind_info = c->info,
		};
		uint32_t key = c->mw->rkey;

		want("bind_mw", c->what, ibv_bind_mw(c->qp, c->mw, &bind), c->err);
		need(c->mw->rkey == key);
	}
	no_wc(a->scq, 10);
	verb(ibv_destroy_qp(ud));
	verb(ibv_dereg_mr(other));
	verb(ibv_dealloc_pd(pd));
	verb(ibv_dealloc_mw(one));
	verb(ibv_dealloc_mw(two));
}

/* The library has no entry for it, whatever is asked: odp_prefetch asks the kernel. */
static void errno_advise_mr(struct end *a)
{
	struct ibv_sge sge = sge_at(a, 0, 100);

	want("advise_mr", "not in the library",
	     ibv_advise_mr(a->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EOPNOTSUPP);
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
	errno_alloc_mw(a);
	errno_advise_mr(a);
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
	errno_bind_mw(a);
	errno_post_send(a, b);
	errno_send_queue_full(a, b);
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
