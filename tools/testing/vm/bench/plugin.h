/* SPDX-License-Identifier: GPL-2.0 */
/* What profile.c uses of QEMU's plugin API, version 4. */
#ifndef BENCH_PLUGIN_H
#define BENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_u64 {
	void	*score;
	size_t	offset;
};

struct qemu_plugin_insn;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
		void (*cb)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int, void *), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, int op,
		struct qemu_plugin_u64 entry, uint64_t imm);
void *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_sum(struct qemu_plugin_u64 entry);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#endif /* BENCH_PLUGIN_H */
