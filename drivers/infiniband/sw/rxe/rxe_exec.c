// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Run-to-completion executors; rxe_exec.h has the map of who runs where. */

#include <linux/bottom_half.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include "rxe_exec.h"

#define RXE_EXEC_BUSY		BIT(0)	/* somebody owns it */
#define RXE_EXEC_PENDING	BIT(1)	/* something came since the owner last looked */
#define RXE_EXEC_DISABLED	BIT(2)	/* nobody may become the owner */

/* Rounds, and nested executors, before the rest goes to the work item. */
#define RXE_EXEC_ROUNDS		4
#define RXE_EXEC_NESTED		16

/**
 * struct rxe_exec_cpu - what a CPU runs; touched with BH disabled on it alone
 * @running:	an executor runs here
 * @nested:	executors that were kicked meanwhile, owned by this CPU
 */
struct rxe_exec_cpu {
	bool			running;
	struct list_head	nested;
};

static DEFINE_PER_CPU(struct rxe_exec_cpu, rxe_exec_cpus);
static struct workqueue_struct *rxe_exec_wq;
/* A page may take long to come, and memory to bring it. */
static struct workqueue_struct *rxe_exec_sleep_wq;

static void rxe_exec_queue(struct rxe_exec *x)
{
	queue_work(x->sleep ? rxe_exec_sleep_wq : rxe_exec_wq, &x->work);
}

/* Leave the event; true: the caller is the owner now, with a reference. */
static bool rxe_exec_acquire(struct rxe_exec *x)
{
	int old = atomic_read(&x->state);
	int new;

	do {
		new = old | RXE_EXEC_PENDING;
		if (!(old & (RXE_EXEC_BUSY | RXE_EXEC_DISABLED)))
			new |= RXE_EXEC_BUSY;
	} while (!atomic_try_cmpxchg(&x->state, &old, new));

	if (old & (RXE_EXEC_BUSY | RXE_EXEC_DISABLED))
		return false;

	x->get(x);
	return true;
}

/* False: an event came meanwhile, the caller is still the owner. */
static bool rxe_exec_release(struct rxe_exec *x)
{
	int old = atomic_read(&x->state);

	do {
		if ((old & RXE_EXEC_PENDING) && !(old & RXE_EXEC_DISABLED))
			return false;
	} while (!atomic_try_cmpxchg(&x->state, &old, old & ~RXE_EXEC_BUSY));

	/*
	 * Whatever @old was: DISABLED may be set after it was read.  The cmpxchg
	 * is a full barrier, as is what a waiter does before it looks at BUSY.
	 */
	if (waitqueue_active(&x->idle))
		wake_up(&x->idle);
	x->put(x);
	return true;
}

static void rxe_exec_run_owned(struct rxe_exec *x)
{
	int round;

	for (round = 0; round < RXE_EXEC_ROUNDS; round++) {
		bool more;

		atomic_andnot(RXE_EXEC_PENDING, &x->state);
		smp_mb__after_atomic();	/* what came before PENDING is seen by run() */
		x->sleep = false;
		more = x->run(x);
		if (more)
			atomic_or(RXE_EXEC_PENDING, &x->state);
		if (rxe_exec_release(x))
			return;
		if (more)
			break;
	}
	rxe_exec_queue(x);
}

static void rxe_exec_run_here(struct rxe_exec_cpu *cpu, struct rxe_exec *x)
{
	unsigned int n = 0;

	cpu->running = true;
	rxe_exec_run_owned(x);
	while ((x = list_first_entry_or_null(&cpu->nested, struct rxe_exec, nested))) {
		list_del_init(&x->nested);
		if (n++ < RXE_EXEC_NESTED)
			rxe_exec_run_owned(x);
		else
			rxe_exec_queue(x);
	}
	cpu->running = false;
}

static void rxe_exec_run_or_nest(struct rxe_exec *x)
{
	struct rxe_exec_cpu *cpu;

	local_bh_disable();
	cpu = this_cpu_ptr(&rxe_exec_cpus);
	if (cpu->running)
		list_add_tail(&x->nested, &cpu->nested);
	else
		rxe_exec_run_here(cpu, x);
	local_bh_enable();
}

static void rxe_exec_work(struct work_struct *work)
{
	struct rxe_exec *x = container_of(work, struct rxe_exec, work);

	if (x->sleep) {
		x->sleep = false;
		x->prepare(x);
	}
	rxe_exec_run_or_nest(x);
}

void rxe_exec_kick(struct rxe_exec *x)
{
	if (!rxe_exec_acquire(x))
		return;
	if (in_hardirq() || irqs_disabled())
		rxe_exec_queue(x);
	else
		rxe_exec_run_or_nest(x);
}

void rxe_exec_kick_deferred(struct rxe_exec *x)
{
	if (rxe_exec_acquire(x))
		rxe_exec_queue(x);
}

void rxe_exec_disable(struct rxe_exec *x)
{
	might_sleep();
	atomic_or(RXE_EXEC_DISABLED, &x->state);
	smp_mb__after_atomic();		/* pairs with the cmpxchg of release */
	wait_event(x->idle, !(atomic_read_acquire(&x->state) & RXE_EXEC_BUSY));
}

void rxe_exec_enable(struct rxe_exec *x)
{
	if (atomic_fetch_andnot(RXE_EXEC_DISABLED, &x->state) & RXE_EXEC_PENDING)
		rxe_exec_kick(x);
}

void rxe_exec_init(struct rxe_exec *x, bool (*run)(struct rxe_exec *x),
		   void (*get)(struct rxe_exec *x), void (*put)(struct rxe_exec *x),
		   void (*prepare)(struct rxe_exec *x))
{
	atomic_set(&x->state, 0);
	x->sleep = false;
	x->run = run;
	x->get = get;
	x->put = put;
	x->prepare = prepare;
	INIT_LIST_HEAD(&x->nested);
	INIT_WORK(&x->work, rxe_exec_work);
	init_waitqueue_head(&x->idle);
}

int __init rxe_exec_module_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu(rxe_exec_cpus, cpu).nested);

	rxe_exec_wq = alloc_workqueue("rxe_exec", WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!rxe_exec_wq)
		return -ENOMEM;
	rxe_exec_sleep_wq = alloc_workqueue("rxe_fault", WQ_UNBOUND, 0);
	if (rxe_exec_sleep_wq)
		return 0;
	destroy_workqueue(rxe_exec_wq);
	return -ENOMEM;
}

void rxe_exec_module_exit(void)
{
	destroy_workqueue(rxe_exec_sleep_wq);
	destroy_workqueue(rxe_exec_wq);
}
