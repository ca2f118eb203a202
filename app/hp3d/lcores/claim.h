/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CLAIM_H
#define HP3D_CLAIM_H
/*
 * A kernel interface belongs to one hp3d at a time: two would both forward its frames. And
 * net_af_packet gets a fanout group of its own.
 */
#include <sys/types.h>

/*
 * Locks the interface for as long as this process lives: 0, or the process that has it. If that
 * cannot be found out (no /run/hp3, not root), it counts as free.
 */
pid_t hp3d_claim_interface(const char *name);

/*
 * net_af_packet of DPDK 22.11 numbers its fanout group getpid() ^ interface index, 16 bits, which
 * cannot be changed. Two hp3d in one network namespace may get the same group (processes 1000 and
 * 1001 on interfaces 6 and 7); then one fails to start, again and again with the same process id.
 * Between these two calls, this thread's getpid() returns a value that leads to a free group.
 */
void hp3d_fanout_begin(const char *interface);
void hp3d_fanout_end(void);

#endif
