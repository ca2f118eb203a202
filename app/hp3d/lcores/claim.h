/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CLAIM_H
#define HP3D_CLAIM_H
/*
 * Only one hp3d at a time may use a kernel interface: two would both forward its frames. This file
 * locks interfaces, and finds a free fanout group for net_af_packet.
 */
#include <sys/types.h>

/*
 * Locks the interface for as long as this process lives. Returns 0, or the id of the process that
 * has locked it. If /run/hp3 cannot be used (hp3d is not root), the interface counts as free.
 */
pid_t hp3d_claim_interface(const char *name);

/*
 * net_af_packet of DPDK 22.11 uses fanout group getpid() ^ interface index (16 bits). No option
 * changes this. Two hp3d in one network namespace may get the same group, for example processes
 * 1000 and 1001 on interfaces 6 and 7. Then one of them cannot start, also at a restart with the
 * same process id. Between these two calls, this thread's getpid() returns a value for which the
 * group is free.
 */
void hp3d_fanout_begin(const char *interface);
void hp3d_fanout_end(void);

#endif
