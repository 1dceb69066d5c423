// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Management datagrams that the port answers: the counters of the performance
 * management class (IBTA 16.1), which the core also shows as ports/1/counters.
 * They cannot be reset: more than one program reads them.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "rxe_device.h"
#include "rxe_mad.h"
#include "rxe_stats.h"

#define RXE_PMA_CLASS_VERSION	1

/* The counters of the class count octets in fours (IBTA 16.1.3.5). */
#define RXE_PMA_DATA_UNIT	4

/* 32-bit counters and smaller ones stop at their maximum. */
static u32 rxe_pma_clamp(u64 value, u32 max)
{
	return min_t(u64, value, max);
}

/* Packets that arrived damaged or malformed. */
static u64 rxe_pma_rcv_errors(struct rxe_dev *rxe)
{
	static const enum rxe_drop drops[] = {
		RXE_DROP_SHORT, RXE_DROP_OPCODE, RXE_DROP_VERSION, RXE_DROP_PAD,
		RXE_DROP_PAYLOAD, RXE_DROP_ICRC, RXE_DROP_CSUM, RXE_DROP_IP,
	};
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < ARRAY_SIZE(drops); i++)
		sum += rxe_stats_drops(rxe, drops[i]);
	return sum;
}

static void rxe_pma_port_info(struct ib_pma_mad *pma)
{
	struct ib_class_port_info *cpi = (void *)pma->data;

	cpi->base_version = IB_MGMT_BASE_VERSION;
	cpi->class_version = RXE_PMA_CLASS_VERSION;
	cpi->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void rxe_pma_counters(struct rxe_dev *rxe, struct ib_pma_mad *pma)
{
	struct ib_pma_portcounters *p = (void *)pma->data;
	u64 sent = rxe_stats_sum(rxe, RXE_CNT_SENT_BYTES) / RXE_PMA_DATA_UNIT;
	u64 rcvd = rxe_stats_sum(rxe, RXE_CNT_RCVD_BYTES) / RXE_PMA_DATA_UNIT;

	p->link_downed_counter = rxe_pma_clamp(rxe_stats_sum(rxe, RXE_CNT_LINK_DOWNED), U8_MAX);
	p->port_rcv_errors = cpu_to_be16(rxe_pma_clamp(rxe_pma_rcv_errors(rxe), U16_MAX));
	p->port_xmit_discards = cpu_to_be16(rxe_pma_clamp(rxe_stats_sum(rxe, RXE_CNT_SEND_ERR),
							  U16_MAX));
	p->port_rcv_constraint_errors = rxe_pma_clamp(rxe_stats_drops(rxe, RXE_DROP_PKEY), U8_MAX);
	/* the lower half byte: excessive buffer overruns */
	p->link_overrun_errors = rxe_pma_clamp(rxe_stats_drops(rxe, RXE_DROP_QUEUE), 15);
	p->port_xmit_data = cpu_to_be32(rxe_pma_clamp(sent, U32_MAX));
	p->port_rcv_data = cpu_to_be32(rxe_pma_clamp(rcvd, U32_MAX));
	p->port_xmit_packets = cpu_to_be32(rxe_pma_clamp(rxe_stats_sum(rxe, RXE_CNT_SENT_PKTS),
							 U32_MAX));
	p->port_rcv_packets = cpu_to_be32(rxe_pma_clamp(rxe_stats_sum(rxe, RXE_CNT_RCVD_PKTS),
							U32_MAX));
}

/* Multicast packets are not counted apart: those counters stay 0, as do the unicast ones. */
static void rxe_pma_counters_ext(struct rxe_dev *rxe, struct ib_pma_mad *pma)
{
	struct ib_pma_portcounters_ext *p = (void *)pma->data;

	p->port_xmit_data = cpu_to_be64(rxe_stats_sum(rxe, RXE_CNT_SENT_BYTES) /
					RXE_PMA_DATA_UNIT);
	p->port_rcv_data = cpu_to_be64(rxe_stats_sum(rxe, RXE_CNT_RCVD_BYTES) /
				       RXE_PMA_DATA_UNIT);
	p->port_xmit_packets = cpu_to_be64(rxe_stats_sum(rxe, RXE_CNT_SENT_PKTS));
	p->port_rcv_packets = cpu_to_be64(rxe_stats_sum(rxe, RXE_CNT_RCVD_PKTS));
}

/* Return: the status for the answer, which is filled in when it is 0. */
static u16 rxe_pma_answer(struct rxe_dev *rxe, const struct ib_pma_mad *in,
			  struct ib_pma_mad *out)
{
	/* both kinds of counters have the selection at the same place */
	const struct ib_pma_portcounters *sel = (const void *)in->data;
	struct ib_pma_portcounters *out_sel = (void *)out->data;

	BUILD_BUG_ON(offsetof(struct ib_pma_portcounters, counter_select) !=
		     offsetof(struct ib_pma_portcounters_ext, counter_select));
	if (in->mad_hdr.class_version != RXE_PMA_CLASS_VERSION)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD;

	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		rxe_pma_port_info(out);
		return 0;
	case IB_PMA_PORT_COUNTERS:
	case IB_PMA_PORT_COUNTERS_EXT:
		break;
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}

	if (sel->port_select != 1)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		rxe_pma_counters(rxe, out);
	else
		rxe_pma_counters_ext(rxe, out);
	out_sel->port_select = sel->port_select;
	out_sel->counter_select = sel->counter_select;
	return 0;
}

int rxe_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		    const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;	/* there is nothing of ours in it */
	/* an answer is for the program that asked */
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET && in->mad_hdr.method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(rxe_pma_answer(to_rdev(ibdev), (const void *)in,
							 (void *)out));
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
