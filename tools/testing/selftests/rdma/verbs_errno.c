// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": attributes that are wrong. Each verb says so with the errno of
 * its manual page, and leaves everything as it was.
 */
#define _GNU_SOURCE
#include "verbs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if __has_include("../../../rdma/reg_dmabuf_mr.h")
#include "../../../rdma/reg_dmabuf_mr.h"
#define HAVE_UVERBS_CALL
#endif

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

/* What the type says: with UC there is none. */
static void errno_qp_with_srq(struct end *a)
{
	static const struct {
		const char		*what;
		enum ibv_qp_type	type;
		int			err;
	} cases[] = {
		{ "RC with an SRQ",	IBV_QPT_RC, 0 },
		{ "UD with an SRQ",	IBV_QPT_UD, 0 },
		{ "UC with an SRQ",	IBV_QPT_UC, EINVAL },
	};
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a->pd, &attr);

	need(srq);
	for_each_case(c, cases) {
		struct ibv_qp_init_attr init = {
			.qp_type = c->type, .srq = srq, .cap = { 1, 0, 1, 0, 0 },
			.send_cq = a->scq, .recv_cq = a->rcq,
		};

		want_made("create_qp", c->what, ibv_create_qp(a->pd, &init), c->err,
			  ibv_destroy_qp);
	}
	verb(ibv_destroy_srq(srq));
}

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
	errno_qp_with_srq(a);
}

/*
 * A transition that succeeds with @good and the bits of @mask, all of which it needs.
 * Those of @optional may be there too.
 */
struct step {
	const char		*name;
	struct ibv_qp_attr	good;
	int			mask;
	int			optional;
};

#define ALL_ATTRS	(2 * IBV_QP_DEST_QPN - 1)

static void try_modify(struct end *a, const char *step, const char *what,
		       struct ibv_qp_attr *attr, int mask, int err)
{
	struct ibv_qp_attr before, after;
	struct ibv_qp_init_attr init;
	static const char *const types[] = {
		[IBV_QPT_RC] = "RC", [IBV_QPT_UC] = "UC", [IBV_QPT_UD] = "UD",
	};
	char name[100];

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	verb(ibv_query_qp(a->qp, &before, ALL_ATTRS, &init));
	snprintf(name, sizeof(name), "modify_qp %s %s", types[a->qp->qp_type], step);
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
		if (step->optional & bit)
			continue;
		snprintf(what, sizeof(what), "%s %#x", step->mask & bit ? "without" : "with", bit);
		try_modify(a, step->name, what, &attr, step->mask ^ bit, EINVAL);
	}
	attr.path_mig_state = IBV_MIG_REARM;
	if (step->optional & IBV_QP_PATH_MIG_STATE)
		try_modify(a, step->name, "path migration", &attr,
			   step->mask | IBV_QP_PATH_MIG_STATE, EOPNOTSUPP);
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

/* Where nothing leads to from here */
static void errno_transitions(struct end *a)
{
	static const int allowed[] = {
		[IBV_QPS_RESET]	= 1 << IBV_QPS_RESET | 1 << IBV_QPS_INIT,
		[IBV_QPS_INIT]	= 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR,
		[IBV_QPS_RTR]	= 1 << IBV_QPS_RTS,
		[IBV_QPS_RTS]	= 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD,
		[IBV_QPS_SQD]	= 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD,
		[IBV_QPS_SQE]	= 1 << IBV_QPS_RTS,
		[IBV_QPS_ERR]	= 0,
	};
	enum ibv_qp_state from = end_get_state(a);
	struct ibv_qp_attr attr = { };
	char step[40];
	int to;

	for (to = IBV_QPS_INIT; to < 100; to++) {
		/* from all states but RESET to ERR, from all to RESET */
		if (to == IBV_QPS_ERR ? from != IBV_QPS_RESET :
		    to < IBV_QPS_ERR && allowed[from] & 1 << to)
			continue;
		attr.qp_state = to;
		snprintf(step, sizeof(step), "%d-%d", from, to);
		try_modify(a, step, "no such transition", &attr, IBV_QP_STATE, EINVAL);
	}
}

