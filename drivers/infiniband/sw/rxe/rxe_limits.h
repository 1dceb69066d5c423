/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What query_device promises; each is enforced where the object is made. */
#ifndef RXE_LIMITS_H
#define RXE_LIMITS_H

#include <linux/sizes.h>

#define RXE_MAX_QP		65536	/* of one device; the QPN space is 2^24 for all */
#define RXE_MAX_QP_WR		16384	/* slots of at most 1024 bytes: 16 MiB, vmalloc'ed */
#define RXE_MAX_SGE		32	/* a slot of the send ring holds them behind the WQE */
#define RXE_MAX_SGE_RD		RXE_MAX_SGE	/* a READ scatters as a SEND gathers */
#define RXE_MAX_INLINE		512	/* RXE_MAX_SGE SGEs take the same room */
#define RXE_MAX_CQ		RXE_MAX_QP	/* one for each QP */
#define RXE_MAX_CQE		(SZ_1M - 2)	/* 64 MiB of ring; two slots stay empty */
#define RXE_MAX_SRQ		65536	/* of one device */
#define RXE_MAX_SRQ_WR		32767	/* slots of at most 1024 bytes: 32 MiB; one stays empty */
#define RXE_MAX_MR		SZ_1M	/* of one device; the index of a key has 23 bits for MRs */
#define RXE_MAX_MW		SZ_1M	/* and 23 bits for windows */
#define RXE_MAX_FAST_REG_PAGES	512	/* 2 MiB of 4 KiB pages; 4 KiB of kernel memory for each MR */
#define RXE_MAX_MR_SIZE		((u64)U32_MAX << PAGE_SHIFT)	/* the core counts pages in 32 bits */
#define RXE_MAX_PD		RXE_MAX_QP	/* one for each QP */
#define RXE_MAX_AH		65536	/* of one device */
#define RXE_MAX_UCONTEXT	RXE_MAX_PD	/* without a PD a process can do little */
#define RXE_MAX_MCAST_GRP	4096	/* each is joined on all netdevs with a GID */
#define RXE_MAX_MCAST_QP_ATTACH	256	/* one packet of a stranger is copied to all of these */
#define RXE_MAX_TOTAL_MCAST_ATTACH RXE_MAX_QP	/* each QP in one group */
#define RXE_MAX_RD_ATOM		16	/* responder resources of a QP, allocated at RTR */
#define RXE_MAX_RES_RD_ATOM	(RXE_MAX_QP * RXE_MAX_RD_ATOM)
#define RXE_MAX_MSG_SZ		SZ_2G	/* IBTA 9.7.7: 2^31 bytes */
#define RXE_GID_TBL_LEN		256	/* sgid_index has 8 bits in verbs */
#define RXE_PKEY_TBL_LEN	1	/* the default key alone */

/* PSNs that may be unacknowledged; half the space would be ambiguous (IBTA 9.7.1). */
#define RXE_MAX_PSN_WINDOW	SZ_4M

/* Unacknowledged bytes of one QP, at most. */
#define RXE_WINDOW_BYTES	SZ_1M

/*
 * What waits for one executor, its sk_buffs included; more is dropped like any loss.  A
 * peer's window has to fit: of packets that come singly, each with a buffer of its own.
 */
#define RXE_RX_QUEUE_BYTES	(4 * RXE_WINDOW_BYTES)

#endif /* RXE_LIMITS_H */
