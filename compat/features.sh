#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Print -DHAVE_... for each feature that a kernel's headers have.
# usage: features.sh INCLUDE_DIRECTORY
#
# Grepping the headers, not comparing versions: stable lines backport API.
# Patterns are extended regular expressions matched against the whole header
# (grep -z), so that [^;] spans the lines of a declaration; "dst_dev" alone
# would also match dst_dev_rcu, so end a name with what follows it.

inc=${1:?include directory}

have() # NAME HEADER PATTERN
{
	grep -qzE -e "$3" "$inc/$2" 2>/dev/null && echo "-DHAVE_$1"
}

# RDMA core: verbs
have OP_CREATE_CQ_ATTRS	rdma/ib_verbs.h	'\*create_cq\)[^;]*uverbs_attr_bundle'
have OP_CREATE_USER_CQ	rdma/ib_verbs.h	'\*create_user_cq\)'
have OP_RESIZE_USER_CQ	rdma/ib_verbs.h	'\*resize_user_cq\)'
have OP_REG_USER_MR_DMAH	rdma/ib_verbs.h	'\*reg_user_mr\)[^;]*ib_dmah'
have OP_DMABUF_ATTRS	rdma/ib_verbs.h	'\*reg_user_mr_dmabuf\)[^;]*uverbs_attr_bundle'
have OP_COUNTER_PORT	rdma/ib_verbs.h	'\*counter_bind_qp\)[^;]*u32 port'
have OP_COUNTER_INIT	rdma/ib_verbs.h	'\*counter_init\)'
have OP_PRE_DESTROY_CQ	rdma/ib_verbs.h	'\*pre_destroy_cq\)'
have OP_QUERY_PORT_SPEED	rdma/ib_verbs.h	'\*query_port_speed\)'
have OP_FILL_RES_SRQ	rdma/ib_verbs.h	'\*fill_res_srq_entry\)'
have OP_REPORT_PORT_EVENT	rdma/ib_verbs.h	'\*report_port_event\)'
have ROBUST_UDATA	rdma/ib_verbs.h	'uverbs_robust_udata:1'

# RDMA core: the rest
have LINK_OPS_DELLINK	rdma/rdma_netlink.h	'\*dellink\)'
have IB_ALLOC_DEVICE_WITH_NET	rdma/ib_verbs.h	'define ib_alloc_device_with_net\('
have RDMA_DEV_NET	rdma/ib_verbs.h	'[ *]rdma_dev_net\('
have IB_DEVICE_GET_NETDEV	rdma/ib_verbs.h	'[ *]ib_device_get_netdev\('
have IB_CURR_PORT_STATE	rdma/ib_verbs.h	'ib_get_curr_port_state\('
have IB_VIRT_DMA_TO_PTR	rdma/ib_verbs.h	'[ *]ib_virt_dma_to_ptr\('
have IB_FLUSH		rdma/ib_verbs.h	'IB_WR_FLUSH[ 	]*='
have IB_OPCODE_FLUSH	rdma/ib_pack.h	'IB_OPCODE_FLUSH[ 	]*='
have RDMA_ITER_H	rdma/iter.h		'ib_block_iter'
have IB_UMEM_GET_VA	rdma/ib_umem.h	'[ *]ib_umem_get_va\('
have RXE_UABI_FLUSH	uapi/rdma/rdma_user_rxe.h	'} flush;'

# network
have UDP_TUNNEL_SK	net/udp_tunnel.h	'setup_udp_tunnel_sock\([^;]*struct sock \*'
have FLOWI4_DSCP	net/flow.h	'define flowi4_dscp[ 	]'
have DST_DEV		net/dst.h	'[ *]dst_dev\('
have DST_DEV_RCU	net/dst.h	'[ *]dst_dev_rcu\('
have NET_GSO_H		net/gso.h	'skb_gso_segment\('
have SOCKADDR_UNSIZED	linux/net.h	'kernel_bind\([^;]*sockaddr_unsized'
have SKB_FRAGS_READABLE	linux/skbuff.h	'[ *]skb_frags_readable\('
have SKB_FRAG_IS_NET_IOV	linux/skbuff.h	'[ *]skb_frag_is_net_iov\('

# generic
have WQ_BH		linux/workqueue.h	'WQ_BH[ 	]*='
have WQ_PERCPU_BH	linux/workqueue.h	'__WQ_BH_ALLOWS[^,]*WQ_PERCPU'
have SYSTEM_PERCPU_WQ	linux/workqueue.h	'\*system_percpu_wq;'
have TIMER_CONTAINER_OF	linux/timer.h	'define timer_container_of\('
have HRTIMER_SETUP	linux/hrtimer.h	'[ *]hrtimer_setup\('
have KMALLOC_OBJ	linux/slab.h	'define kmalloc_obj\('
have VM_FLAGS_SET	linux/mm.h	'[ *]vm_flags_set\('
have STRSCPY_2		linux/string.h	'define strscpy\('
have LINUX_UNALIGNED_H	linux/unaligned.h	'get_unaligned'
have CRC32_OPTIMIZED	linux/crc32.h	'[ *]crc32_optimizations\('
have DMA_BUF_VMAP_UNLOCKED	linux/dma-buf.h	'[ *]dma_buf_vmap_unlocked\('
have IMPORT_NS_STRING	linux/module.h	'define MODULE_IMPORT_NS\(ns\)[^,]*MODULE_INFO\(import_ns, ns\)'
exit 0
