/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_TIMER_H
#define _COMPAT_LINUX_TIMER_H

#include_next <linux/timer.h>

#ifndef HAVE_TIMER_CONTAINER_OF
#define timer_container_of(var, callback_timer, timer_fieldname) \
	container_of(callback_timer, typeof(*(var)), timer_fieldname)
#endif

#endif /* _COMPAT_LINUX_TIMER_H */
