/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_WORKQUEUE_H
#define _COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

#ifndef HAVE_WQ_PERCPU_BH
/* Per CPU is the default here, and 6.12 refuses to see it said with WQ_BH. */
#define WQ_PERCPU 0
#endif

#ifndef HAVE_SYSTEM_PERCPU_WQ
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

#ifndef HAVE_WQ_BH
/* Process context instead: work meant for BH disables BH by itself. */
#define WQ_BH			WQ_HIGHPRI
#define system_bh_wq		system_highpri_wq
#define system_bh_highpri_wq	system_highpri_wq
#endif

#endif /* _COMPAT_LINUX_WORKQUEUE_H */
