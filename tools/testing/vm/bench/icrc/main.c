// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How long the driver's ICRC takes: its rxe_icrc(), compiled as in the driver, on
 * the kernel that is running. Once when it is loaded; the parameter "ns" then has
 * the time for a packet.
 */
#include <linux/bottom_half.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/roce.h>

#include "rxe_icrc.h"

#define BATCHES	16
#define PACKETS	128	/* in a batch */

static unsigned int payload = 4096;
module_param(payload, uint, 0444);
MODULE_PARM_DESC(payload, "bytes behind the BTH");

static char ns[24];
module_param_string(ns, ns, sizeof(ns), 0444);
MODULE_PARM_DESC(ns, "nanoseconds for a packet");

static u64 bench_batch(struct rxe_icrc_flow *flow, const u8 *data, unsigned int len)
{
	ktime_t start = ktime_get();
	unsigned int i;

	for (i = 0; i < PACKETS; i++)
		rxe_icrc(flow, i, data, len);
	return ktime_to_ns(ktime_sub(ktime_get(), start));
}

static int __init bench_init(void)
{
	const struct iphdr ip = { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP };
	unsigned int len = sizeof(struct roce_bth) + payload, i;
	struct rxe_icrc_flow flow;
	u64 best = U64_MAX;
	u8 *data;

	if (payload > ROCE_MAX_MTU)
		return -EINVAL;
	data = kzalloc(len, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	rxe_icrc_module_init();
	rxe_icrc_flow_init(&flow, &ip, cpu_to_be16(0xc000));

	/* The driver has BHs off, too. An interrupt makes a batch longer: the shortest. */
	local_bh_disable();
	for (i = 0; i < BATCHES; i++)
		best = min(best, bench_batch(&flow, data, len));
	local_bh_enable();
	kfree(data);

	best = div_u64(best * 10, PACKETS);
	snprintf(ns, sizeof(ns), "%llu.%llu", best / 10, best % 10);
	return 0;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Time that the ICRC of RoCEv2 takes");
MODULE_LICENSE("Dual BSD/GPL");