static void errno_init(struct end *a)
{
	bool ud = a->qp->qp_type == IBV_QPT_UD;
	const struct step step = {
		.name = "RESET-INIT",
		.good = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
			  .qp_access_flags = ACCESS },
		.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			(ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
	};

	incomplete(a, &step);
	BAD(&step, port_num, 0, EINVAL);
	BAD(&step, port_num, 2, EINVAL);
	BAD(&step, port_num, 255, EINVAL);
	BAD(&step, pkey_index, 1, EINVAL);
	BAD(&step, pkey_index, 0xffff, EINVAL);
	if (!ud)
		BAD(&step, qp_access_flags, 1 << 18, EOPNOTSUPP);
	BAD(&step, qp_state, IBV_QPS_RTR, EINVAL);
	BAD(&step, qp_state, IBV_QPS_RTS, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQE, EINVAL);
	BAD(&step, qp_state, 99, EINVAL);
}

/* A GID of the other version of IP */
static int other_ip_version(struct end *e)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;
	int i;

	for (i = 0; i < 256; i++)
		if (!ibv_query_gid_ex(e->ctx, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 && entry.gid.raw[0] != 0xfe &&
		    !memcmp(&entry.gid, mapped, 12) != !memcmp(&e->gid, mapped, 12))
			return i;
	die("there is no GID of the other version of IP");
}

/* Wrong addresses, for create_ah and modify_qp: see bad_path(). */
static const struct {
	const char	*what;
	int		err;
} bad_paths[] = {
	{ "port 0", EINVAL },
	{ "port 2", EINVAL },
	{ "not global", EINVAL },
	{ "an empty GID index", ENODATA },
	{ "to an address of the other version of IP", EINVAL },
	{ "from an address of the other version of IP", EINVAL },
	{ "to nowhere", EINVAL },
};

static struct ibv_ah_attr path_to(struct end *a, struct end *b)
{
	return (struct ibv_ah_attr){
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid, .sgid_index = a->gid_index, .hop_limit = 64 },
	};
}

static struct ibv_ah_attr bad_path(struct end *a, struct end *b, size_t i)
{
	struct ibv_ah_attr attr = path_to(a, b);

	switch (i) {
	case 0:
	case 1:
		attr.port_num = 2 * i;
		break;
	case 2:
		attr.is_global = 0;
		break;
	case 3:
		attr.grh.sgid_index = 255;
		break;
	case 4:
		verb(ibv_query_gid(b->ctx, 1, other_ip_version(b), &attr.grh.dgid));
		break;
	case 5:
		attr.grh.sgid_index = other_ip_version(a);
		break;
	case 6:
		memset(&attr.grh.dgid, 0, sizeof(attr.grh.dgid));
		break;
	}
	return attr;
}

static struct step rtr_step(struct end *a, struct end *b)
{
	bool rc = a->qp->qp_type == IBV_QPT_RC, ud = a->qp->qp_type == IBV_QPT_UD;

	return (struct step){
		.name = "INIT-RTR",
		.good = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = a->mtu < b->mtu ? a->mtu : b->mtu,
			.dest_qp_num = b->qp->qp_num,
			.rq_psn = 1,
			.max_dest_rd_atomic = 4,
			.min_rnr_timer = 12,
			.ah_attr = path_to(a, b),
			.alt_ah_attr = path_to(a, b),
			.alt_port_num = 1,
		},
		.mask = IBV_QP_STATE | (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN) |
			(rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0),
		.optional = IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
	};
}

