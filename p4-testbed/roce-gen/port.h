/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The network interface of an endpoint. A packet socket receives RoCEv2 and pause frames, and sends
 * complete frames, many frames per system call. The socket has a filter in the kernel, so that
 * other traffic costs no time. The filter accepts packets for the GEN_QPS_MAX QPNs from first_qpn
 * on.
 *
 * The kernel also receives these packets, and would answer with "port unreachable". To prevent this
 * answer, a UDP socket is bound to the RoCE port, and drops all packets. If another socket has the
 * port (Soft-RoCE on the same host), the kernel sends no such answer.
 */
#include <stdint.h>
#include "endpoint.h"

#define GEN_BATCH 64u

struct gen_port {
	int fd, sink;
	int index;
	uint8_t mac[6];
	uint32_t mtu; /* of the interface */
	uint8_t (*in)[GEN_FRAME_MAX + 4]; /* GEN_BATCH frames; + 4: for a restored VLAN tag */
	uint8_t (*out)[GEN_FRAME_MAX];
	uint32_t out_len[GEN_BATCH];
	uint32_t out_first, out_n; /* frames in `out` that are not sent yet */
	uint32_t in_len[GEN_BATCH];
	uint64_t kernel_lost;
};

/* Returns 0, or a negative errno with a message on stderr that names the fix. */
int gen_port_open(struct gen_port *p, const char *interface, uint32_t first_qpn);
void gen_port_close(struct gen_port *p);
/* Receives frames into p->in and p->in_len; returns their number. */
uint32_t gen_port_receive(struct gen_port *p);
/*
 * Sends the frames in p->out. False: the kernel's buffer is full; call this again when the socket
 * is writable.
 */
bool gen_port_flush(struct gen_port *p);
/* Number of frames that the kernel has dropped so far, because its buffer was full. */
uint64_t gen_port_lost(struct gen_port *p);
