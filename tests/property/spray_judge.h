/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SPRAY_JUDGE_H
#define HP3_TESTS_SPRAY_JUDGE_H
/* Runs a world of sprayed queue pairs over all seeds, and those that are always the same with
 * rfr.mode = move, too; what came of it is printed. Times are compared over eight seeds or more. */
#include "spray_world.h"

/* What tests begin with: nothing is lost, paths differ by 200 us. */
struct spray_params spray_base(void);
/* ... and all that may go wrong does. */
struct spray_params spray_trouble(struct spray_params p);
/* The sums. Spraying takes no more than so many percent of the time, but for the RNICs' timers. */
struct spray_result spray_no_slower(struct spray_params p, unsigned percent);
/*
 * ... Packets are lost or damaged: a queue pair waits for each of them once, for spray_wait_us at
 * most. Beside these waits and the RNICs' timers spraying takes no longer than one path does.
 */
struct spray_result spray_waits_once(struct spray_params p);
/* ... 130 %. */
/* ... for as long as it takes. */
struct spray_result spray_any_time(struct spray_params p);
struct spray_result spray_many(struct spray_params p);

/* Worlds in each of which all is drawn: what goes wrong, RNICs, messages, spray_bytes; READs, if so
 * many percent of the messages are. The sums. */
struct spray_result spray_any(uint32_t large_reads_percent);

#endif