static void errno_rtr(struct end *a, struct end *b)
{
	const struct step step = rtr_step(a, b);
	struct ibv_qp_attr attr = step.good;
	size_t i;

	/* an alternate path is one too many too */
	incomplete(a, &step);
	BAD(&step, qp_state, IBV_QPS_RTS, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
	if (a->qp->qp_type == IBV_QPT_UD)
		return;
	BAD(&step, path_mtu, 0, EINVAL);
	BAD(&step, path_mtu, 6, EINVAL);
	BAD(&step, path_mtu, 255, EINVAL);
	for (i = 0; i < ARRAY_SIZE(bad_paths); i++) {
		attr.ah_attr = bad_path(a, b, i);
		try_modify(a, step.name, bad_paths[i].what, &attr, step.mask, bad_paths[i].err);
	}
	BAD(&step, ah_attr.grh.dgid.raw[0], 0xff, EINVAL);	/* multicast */
	if (a->qp->qp_type == IBV_QPT_UC)
		return;
	BAD(&step, max_dest_rd_atomic, 17, EINVAL);
	BAD(&step, max_dest_rd_atomic, 255, EINVAL);
	BAD(&step, min_rnr_timer, 32, EINVAL);
	BAD(&step, min_rnr_timer, 255, EINVAL);
}

/* What may change with and in RTS; an alternate path may not, as the device has none. */
static int optional_at_rts(const struct end *a)
{
	switch (a->qp->qp_type) {
	case IBV_QPT_RC:
		return IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE |
		       IBV_QP_MIN_RNR_TIMER;
	case IBV_QPT_UC:
		return IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE;
	default:
		return IBV_QP_CUR_STATE | IBV_QP_QKEY;
	}
}

static void errno_rts(struct end *a)
{
	bool rc = a->qp->qp_type == IBV_QPT_RC;
	const struct step step = {
		.name = "RTR-RTS",
		.good = { .qp_state = IBV_QPS_RTS, .sq_psn = 1, .timeout = 14, .retry_cnt = 7,
			  .rnr_retry = 7, .max_rd_atomic = 4 },
		.mask = IBV_QP_STATE | IBV_QP_SQ_PSN |
			(rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_MAX_QP_RD_ATOMIC : 0),
		.optional = optional_at_rts(a),
	};

	incomplete(a, &step);
	BAD(&step, qp_state, IBV_QPS_INIT, EINVAL);
	BAD(&step, qp_state, IBV_QPS_SQD, EINVAL);
	if (!rc)
		return;
	BAD(&step, timeout, 32, EINVAL);
	BAD(&step, timeout, 255, EINVAL);
	BAD(&step, retry_cnt, 8, EINVAL);
	BAD(&step, rnr_retry, 8, EINVAL);
	BAD(&step, max_rd_atomic, 17, EINVAL);
	BAD(&step, max_rd_atomic, 255, EINVAL);
}

/* The state alone is enough for this one. */
static void errno_state_alone(struct end *a, const char *name, enum ibv_qp_state to, int optional)
{
	const struct step step = {
		.name = name, .good = { .qp_state = to }, .mask = IBV_QP_STATE,
		.optional = optional,
	};

	incomplete(a, &step);
}

static void errno_sqd(struct end *a)
{
	static const int optional[] = {
		[IBV_QPT_RC] = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
			       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
			       IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE,
		[IBV_QPT_UC] = IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
			       IBV_QP_PATH_MIG_STATE,
		[IBV_QPT_UD] = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
	};

	errno_state_alone(a, "RTS-SQD", IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	end_state(a, IBV_QPS_SQD);
	errno_transitions(a);
	errno_state_alone(a, "SQD-SQD", IBV_QPS_SQD, optional[a->qp->qp_type]);
	errno_state_alone(a, "SQD-RTS", IBV_QPS_RTS, optional_at_rts(a));
	end_state(a, IBV_QPS_RTS);
}

/* A READ is for RC: others stop sending. */
static void errno_sqe(struct end *a, struct end *b)
{
	post_send(a, IBV_WR_RDMA_READ, 1, 0, 8, b);
	want_wc(a->scq, 1, IBV_WC_LOC_QP_OP_ERR);
	need(end_get_state(a) == IBV_QPS_SQE);
	errno_transitions(a);
	errno_state_alone(a, "SQE-RTS", IBV_QPS_RTS, IBV_QP_CUR_STATE |
			  (a->qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	end_state(a, IBV_QPS_RTS);
}

/* From RESET to RTS, and all wrong turns. */
static void errno_modify_qp(struct end *a, struct end *b, const struct how *how)
{
	errno_transitions(a);
	errno_init(a);
	end_init(a);
	end_init(b);
	errno_transitions(a);
	errno_rtr(a, b);
	end_rtr(a, b, how);
	end_rtr(b, a, how);
	errno_transitions(a);
	errno_rts(a);
	end_rts(a, how);
	end_rts(b, how);
	errno_transitions(a);
	errno_state_alone(a, "RTS-RTS", IBV_QPS_RTS, optional_at_rts(a));
	errno_sqd(a);
}

static void errno_modify_others(const struct end *a, const struct end *b)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_UC, IBV_QPT_UD };
	struct end ea, eb;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		const struct how how = { .type = types[i], .size = 4096 };

		ea = *a;
		eb = *b;
		end_make(&ea, &how);
		end_make(&eb, &how);
		errno_modify_qp(&ea, &eb, &how);
		errno_sqe(&ea, &eb);
		end_state(&ea, IBV_QPS_ERR);
		errno_transitions(&ea);
		pair_unmake(&ea, &eb);
	}
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
	struct ibv_ah_attr attr = path_to(a, b);
	size_t i;

	want_made("create_ah", "good", ibv_create_ah(a->pd, &attr), 0, ibv_destroy_ah);
	for (i = 0; i < ARRAY_SIZE(bad_paths); i++) {
		attr = bad_path(a, b, i);
		want_made("create_ah", bad_paths[i].what, ibv_create_ah(a->pd, &attr),
			  bad_paths[i].err, ibv_destroy_ah);
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

/*
 * Objects that are not there
 */

static int made(const void *object)
{
	return object ? 0 : errno;
}

/* How the core looks a number up, and so what it says, differs. */
static void want_no_such(const char *name, const char *what, int err)
{
	if (err < 0)
		err = errno;
	want(name, what, err == ENOENT ? EINVAL : err, EINVAL);
}

/* CALL with numbers of OBJECT that the process has not, or has for something else */
#define want_unknown(name, object, other, call) do {					\
	const uint32_t known = (object)->handle, handles[] = { 0x7fffffff, -1, other };	\
	size_t at;									\
	int err;									\
											\
	for (at = 0; at < ARRAY_SIZE(handles); at++) {					\
		(object)->handle = handles[at];						\
		err = (call);								\
		(object)->handle = known;						\
		want_no_such(name, #object, err);					\
	}										\
} while (0)

static void errno_handles(struct end *a, struct end *b)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = a->scq, .recv_cq = a->rcq,
		.cap = { 1, 1, 1, 1, 0 },
	}, got;
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 1 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
	struct ibv_srq *srq = ibv_create_srq(a->pd, &srq_init);
	struct ibv_ah_attr path = path_to(a, b);
	struct ibv_ah *ah = ibv_create_ah(a->pd, &path);
	struct ibv_qp *ud = make_ud(a);
	struct ibv_pd *pd = a->pd;
	struct ibv_cq *cq = a->scq;
	struct ibv_qp *qp = a->qp;
	struct ibv_mr *mr = a->mr;

	need(mw && srq && ah);
	want_unknown("alloc_mw", pd, cq->handle, made(ibv_alloc_mw(pd, IBV_MW_TYPE_1)));
	want_unknown("reg_mr", pd, cq->handle, made(ibv_reg_mr(pd, a->buf, 100, ACCESS)));
	want_unknown("create_ah", pd, cq->handle, made(ibv_create_ah(pd, &path)));
	want_unknown("create_srq", pd, cq->handle, made(ibv_create_srq(pd, &srq_init)));
	want_unknown("create_qp", pd, cq->handle, made(ibv_create_qp(pd, &init)));
	want_unknown("dealloc_pd", pd, cq->handle, ibv_dealloc_pd(pd));
	want_unknown("create_qp", cq, pd->handle, made(ibv_create_qp(pd, &init)));
	want_unknown("resize_cq", cq, pd->handle, ibv_resize_cq(cq, 500));
	want_unknown("req_notify_cq", cq, pd->handle, ibv_req_notify_cq(cq, 0));
	want_unknown("destroy_cq", cq, pd->handle, ibv_destroy_cq(cq));
	init.srq = srq;
	want_unknown("create_qp", srq, pd->handle, made(ibv_create_qp(pd, &init)));
	want_unknown("modify_srq", srq, pd->handle,
		     ibv_modify_srq(srq, &srq_init.attr, IBV_SRQ_LIMIT));
	want_unknown("query_srq", srq, pd->handle, ibv_query_srq(srq, &srq_init.attr));
	want_unknown("destroy_srq", srq, pd->handle, ibv_destroy_srq(srq));
	want_unknown("modify_qp", qp, pd->handle, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	want_unknown("query_qp", qp, pd->handle, ibv_query_qp(qp, &attr, IBV_QP_STATE, &got));
	want_unknown("destroy_qp", qp, pd->handle, ibv_destroy_qp(qp));
	want_unknown("attach_mcast", ud, pd->handle, ibv_attach_mcast(ud, &group, 0));
	want_unknown("detach_mcast", ud, pd->handle, ibv_detach_mcast(ud, &group, 0));
	want_unknown("dereg_mr", mr, pd->handle, ibv_dereg_mr(mr));
	want_unknown("dealloc_mw", mw, pd->handle, ibv_dealloc_mw(mw));
	want_unknown("destroy_ah", ah, pd->handle, ibv_destroy_ah(ah));
	verb(ibv_destroy_qp(ud));
	verb(ibv_destroy_ah(ah));
	verb(ibv_destroy_srq(srq));
	verb(ibv_dealloc_mw(mw));
}

/* What the process has opened a second time is another's. */
static void errno_other_context(struct end *a)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_pd *pds[100];
	struct end other = { };
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	char gid[12];
	size_t i;

	snprintf(gid, sizeof(gid), "%d", a->gid_index);
	end_open(&other, ibv_get_device_name(a->ctx->device), gid);
	/* numbers that the first has not */
	for (i = 0; i < ARRAY_SIZE(pds); i++) {
		pds[i] = ibv_alloc_pd(other.ctx);
		need(pds[i]);
	}
	cq = ibv_create_cq(other.ctx, 16, NULL, NULL, 0);
	srq = ibv_create_srq(pds[0], &srq_init);
	need(cq && srq);
	init.send_cq = cq;
	init.recv_cq = a->rcq;
	want_no_such("create_qp", "send CQ of another context",
		     made(ibv_create_qp(a->pd, &init)));
	init.send_cq = a->scq;
	init.recv_cq = cq;
	want_no_such("create_qp", "receive CQ of another context",
		     made(ibv_create_qp(a->pd, &init)));
	init.recv_cq = a->rcq;
	init.srq = srq;
	want_no_such("create_qp", "SRQ of another context", made(ibv_create_qp(a->pd, &init)));
	verb(ibv_destroy_srq(srq));
	verb(ibv_destroy_cq(cq));
	for (i = 0; i < ARRAY_SIZE(pds); i++)
		verb(ibv_dealloc_pd(pds[i]));
	verb(ibv_close_device(other.ctx));
}

/*
 * Rings
 */

static void *map_ring(struct end *e, size_t size, int prot, int flags, uint64_t offset)
{
	return mmap(NULL, size, prot, flags, e->ctx->cmd_fd, offset);
}

/* A CQ's ring is mapped whole and shared, by the offset that it was given, while it lives. */
static void errno_mmap(struct end *a)
{
	const int rw = PROT_READ | PROT_WRITE;
	unsigned long from, to, offset = 0;
	struct ibv_cq *cq;
	size_t size = 0;
	char line[512];
	FILE *maps;

	/* larger than others, so that it can be told from them */
	cq = ibv_create_cq(a->ctx, 9000, NULL, NULL, 0);
	maps = fopen("/proc/self/maps", "r");
	need(cq && maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long at;

		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx %*s %lx", &from, &to, &at) != 3 || to - from < size)
			continue;
		size = to - from;
		offset = at;
	}
	fclose(maps);
	need(size > 9000 * 64);
	const struct {
		const char	*what;
		size_t		size;
		int		prot;
		int		flags;
		uint64_t	offset;
		int		err;
	} cases[] = {
		{ "good",		size, rw, MAP_SHARED, offset, 0 },
		{ "to read",		size, PROT_READ, MAP_SHARED, offset, 0 },
		{ "no such ring",	size, rw, MAP_SHARED, 1ULL << 40, EINVAL },
		{ "in its middle",	size - 4096, rw, MAP_SHARED, offset + 4096, EINVAL },
		{ "a page",		4096, rw, MAP_SHARED, offset, EINVAL },
		{ "a page less",	size - 4096, rw, MAP_SHARED, offset, EINVAL },
		{ "a page more",	size + 4096, rw, MAP_SHARED, offset, EINVAL },
		{ "private",		size, rw, MAP_PRIVATE, offset, EINVAL },
		{ "private, to read",	size, PROT_READ, MAP_PRIVATE, offset, EINVAL },
	};
	void *ring;

	for_each_case(c, cases) {
		ring = map_ring(a, c->size, c->prot, c->flags, c->offset);
		want("mmap", c->what, ring == MAP_FAILED ? errno : 0, c->err);
		if (ring == MAP_FAILED)
			continue;
		/* it does not grow */
		need(mremap(ring, size, size + 4096, MREMAP_MAYMOVE) == MAP_FAILED);
		munmap(ring, size);
	}
	verb(ibv_destroy_cq(cq));
	ring = map_ring(a, size, rw, MAP_SHARED, offset);
	want("mmap", "a ring that is gone", ring == MAP_FAILED ? errno : 0, EINVAL);
}

/*
 * What the library does not ask for
 */

#ifdef HAVE_UVERBS_CALL
/* A command of the kernel, with what the driver reads and the room for what it answers. */
struct command {
	uint32_t	number;
	const void	*in;
	size_t		in_len;
	const void	*driver_in;
	size_t		driver_in_len;
	size_t		driver_out_len;
};

static int command(struct end *e, const struct command *c)
{
	uint64_t answer[16] = { }, driver_answer[16] = { };
	struct ib_uverbs_attr attrs[5] = {
		UVERBS_VALUE(UVERBS_ATTR_WRITE_CMD, 8, c->number),
		UVERBS_VALUE(UVERBS_ATTR_CORE_IN, c->in_len, (uintptr_t)c->in),
		UVERBS_RESULT(UVERBS_ATTR_CORE_OUT, answer),
		UVERBS_VALUE(UVERBS_ATTR_UHW_OUT, c->driver_out_len, (uintptr_t)driver_answer),
		UVERBS_VALUE(UVERBS_ATTR_UHW_IN, c->driver_in_len, (uintptr_t)c->driver_in),
	};

	need(c->driver_out_len <= sizeof(driver_answer));
	/* up to eight bytes are not pointed to */
	if (c->driver_in_len && c->driver_in_len <= 8) {
		attrs[4].data = 0;
		memcpy(&attrs[4].data, c->driver_in, c->driver_in_len);
	}
	return uverbs_call(e->ctx, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs,
			   c->driver_in_len ? 5 : 4);
}

#define CREATE(what, type, input, room, error)						\
	{ what, { IB_USER_VERBS_CMD_CREATE_##type, &(input), sizeof(input), NULL, 0, room }, error }
#define CREATE_EX(what, type, input, room, error)					\
	{ what, { IB_USER_VERBS_EX_CMD_CREATE_##type | IB_USER_VERBS_CMD_FLAG_EXTENDED,	\
		  &(input), sizeof(input), NULL, 0, room }, error }

/* None of them succeeds. */
static void errno_commands(struct end *a)
{
	const struct ib_uverbs_create_cq cq = { .cqe = 16, .comp_channel = -1 };
	const struct ib_uverbs_ex_create_cq stamps = {
		.cqe = 16, .comp_channel = -1, .flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	}, overrun = {
		.cqe = 16, .comp_channel = -1, .flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	}, odd_cq = {
		.cqe = 16, .comp_channel = -1, .flags = 1 << 30,
	};
	const struct ib_uverbs_create_srq srq = {
		.pd_handle = a->pd->handle, .max_wr = 16, .max_sge = 1,
	};
	const struct ib_uverbs_create_xsrq tm = {
		.srq_type = IB_UVERBS_SRQT_TM, .pd_handle = a->pd->handle, .max_wr = 16,
		.max_sge = 1, .max_num_tags = 4, .cq_handle = a->rcq->handle,
	}, odd_srq = {
		.srq_type = 99, .pd_handle = a->pd->handle, .max_wr = 16, .max_sge = 1,
	};
	const struct ib_uverbs_open_xrcd xrcd = { .fd = -1, .oflags = O_CREAT };
	const struct ib_uverbs_ex_create_qp qp = {
		.pd_handle = a->pd->handle, .send_cq_handle = a->scq->handle,
		.recv_cq_handle = a->rcq->handle, .max_send_wr = 1, .max_recv_wr = 1,
		.max_send_sge = 1, .max_recv_sge = 1, .qp_type = IB_UVERBS_QPT_RC,
	};
	struct ib_uverbs_ex_create_qp loopback = qp, vlan = qp, fcs = qp, odd_qp = qp, xrc = qp,
				      gsi = qp, table = qp;
	const struct ib_uverbs_resize_cq resize = { .cq_handle = a->scq->handle, .cqe = 4000 };
	const struct {
		const char	*what;
		struct command	command;
		int		err;
	} cases[] = {
		CREATE("CQ, no room for the answer", CQ, cq, 0, EINVAL),
		CREATE("CQ, too little room", CQ, cq, 15, EINVAL),
		CREATE_EX("CQ, too little room", CQ, stamps, 15, EOPNOTSUPP),
		CREATE_EX("CQ, timestamps", CQ, stamps, 16, EOPNOTSUPP),
		CREATE_EX("CQ, overrun", CQ, overrun, 16, EOPNOTSUPP),
		CREATE_EX("CQ, an unknown flag", CQ, odd_cq, 16, EOPNOTSUPP),
		CREATE("SRQ, no room", SRQ, srq, 0, EINVAL),
		CREATE("SRQ, too little room", SRQ, srq, 23, EINVAL),
		CREATE("SRQ, tag matching", XSRQ, tm, 24, EOPNOTSUPP),
		CREATE("SRQ, an unknown type", XSRQ, odd_srq, 24, EOPNOTSUPP),
		CREATE_EX("QP, no room", QP, qp, 0, EINVAL),
		CREATE_EX("QP, too little room", QP, qp, 31, EINVAL),
		CREATE_EX("QP, loopback", QP, loopback, 32, EOPNOTSUPP),
		CREATE_EX("QP, VLANs stripped", QP, vlan, 32, EOPNOTSUPP),
		CREATE_EX("QP, FCS", QP, fcs, 32, EOPNOTSUPP),
		CREATE_EX("QP, an unknown flag", QP, odd_qp, 32, EINVAL),
		CREATE_EX("QP, XRC initiator", QP, xrc, 32, EOPNOTSUPP),
		CREATE_EX("QP, GSI", QP, gsi, 32, EINVAL),
		CREATE_EX("QP, a table of work queues", QP, table, 32, EINVAL),
		{ "XRC domain", { IB_USER_VERBS_CMD_OPEN_XRCD, &xrcd, sizeof(xrcd), NULL, 0, 0 },
		  EOPNOTSUPP },
		{ "resize_cq, no room",
		  { IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize), NULL, 0, 0 }, EINVAL },
		{ "resize_cq, too little room",
		  { IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize), NULL, 0, 15 }, EINVAL },
	};

	loopback.create_flags = 1 << 1;
	fcs.create_flags = 1 << 8;
	vlan.create_flags = 1 << 9;
	odd_qp.create_flags = 1U << 30;
	xrc.qp_type = IB_UVERBS_QPT_XRC_INI;
	gsi.qp_type = 1;
	table.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
	table.rwq_ind_tbl_handle = 0x7fffffff;
	for_each_case(c, cases)
		want("command", c->what, command(a, &c->command), c->err);
}

/* Where the new ring is goes to a place that the process names. */
static void errno_resize_srq(struct end *a)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 20, .max_sge = 1 } };
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_srq *srq = ibv_create_srq(a->pd, &init);
	struct ibv_srq_attr before, after;
	struct ibv_recv_wr wr = { }, *bad;
	const struct rxe_modify_srq_cmd null = { }, read_only = { (uintptr_t)ro },
		kernel = { -4096UL };
	const struct {
		const char			*what;
		const struct rxe_modify_srq_cmd	*in;
		size_t				len;
		int				err;
	} cases[] = {
		{ "no place",		NULL, 0, EINVAL },
		{ "half a place",	&null, 4, EINVAL },
		{ "nowhere",		&null, 8, EFAULT },
		{ "memory to read",	&read_only, 8, EFAULT },
		{ "the kernel",		&kernel, 8, EFAULT },
	};
	unsigned int i;

	need(ro != MAP_FAILED && srq);
	verb(ibv_query_srq(srq, &before));
	for (i = 0; i < 10; i++)
		verb(ibv_post_srq_recv(srq, &wr, &bad));
	for_each_case(c, cases) {
		const struct ib_uverbs_modify_srq in = {
			.srq_handle = srq->handle, .attr_mask = IBV_SRQ_MAX_WR, .max_wr = 500,
		};
		const struct command cmd = {
			IB_USER_VERBS_CMD_MODIFY_SRQ, &in, sizeof(in), c->in, c->len, 0
		};

		want("modify_srq", c->what, command(a, &cmd), c->err);
		verb(ibv_query_srq(srq, &after));
		need(!memcmp(&before, &after, sizeof(before)));
	}
	/* it goes on where it was, and has no place for more */
	for (; i < before.max_wr; i++)
		verb(ibv_post_srq_recv(srq, &wr, &bad));
	want("post_srq_recv", "full", ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	verb(ibv_destroy_srq(srq));
	munmap(ro, 4096);
}
#endif

