/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Starts DPDK's environment abstraction layer (EAL) from the configuration. By default, EAL uses no
 * hugepages. The main lcore is for the control thread; each worker has one more lcore. Lcores may
 * share CPUs. Several hp3d on a host need different values of [eal] file_prefix.
 */
#include "config/config.h"

/* Returns 0, or -1 after a message on stderr. `quiet` is for a replay: no PCI devices, no
 * telemetry, and no messages of DPDK except emergencies. */
int hp3d_eal_init(const struct hp3_config *cfg, unsigned workers, bool quiet);

/* Monotonic nanoseconds from the time-stamp counter. Call it after hp3d_eal_init(). */
uint64_t hp3d_now(void);
