/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Receives copies of CNPs (IBTA annex A17.9.3) from the interfaces in [verbs] copies. A network
 * interface of this host gets the copies from a mirroring switch port. An RDMA device gets the
 * copies by a raw packet queue pair. libpcap opens both by name. A filter in the kernel or in
 * libpcap drops all other frames. The engine checks the ICRC of the copies.
 */
#include <stdint.h>

#define HP3D_COPIES_MAX 8u /* interfaces */

struct pcap;
struct hp3d_copies {
	struct pcap *from[HP3D_COPIES_MAX];
	uint32_t n;
};

typedef void hp3d_copy_fn(void *ctx, const uint8_t *frame, uint32_t len);

/* `names`: interfaces separated by commas; empty: none. Returns 0, or -1 after a message that names
 * the fix. */
int hp3d_copies_open(struct hp3d_copies *c, const char *names);
void hp3d_copies_close(struct hp3d_copies *c);
/* Descriptor of interface i: readable when frames have arrived. */
int hp3d_copies_fd(const struct hp3d_copies *c, uint32_t i);
/*
 * Calls fn for copies that arrived at interface i, 64 at most. Returns their number. Negative: the
 * interface failed; hp3d printed a message, and closed the descriptor.
 */
int hp3d_copies_take(struct hp3d_copies *c, uint32_t i, hp3d_copy_fn *fn, void *ctx);