static void test_wrong_input(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536, .sges = 8, .inline_data = 64 };
	char before[200], after[200];
	struct ibv_device_attr max;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	verb(ibv_query_device(a->ctx, &max));
	/* what is refused is not promised either */
	need(!(max.device_cap_flags & (IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_RESIZE_MAX_WR |
				       IBV_DEVICE_XRC)));
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
	errno_handles(a, b);
	errno_other_context(a);
	errno_mmap(a);
#ifdef HAVE_UVERBS_CALL
	errno_commands(a);
	errno_resize_srq(a);
#endif

	errno_modify_others(a, b);
	errno_modify_qp(a, b, &how);
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

/* ARGUMENT: the largest path MTU that the route carries, in bytes */
static void test_path_mtu(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 4096 };
	int bytes, most = arg ? atoi(arg) : 4096;
	enum ibv_mtu mtu;

	end_make(a, &how);
	end_make(b, &how);
	for (mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		struct step step = rtr_step(a, b);

		bytes = 128 << mtu;
		printf("%d bytes\n", bytes);
		end_init(a);
		step.good.path_mtu = mtu;
		if (bytes > most)
			try_modify(a, step.name, "path MTU", &step.good, step.mask, EINVAL);
		else
			verb(ibv_modify_qp(a->qp, &step.good, step.mask));
		end_state(a, IBV_QPS_RESET);
	}
	pair_unmake(a, b);
	if (wrong)
		die("%d were not as expected", wrong);
}

const struct test errno_tests[] = {
	{ "wrong_input", test_wrong_input },
	{ "path_mtu", test_path_mtu },
	{ }
};
