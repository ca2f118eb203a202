/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_PORT_H
#define ROCE_GEN_PORT_H
/*
 * A network interface as the endpoint sees it: RoCEv2 and pause frames in, whole frames out, many
 * with one system call. A packet socket with a filter in the kernel, so that other traffic costs
 * nothing: packets for GEN_QPS_MAX queue pairs from the first one on pass.
 *
 * The kernel sees the same packets and would answer them with "port unreachable": a UDP socket that
 * takes all of them and keeps none prevents that. Where the port is taken already (Soft-RoCE on the
 * same host), nothing is answered either.
 */
#include <stdint.h>
#include "endpoint.h"

#define GEN_BATCH 64u

struct gen_port {
	int fd, sink;
	int index;
	uint8_t mac[6];
	uint32_t mtu; /* of the interface */
	uint8_t (*in)[GEN_FRAME_MAX + 4]; /* GEN_BATCH each; room for a VLAN tag put back */
	uint8_t (*out)[GEN_FRAME_MAX];
	uint32_t out_len[GEN_BATCH];
	uint32_t out_first, out_n; /* filled, not sent */
	uint32_t in_len[GEN_BATCH];
	uint64_t kernel_lost;
};

/* 0, or a negative errno with a message on stderr that names the fix. */
int gen_port_open(struct gen_port *p, const char *interface, uint32_t first_qpn);
void gen_port_close(struct gen_port *p);
/* How many frames came, into p->in and p->in_len; 0: none. */
uint32_t gen_port_receive(struct gen_port *p);
/* Sends what is in p->out; false: the kernel has no room, call again when it has. */
bool gen_port_flush(struct gen_port *p);
/* Frames that the kernel had no room for so far. */
uint64_t gen_port_lost(struct gen_port *p);

#endif
