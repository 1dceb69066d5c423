/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * reg_dmabuf_mr() - ibv_reg_dmabuf_mr() for rxe devices
 *
 * The kernel can register dma-bufs for a soft RoCE device, but the provider in
 * rdma-core has no entry for it: ibv_reg_dmabuf_mr(3) says EOPNOTSUPP there
 * whatever the kernel can do.  This is the same on the public ioctl of uverbs.
 * It needs libibverbs' headers, no library.
 */
#ifndef REG_DMABUF_MR_H
#define REG_DMABUF_MR_H

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

/**
 * struct dmabuf_mr - an MR on a dma-buf
 * @context:	device
 * @handle:	the kernel's number of it
 * @lkey:	for SGEs
 * @rkey:	for peers
 */
struct dmabuf_mr {
	struct ibv_context	*context;
	uint32_t		handle;
	uint32_t		lkey;
	uint32_t		rkey;
};

/**
 * uverbs_call - call a method of uverbs
 * @context:	device
 * @object:	UVERBS_OBJECT_*
 * @method:	UVERBS_METHOD_*
 * @attrs:	its attributes; handles of new objects come back in them
 * @num:	their number, at most 16
 *
 * Return: 0 or an errno.
 */
static inline int uverbs_call(struct ibv_context *context, uint16_t object, uint16_t method,
			      struct ib_uverbs_attr *attrs, unsigned int num)
{
	struct {
		struct ib_uverbs_ioctl_hdr	hdr;
		struct ib_uverbs_attr		attrs[16];
	} cmd = {
		.hdr = {
			.length		= sizeof(cmd.hdr) + num * sizeof(*attrs),
			.object_id	= object,
			.method_id	= method,
			.num_attrs	= num,
			.driver_id	= RDMA_DRIVER_RXE,
		},
	};

	assert(num <= sizeof(cmd.attrs) / sizeof(*attrs));
	memcpy(cmd.attrs, attrs, num * sizeof(*attrs));
	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return errno;
	memcpy(attrs, cmd.attrs, num * sizeof(*attrs));
	return 0;
}

/* A handle, a value, and a place for a result. */
#define UVERBS_HANDLE(id, value) \
	{ .attr_id = (id), .flags = UVERBS_ATTR_F_MANDATORY, .data = (value) }
#define UVERBS_VALUE(id, bytes, value) \
	{ .attr_id = (id), .flags = UVERBS_ATTR_F_MANDATORY, .len = (bytes), .data = (value) }
#define UVERBS_RESULT(id, variable) \
	{ .attr_id = (id), .flags = UVERBS_ATTR_F_MANDATORY, .len = sizeof(variable), \
	  .data = (uintptr_t)&(variable) }

/**
 * reg_dmabuf_mr - register a range of a dma-buf
 * @mr:		result
 * @pd:		PD
 * @offset:	first byte in the buffer
 * @length:	bytes
 * @iova:	address of the first byte for SGEs and peers; equal to @offset
 *		in the bits below the page size
 * @fd:		the dma-buf; may be closed afterwards
 * @access:	IBV_ACCESS_*
 *
 * As ibv_reg_dmabuf_mr(3).
 *
 * Return: 0 or an errno: EINVAL, EBADF, ENOMEM; EOPNOTSUPP the kernel's driver
 * cannot do it at all, or not with this exporter.
 */
static inline int reg_dmabuf_mr(struct dmabuf_mr *mr, struct ibv_pd *pd, uint64_t offset,
				size_t length, uint64_t iova, int fd, int access)
{
	struct dmabuf_mr new = { .context = pd->context };
	struct ib_uverbs_attr attrs[] = {
		UVERBS_HANDLE(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0),
		UVERBS_HANDLE(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle),
		UVERBS_VALUE(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, offset),
		UVERBS_VALUE(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, length),
		UVERBS_VALUE(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, iova),
		UVERBS_VALUE(UVERBS_ATTR_REG_DMABUF_MR_FD, 4, (uint32_t)fd),
		UVERBS_VALUE(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, access),
		UVERBS_RESULT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, new.lkey),
		UVERBS_RESULT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, new.rkey),
	};
	int err;

	err = uverbs_call(pd->context, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, attrs,
			  sizeof(attrs) / sizeof(*attrs));
	if (err)
		return err;
	new.handle = attrs[0].data;
	*mr = new;
	return 0;
}

/**
 * dereg_dmabuf_mr - end it
 *
 * As ibv_dereg_mr(3).
 *
 * Return: 0 or an errno.
 */
static inline int dereg_dmabuf_mr(const struct dmabuf_mr *mr)
{
	struct ib_uverbs_attr attr = UVERBS_HANDLE(UVERBS_ATTR_DESTROY_MR_HANDLE, mr->handle);

	return uverbs_call(mr->context, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, &attr, 1);
}

#endif /* REG_DMABUF_MR_H */
