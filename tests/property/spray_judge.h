/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SPRAY_JUDGE_H
#define HP3_TESTS_SPRAY_JUDGE_H
/* Runs a world of sprayed queue pairs over all seeds, fixed seeds also with rfr.mode = move, and
 * prints the results. Times are compared over eight seeds or more. */
#include "spray_world.h"

/* Default parameters: no losses, paths differ by 200 us. */
struct spray_params spray_base(void);
/* ... with all faults. */
struct spray_params spray_trouble(struct spray_params p);
/* The sums. Spraying takes at most this percentage of the time, without the RNICs' timers. */
struct spray_result spray_no_slower(struct spray_params p, unsigned percent);
/*
 * ... Packets are lost or damaged: a queue pair waits for each of them once, at most spray_wait_us.
 * Apart from these waits and the RNICs' timers, spraying takes no longer than one path.
 */
struct spray_result spray_waits_once(struct spray_params p);
/* ... 130 %. */
/* ... for as long as it takes. */
struct spray_result spray_any_time(struct spray_params p);
struct spray_result spray_many(struct spray_params p);

/* Worlds with random parameters: faults, RNICs, messages, spray_bytes; READs, as a percentage of
 * the messages. The sums. */
struct spray_result spray_any(uint32_t large_reads_percent);

#endif
