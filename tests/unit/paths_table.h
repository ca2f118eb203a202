/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* One path table, `table`, and common steps of its tests: probes of ports are answered, or ports
 * fail. */
#include "ppp/paths.h"

#define PATHS_SEED 0x9a7b5u
#define US         1000ull
#define MS         1000000ull

extern const struct hp3_paths_params params;
extern struct hp3_paths table;
extern struct hp3_traces traces;

/* cmocka fixture: an empty table. */
int paths_setup(void **state);
#define PATHS_TEST(name) cmocka_unit_test_setup(name, paths_setup)

/* Index of the entry of `port`; makes an entry if there is none. */
int entry(uint16_t port, uint64_t now);
void reply(uint16_t port, uint32_t rtt, bool marked, uint64_t now);
uint32_t flows_on(uint16_t port); /* number of flows on the path of this port */
enum hp3_quality quality(uint16_t port, uint64_t now);
/* Makes `port` fail by three losses in separate windows, while port 0xc000 is answered. Returns the
 * time of the failure. */
uint64_t break_path(uint16_t port, uint64_t now);
