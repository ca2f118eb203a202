/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CLAIM_H
#define HP3D_CLAIM_H
/*
 * An interface of the kernel belongs to one hp3d at a time: two would both forward what its tap
 * shows them. And net_af_packet gets a fanout group of its own.
 */
#include <sys/types.h>

/*
 * Locks the interface for as long as this process lives: 0, or the process that has it. Where
 * nobody can say (no /run/hp3, not root) it counts as free.
 */
pid_t hp3d_claim_interface(const char *name);

/*
 * net_af_packet of DPDK 22.11 calls its fanout group getpid() ^ interface index, sixteen bits, and
 * takes no other: with several hp3d in one network namespace two of them meet by chance (processes
 * 1000 and 1001 on interfaces 6 and 7), and one fails to start, every time anew with the same
 * process id. Between these two calls this thread's getpid() is one that leads to a group that is
 * free.
 */
void hp3d_fanout_begin(const char *interface);
void hp3d_fanout_end(void);

#endif
