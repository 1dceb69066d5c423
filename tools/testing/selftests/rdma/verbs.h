/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of "verbs" share: one process has both ends of a connection
 * open, so that a test is a straight line.
 *
 * Every function here ends the program, with a message, when something fails
 * that the running test does not look at itself.
 */
#ifndef VERBS_H
#define VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define GUARD		0xa5
#define QKEY		0x11111111
#define GRH		40

/* One end: a device and what was made on it. */
struct end {
	struct ibv_context	*ctx;
	int			gid_index;
	union ibv_gid		gid;
	enum ibv_mtu		mtu;		/* of the port */
	int			qp_access;	/* [READ and WRITE] */
	struct ibv_pd		*pd;
	struct ibv_comp_channel	*channel;
	struct ibv_cq		*scq;
	struct ibv_cq		*rcq;
	bool			cq_lent;	/* rcq is how.rcq */
	struct ibv_qp		*qp;
	struct ibv_mr		*mr;
	uint8_t			*buf;
	size_t			size;		/* of buf */
};

/* Before end_make(); zero means the default in brackets. */
struct how {
	enum ibv_qp_type type;		/* [RC] */
	enum ibv_mtu	mtu;		/* [what both ports can] */
	size_t		size;		/* of the buffer [1 MiB] */
	int		depth;		/* of SQ and RQ [64] */
	int		cqe;		/* of both CQs [256] */
	int		sges;		/* [4] */
	int		inline_data;	/* [0] */
	int		mr_access;	/* [all] */
	int		rd_atomic;	/* [4], NO_READS for 0 */
	int		timeout;	/* [14: 67 ms] */
	int		retry;		/* [7] */
	int		rnr_retry;	/* [7], NO_RETRY for 0 */
	int		rnr_timer;	/* [12: 0.64 ms] */
	uint32_t	psn;		/* [0x123456] */
	struct ibv_srq	*srq;		/* of the receiver: not for both */
	struct ibv_cq	*rcq;		/* likewise; it stays the caller's */
	bool		unsignaled;	/* only what asks for it is signaled */
};

#define NO_RETRY	(-1)
#define NO_READS	(-1)

#define die(...)	die_at(__func__, __LINE__, __VA_ARGS__)
void die_at(const char *func, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));

/* need(CONDITION): what the test is about */
#define need(cond)	do { if (!(cond)) die("not true: %s", #cond); } while (0)

/* verb(CALL): a call that returns 0 or an errno */
#define verb(call)	verb_at(__func__, __LINE__, #call, call)
void verb_at(const char *func, int line, const char *what, int err);

double seconds(void);

/* From now on SIGTERM does no more than to make told_to_end() true. */
void catch_term(void);
bool told_to_end(void);

const char *err_name(int err);

void end_open(struct end *e, const char *device, const char *gid_index);
void end_make(struct end *e, const struct how *how);
void end_unmake(struct end *e);		/* what end_make() made */
void end_init(struct end *e);		/* QP to INIT */
void end_rtr(struct end *e, const struct end *peer, const struct how *how);
void end_rts(struct end *e, const struct how *how);
struct ibv_ah *end_ah(struct end *e, const struct end *peer);
void end_state(struct end *e, enum ibv_qp_state state);
enum ibv_qp_state end_get_state(struct end *e);

/* both made, connected, ready to send */
void pair_make(struct end *a, struct end *b, const struct how *how);
void pair_connect(struct end *a, struct end *b, const struct how *how);
void pair_unmake(struct end *a, struct end *b);
void pair_works(struct end *a, struct end *b, const struct how *how);

/* whole-buffer helpers: one SGE at an offset */
struct ibv_sge sge_at(const struct end *e, size_t offset, size_t len);
void post_recv(struct end *e, uint64_t id, size_t offset, size_t len);
/* remote: NULL for sends; the same offset on both ends */
struct ibv_send_wr send_wr(enum ibv_wr_opcode op, uint64_t id, struct ibv_sge *sge, int num,
			   const struct end *remote, size_t remote_offset);
void post_wr(struct end *e, struct ibv_send_wr *wr);
void post_send(struct end *e, enum ibv_wr_opcode op, uint64_t id, size_t offset, size_t len,
	       const struct end *remote);

/* one completion, waited for */
struct ibv_wc wait_wc(struct ibv_cq *cq);
void want_wc(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status);
/* none comes in that time */
void no_wc(struct ibv_cq *cq, int ms);
/* an asynchronous event of that type within five seconds */
void want_event(struct end *e, enum ibv_event_type type);
/* true: one of that type came in time; others are skipped */
bool poll_event(struct end *e, enum ibv_event_type type, int ms);

/* a stream of bytes that does not repeat within a mebibyte */
void fill(uint8_t *to, size_t len, size_t pos);
bool same(const uint8_t *data, size_t len, size_t pos);

/* Each returns 0, or ends the program. */
struct test {
	const char	*name;
	void		(*run)(struct end *a, struct end *b, const char *arg);
	bool		lone;		/* needs one device only */
};

/* Rights that all MRs of end_make() have beside those of the test. */
extern int more_access;

void run_test(const struct test *list, const char *name, struct end *a, struct end *b,
	      const char *arg);

extern const struct test data_tests[], error_tests[], qp_tests[], process_tests[], srq_tests[],
			  event_tests[], window_tests[], atomic_tests[], rereg_tests[],
			  odp_tests[], dmabuf_tests[], huge_tests[], fault_tests[],
			  wire_tests[], errno_tests[], memory_tests[], hostile_tests[],
			  provoke_tests[], provider_tests[], loss_tests[];

#endif /* VERBS_H */
