/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_NET_H
#define _COMPAT_LINUX_NET_H

#include_next <linux/net.h>

#ifndef HAVE_SOCKADDR_UNSIZED
struct sockaddr_unsized;

static inline int compat_kernel_bind(struct socket *sock,
				     struct sockaddr_unsized *addr, int addrlen)
{
	return kernel_bind(sock, (struct sockaddr *)addr, addrlen);
}

static inline int compat_kernel_connect(struct socket *sock,
					struct sockaddr_unsized *addr,
					int addrlen, int flags)
{
	return kernel_connect(sock, (struct sockaddr *)addr, addrlen, flags);
}

#define kernel_bind	compat_kernel_bind
#define kernel_connect	compat_kernel_connect
#endif

#endif /* _COMPAT_LINUX_NET_H */
