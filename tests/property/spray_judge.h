/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Each function runs a world of sprayed queue pairs with all seeds, fixed seeds also with rfr.mode
 * = move. It prints the results and returns their sums. Times are compared only if there are eight
 * seeds or more. */
#include "spray_world.h"

/* Default parameters: no losses, paths differ by 200 us. */
struct spray_params spray_base(void);
/* The parameters p with all kinds of faults added. */
struct spray_params spray_trouble(struct spray_params p);
/* Checks that spraying takes at most this percentage of the time that one path takes; waits for the
 * RNICs' timers do not count. */
struct spray_result spray_no_slower(struct spray_params p, unsigned percent);
/*
 * For worlds that lose or damage packets. A queue pair may wait once for each of these packets, at
 * most spray_wait_us. Checks that without these waits, and without the RNICs' timers, spraying
 * takes no longer than one path.
 */
struct spray_result spray_waits_once(struct spray_params p);
/* Has no limit of time. */
struct spray_result spray_any_time(struct spray_params p);
/* spray_no_slower() with 130 %. */
struct spray_result spray_many(struct spray_params p);

/* Worlds with random parameters: faults, RNICs, messages, spray_bytes. `large_reads_percent`: share
 * of large READs among the messages. */
struct spray_result spray_any(uint32_t large_reads_percent);
