/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_VERBS_COPIES_H
#define HP3D_VERBS_COPIES_H
/*
 * Copies of CNPs (IBTA annex A17.9.3), where the operator has them made: a port of a switch that
 * mirrors to an interface of this host, or an RDMA device that lets a raw packet queue pair listen
 * (libpcap knows both by name). The kernel's filter, or libpcap's, leaves out all else: data are
 * never copied to hp3d. What they say is for the engine to believe, which checks their ICRC; here
 * they are only taken, so many in a call at most.
 */
#include <stdint.h>

#define HP3D_COPIES_MAX 8u /* interfaces */

struct pcap;
struct hp3d_copies {
	struct pcap *from[HP3D_COPIES_MAX];
	uint32_t n;
};

typedef void hp3d_copy_fn(void *ctx, const uint8_t *frame, uint32_t len);

/* `names`: interfaces by comma; empty: none. 0, or -1 after a message that names the fix. */
int hp3d_copies_open(struct hp3d_copies *c, const char *names);
void hp3d_copies_close(struct hp3d_copies *c);
/* Of interface i: readable when there is something to take. */
int hp3d_copies_fd(const struct hp3d_copies *c, uint32_t i);
/*
 * What has come at interface i. Returns how many; negative: it gives none any more, which has been
 * said, and its descriptor is closed.
 */
int hp3d_copies_take(struct hp3d_copies *c, uint32_t i, hp3d_copy_fn *fn, void *ctx);

#endif
