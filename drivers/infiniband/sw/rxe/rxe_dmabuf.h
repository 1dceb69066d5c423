/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of other drivers: dma-bufs that a CPU can read and write. */
#ifndef RXE_DMABUF_H
#define RXE_DMABUF_H

#include <linux/types.h>

struct dma_buf;

/**
 * rxe_dmabuf_map - map the buffer behind a file descriptor
 * @fd:		of the caller
 * @offset:	of the first byte that will be used
 * @length:	bytes that will be used; @offset + @length does not wrap
 * @addr:	result: kernel address of the buffer's first byte
 *
 * The buffer stays where it is, and stays at all, until rxe_dmabuf_unmap():
 * whoever maps a buffer pins it, and holds it when its exporter's process and
 * all file descriptors are gone.
 *
 * Context: process, may sleep.
 * Return: the buffer, with a reference, to be given to rxe_dmabuf_unmap(); or
 * ERR_PTR(): -EBADF no file, -EINVAL not a dma-buf, or not that large;
 * -EOPNOTSUPP its exporter does not map it for CPUs, or it is I/O memory.
 */
struct dma_buf *rxe_dmabuf_map(int fd, u64 offset, u64 length, void **addr);

/* Undo it; @addr as it came.  Context: process, may sleep. */
void rxe_dmabuf_unmap(struct dma_buf *dmabuf, void *addr);

#endif /* RXE_DMABUF_H */
