/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _UNIT_LINUX_STRING_H
#define _UNIT_LINUX_STRING_H

#include <string.h>

#endif /* _UNIT_LINUX_STRING_H */
