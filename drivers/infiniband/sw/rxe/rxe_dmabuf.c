// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of other drivers: dma-bufs that a CPU can read and write.
 *
 * The device has no DMA device to attach with, and needs none: it copies.  So
 * there is no attachment that the exporter could revoke either.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/iosys-map.h>
#include <linux/module.h>

#include "rxe_access.h"
#include "rxe_dmabuf.h"

MODULE_IMPORT_NS("DMA_BUF");

static int dmabuf_vmap(struct dma_buf *dmabuf, void **addr)
{
	struct iosys_map map;
	int err;

	err = dma_buf_vmap_unlocked(dmabuf, &map);
	if (err)
		return err == -EINVAL ? -EOPNOTSUPP : err;	/* it has no such method */
	if (map.is_iomem) {
		dma_buf_vunmap_unlocked(dmabuf, &map);
		return -EOPNOTSUPP;
	}
	*addr = map.vaddr;
	return 0;
}

struct dma_buf *rxe_dmabuf_map(int fd, u64 offset, u64 length, void **addr)
{
	struct dma_buf *dmabuf;
	struct iosys_map map;
	int err;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return dmabuf;

	err = -EINVAL;
	if (!rxe_range_ok(0, dmabuf->size, offset, length))
		goto err_put;
	err = dmabuf_vmap(dmabuf, addr);
	if (err)
		goto err_put;
	err = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (err)
		goto err_vunmap;
	return dmabuf;

err_vunmap:
	iosys_map_set_vaddr(&map, *addr);
	dma_buf_vunmap_unlocked(dmabuf, &map);
err_put:
	dma_buf_put(dmabuf);
	return ERR_PTR(err);
}

void rxe_dmabuf_unmap(struct dma_buf *dmabuf, void *addr)
{
	struct iosys_map map;

	dma_buf_end_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	iosys_map_set_vaddr(&map, addr);
	dma_buf_vunmap_unlocked(dmabuf, &map);
	dma_buf_put(dmabuf);
}
