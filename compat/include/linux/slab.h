/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_SLAB_H
#define _COMPAT_LINUX_SLAB_H

#include_next <linux/slab.h>

#ifndef HAVE_KMALLOC_OBJ
#define __compat_gfp(a, b, ...)	b
#define compat_gfp(...)		__compat_gfp(, ##__VA_ARGS__, GFP_KERNEL)

#define compat_alloc_objs(alloc, gfp, type, count)			\
	((type *)alloc(size_mul(sizeof(type), count), gfp))
#define compat_alloc_flex(alloc, gfp, type, fam, count)			\
	((type *)alloc(struct_size((type *)NULL, fam, count), gfp))

#define kmalloc_obj(p, ...) \
	compat_alloc_objs(kmalloc, compat_gfp(__VA_ARGS__), typeof(p), 1)
#define kmalloc_objs(p, n, ...) \
	compat_alloc_objs(kmalloc, compat_gfp(__VA_ARGS__), typeof(p), n)
#define kmalloc_flex(p, fam, n, ...) \
	compat_alloc_flex(kmalloc, compat_gfp(__VA_ARGS__), typeof(p), fam, n)
#define kzalloc_obj(p, ...) \
	compat_alloc_objs(kzalloc, compat_gfp(__VA_ARGS__), typeof(p), 1)
#define kzalloc_objs(p, n, ...) \
	compat_alloc_objs(kzalloc, compat_gfp(__VA_ARGS__), typeof(p), n)
#define kzalloc_flex(p, fam, n, ...) \
	compat_alloc_flex(kzalloc, compat_gfp(__VA_ARGS__), typeof(p), fam, n)
#define kvmalloc_obj(p, ...) \
	compat_alloc_objs(kvmalloc, compat_gfp(__VA_ARGS__), typeof(p), 1)
#define kvmalloc_objs(p, n, ...) \
	compat_alloc_objs(kvmalloc, compat_gfp(__VA_ARGS__), typeof(p), n)
#define kvmalloc_flex(p, fam, n, ...) \
	compat_alloc_flex(kvmalloc, compat_gfp(__VA_ARGS__), typeof(p), fam, n)
#define kvzalloc_obj(p, ...) \
	compat_alloc_objs(kvzalloc, compat_gfp(__VA_ARGS__), typeof(p), 1)
#define kvzalloc_objs(p, n, ...) \
	compat_alloc_objs(kvzalloc, compat_gfp(__VA_ARGS__), typeof(p), n)
#define kvzalloc_flex(p, fam, n, ...) \
	compat_alloc_flex(kvzalloc, compat_gfp(__VA_ARGS__), typeof(p), fam, n)
#endif

#endif /* _COMPAT_LINUX_SLAB_H */
