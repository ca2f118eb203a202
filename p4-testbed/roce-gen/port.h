/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The network interface of an endpoint: receives RoCEv2 and pause frames, and sends complete
 * frames, many per system call. A packet socket has a filter in the kernel, so that other traffic
 * costs no time. The filter accepts packets for the GEN_QPS_MAX QPNs from first_qpn on.
 *
 * The kernel also receives these packets, and would answer with "port unreachable". To prevent
 * this, a UDP socket is bound to the RoCE port, and drops all packets. If the port is already in
 * use (by Soft-RoCE on the same host), the kernel does not answer either.
 */
#include <stdint.h>
#include "endpoint.h"

#define GEN_BATCH 64u

struct gen_port {
	int fd, sink;
	int index;
	uint8_t mac[6];
	uint32_t mtu; /* of the interface */
	uint8_t (*in)[GEN_FRAME_MAX + 4]; /* GEN_BATCH frames; with space for a restored VLAN tag */
	uint8_t (*out)[GEN_FRAME_MAX];
	uint32_t out_len[GEN_BATCH];
	uint32_t out_first, out_n; /* frames in `out` that are not sent yet */
	uint32_t in_len[GEN_BATCH];
	uint64_t kernel_lost;
};

/* 0, or a negative errno with a message on stderr that names the fix. */
int gen_port_open(struct gen_port *p, const char *interface, uint32_t first_qpn);
void gen_port_close(struct gen_port *p);
/* Receives frames into p->in and p->in_len; returns their number. */
uint32_t gen_port_receive(struct gen_port *p);
/* Sends p->out; false: the kernel's buffer is full; call again when the socket is writable. */
bool gen_port_flush(struct gen_port *p);
/* Frames that the kernel dropped so far, for lack of buffer. */
uint64_t gen_port_lost(struct gen_port *p);
