// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU (TCG): instructions executed by address, sixteen bytes at a
 * time, between two marks that mark.py sets in the guest.
 *
 * Needs no header of QEMU: plugin.h.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

__attribute__((visibility("default"))) int qemu_plugin_version = 4;

#define SLOTS	(1u << 20)

static uint64_t slot_addr[SLOTS];	/* 0: free; open addressing */
static uint64_t base[SLOTS];
static void *score;
static const char *out = "/dev/stderr";

/* nopl 0x72786570(%rax) and ...71: start and stop */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x80, 0x70, 0x65, 0x78, 0x72 };

static uint64_t value(unsigned int i)
{
	return qemu_plugin_u64_sum((struct qemu_plugin_u64){ score, i * sizeof(uint64_t) });
}

static void on_start(unsigned int cpu, void *data)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		base[i] = slot_addr[i] ? value(i) : 0;
}

static void on_stop(unsigned int cpu, void *data)
{
	FILE *f = fopen(out, "a");

	if (!f)
		return;
	fprintf(f, "run\n");
	for (unsigned int i = 0; i < SLOTS; i++)
		if (slot_addr[i] && value(i) != base[i])
			fprintf(f, "%" PRIx64 " %" PRIu64 "\n", slot_addr[i] - 1,
				value(i) - base[i]);
	fclose(f);
}

/* The process's part is one number. */
static unsigned int slot(uint64_t vaddr)
{
	uint64_t key = (vaddr >> 63 ? vaddr & ~15ull : 0) + 1;
	unsigned int i = (key >> 4) * 0x9e3779b97f4a7c15ull >> 44;

	while (slot_addr[i] && slot_addr[i] != key)
		i = (i + 1) % SLOTS;
	slot_addr[i] = key;
	return i;
}

static void on_trans(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
		uint8_t b[8];

		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, 0,
			(struct qemu_plugin_u64){ score, slot(vaddr) * sizeof(uint64_t) }, 1);
		if (qemu_plugin_insn_data(insn, b, sizeof(b)) != sizeof(mark) || b[0] != mark[0] ||
		    b[1] != mark[1] || b[2] != mark[2] || memcmp(b + 4, mark + 4, 3))
			continue;
		if (b[3] == mark[3])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, 0, NULL);
		else if (b[3] == mark[3] + 1)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, 0, NULL);
	}
}

__attribute__((visibility("default")))
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	score = qemu_plugin_scoreboard_new(SLOTS * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_trans);
	return 0;
}
