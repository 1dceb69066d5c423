/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Run-to-completion executors: who runs a QP's requester and responder.
 *
 * Whoever brings an event (post_send, a packet, a timer) kicks the executor
 * and, if nobody owns it, becomes its owner and runs it here and now with BH
 * disabled.  If somebody owns it, the owner is told to go round once more.
 *
 *   kicked from			runs
 *   process, softirq		at once, on this CPU
 *   inside another executor	on this CPU, after that one is done
 *   IRQs disabled, hardirq	in the work item
 *   budget used up		in the work item, ownership kept
 *   waits for a page		in the work item, after it is there, ownership kept
 */
#ifndef RXE_EXEC_H
#define RXE_EXEC_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/**
 * struct rxe_exec - one executor
 * @state:	RXE_EXEC_* bits
 * @run:	does all there is to do; true: stopped at the budget, more is left
 * @get:	takes a reference on what contains the executor; called by the new owner
 * @put:	drops it, as the owner's last act
 * @prepare:	does what @run asked for with @sleep; process context, may sleep
 * @sleep:	set by @run, which then returns true: call @prepare first. The owner's
 * @nested:	in the per-CPU list of executors kicked inside another
 * @work:	continues it in process context
 * @idle:	rxe_exec_disable() waits here
 */
struct rxe_exec {
	atomic_t		state;
	bool			(*run)(struct rxe_exec *x);
	void			(*get)(struct rxe_exec *x);
	void			(*put)(struct rxe_exec *x);
	void			(*prepare)(struct rxe_exec *x);
	bool			sleep;
	struct list_head	nested;
	struct work_struct	work;
	wait_queue_head_t	idle;
};

void rxe_exec_init(struct rxe_exec *x, bool (*run)(struct rxe_exec *x),
		   void (*get)(struct rxe_exec *x), void (*put)(struct rxe_exec *x),
		   void (*prepare)(struct rxe_exec *x));

/**
 * rxe_exec_kick - there is something to do
 *
 * The caller holds a reference on the container.
 *
 * Context: any.
 */
void rxe_exec_kick(struct rxe_exec *x);

/**
 * rxe_exec_kick_deferred - as rxe_exec_kick(), always in the work item
 *
 * For callers that must not see a completion handler run inside the call.
 */
void rxe_exec_kick_deferred(struct rxe_exec *x);

/**
 * rxe_exec_disable - keep it from running, and wait until it does not
 *
 * Context: process, may sleep.
 */
void rxe_exec_disable(struct rxe_exec *x);

/* Let it run again; runs it if it was kicked meanwhile. */
void rxe_exec_enable(struct rxe_exec *x);

int __init rxe_exec_module_init(void);
void rxe_exec_module_exit(void);

#endif /* RXE_EXEC_H */
