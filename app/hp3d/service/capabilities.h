/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CAPABILITIES_H
#define HP3D_CAPABILITIES_H
/*
 * hp3d needs capabilities(7) to open ports and to attach BPF programs, and hardly any afterwards.
 * It drops them, so that an attacker who takes hp3d over by a frame gains little. Capabilities are
 * per thread, and DPDK has started threads by then: each drops its own in a signal handler. (libpsx
 * does the same only for threads created through its wrapper of pthread_create, which libdpdk does
 * not use.) No executed program gets them back (no_new_privs).
 */
#include <stdint.h>
#include "config/config.h"

/* The capabilities that hp3d still needs with this configuration: bit n is capability n. */
uint64_t hp3d_capabilities_needed(const struct hp3_config *cfg);

/*
 * All threads drop their capabilities that are not in `keep`. 0, or -1 after a message on stderr if
 * a thread did not. Main thread, once; threads that start later inherit.
 */
int hp3d_capabilities_drop(uint64_t keep);

/* Names of this thread's capabilities: "net_admin, bpf"; "none"; or, if it has one that hp3d never
 * keeps, "all that it had". */
void hp3d_capabilities_text(char *buf, size_t cap);

#endif
