/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_VERBS_COPIES_H
#define HP3D_VERBS_COPIES_H
/*
 * Copies of CNPs (IBTA annex A17.9.3), if the operator configured them: a switch port that mirrors
 * to an interface of this host, or an RDMA device with a raw packet queue pair (libpcap opens both
 * by name). The filter of the kernel or of libpcap drops all other frames: data are never copied to
 * hp3d. This file only receives the copies, a bounded number per call. The engine checks their
 * ICRC.
 */
#include <stdint.h>

#define HP3D_COPIES_MAX 8u /* interfaces */

struct pcap;
struct hp3d_copies {
	struct pcap *from[HP3D_COPIES_MAX];
	uint32_t n;
};

typedef void hp3d_copy_fn(void *ctx, const uint8_t *frame, uint32_t len);

/* `names`: interfaces separated by commas; empty: none. 0, or -1 after a message that names the
 * fix. */
int hp3d_copies_open(struct hp3d_copies *c, const char *names);
void hp3d_copies_close(struct hp3d_copies *c);
/* Descriptor of interface i: readable when frames have arrived. */
int hp3d_copies_fd(const struct hp3d_copies *c, uint32_t i);
/*
 * Calls fn for each copy that arrived at interface i. Returns their number. Negative: the interface
 * failed; a message was printed, and its descriptor is closed.
 */
int hp3d_copies_take(struct hp3d_copies *c, uint32_t i, hp3d_copy_fn *fn, void *ctx);

#endif
