/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module makes hp3d a service of the host. The module notifies the service manager when
 * packets pass, when hp3d reloads, and when hp3d stops (sd_notify(3), if $NOTIFY_SOCKET is set).
 * With a watchdog ($WATCHDOG_USEC), hp3d also reports that it works. The report means: the main
 * thread runs, and every lcore made a round of its loop within half of the watchdog's time. This
 * module calls functions of the lcores to read the times of their latest rounds.
 *
 * Main thread only.
 */
#include <stdint.h>
#include "config/config.h"

/* Call it when the lcores run. `keep`: the capabilities to keep, from
 * hp3d_capabilities_needed(). */
void hp3d_service_start(const struct hp3_config *cfg, uint64_t keep);

/*
 * Call it repeatedly, even during a stop. Once each lcore has made a round, the function drops
 * capabilities (hp3d_capabilities_drop()), reports the service as ready, and prints one line on
 * stderr.
 */
void hp3d_service_pulse(void);

/* True: the service is ready, and the process's privileges do not change any more. */
bool hp3d_service_is_ready(void);

void hp3d_service_reloading(void);
void hp3d_service_reloaded(void);
void hp3d_service_stopping(void);

/*
 * hp3d needs capabilities(7) to open ports and to attach BPF programs. Afterwards, hp3d needs
 * hardly any capability, and drops the others. So an attacker who takes hp3d over by a frame gains
 * little. Capabilities are per thread, and DPDK has started threads before the drop. So each thread
 * drops its own capabilities in a signal handler. (libpsx does the same only for threads created
 * through its wrapper of pthread_create, which libdpdk does not use.) A program that hp3d executes
 * cannot get the capabilities back (no_new_privs).
 */

/* The capabilities that hp3d still needs with this configuration: bit n is capability n. */
uint64_t hp3d_capabilities_needed(const struct hp3_config *cfg);

/*
 * All threads drop their capabilities that are not in `keep`. Returns 0, or -1 after a message on
 * stderr if a thread did not drop them. The main thread calls it once. Threads that start later
 * inherit the remaining capabilities.
 */
int hp3d_capabilities_drop(uint64_t keep);

/* Writes the names of this thread's capabilities, for example "net_admin, bpf", or "none". If the
 * thread has a capability that hp3d never keeps, writes "all that it had". */
void hp3d_capabilities_text(char *buf, size_t cap);

/*
 * Carries the link state from each side of a rail to the other side ([bypass] carry_link). While
 * one interface has no carrier, hp3d sets the other interface down.
 *
 * A separate process does this. hp3d forks the process before hp3d creates threads. The process
 * keeps only CAP_NET_ADMIN, and continues while hp3d hangs. When hp3d ends for any reason, the
 * process sets the interfaces up again that it had set down. If the process itself is killed, the
 * next hp3d sets these interfaces up: a file in /run/hp3 lists them.
 *
 * The process serves only rails whose ports are both kernel interfaces. control/links.c sets ports
 * of other drivers down. On a rail with one kernel interface, hp3d never sets that interface down.
 */

/* Sets interfaces up that a killed process left down. Then starts the process if carry_link is on.
 * Returns -1 after a message. */
int hp3d_carry_begin(const struct hp3_config *cfg);
/* Begins to watch links. Call it after ports were opened, which may take links down. */
void hp3d_carry_start(void);
void hp3d_carry_end(void);

/*
 * hp3d has secrets in its memory: its identity ([probes] keys = auto), or a configured key
 * (probe_key). With a secret, hp3d leaves no core dump, whatever kernel.core_pattern is. In all
 * cases, other users cannot write to files that hp3d creates.
 */

/* Sets the umask: other users cannot write to files that hp3d creates after this call. */
void hp3d_secrets_mask(void);
/* With a secret, forbids core dumps (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). May be called
 * again. */
void hp3d_secrets_keep(const struct hp3_config *cfg);
