/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CAPABILITIES_H
#define HP3D_CAPABILITIES_H
/*
 * hp3d needs capabilities(7) to open ports and to attach BPF programs, and hardly any once that is
 * done: a frame that takes it over then has a process that can do little else. Capabilities are a
 * thread's, and DPDK has threads that were there before: each gives up its own, in a signal's
 * handler. (libpsx, which does the like, sees threads only that are created through a wrapper of
 * pthread_create, and libdpdk's are not.) No program that is executed gets them back
 * (no_new_privs).
 */
#include <stdint.h>
#include "config/config.h"

/* Which of them hp3d goes on to need with this configuration: bit n is capability n. */
uint64_t hp3d_capabilities_needed(const struct hp3_config *cfg);

/*
 * All threads keep those of `keep` that they have, and lose the others. 0, or -1 after a message on
 * stderr if a thread did not. Main thread, once; threads that start later inherit.
 */
int hp3d_capabilities_drop(uint64_t keep);

/* Names of what this thread has, "net_admin, bpf", or "none", or "all". */
void hp3d_capabilities_text(char *buf, size_t cap);

#endif
