/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The answer to "health" has a list of warnings: all conditions in the answer that need an
 * operator. A condition that hp3d counts stays in the list until hp3d ends. So each warning says
 * since when it exists, and whether its counter rose during the last minute.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "config/config.h"

/*
 * The warnings {"code","text","fix"} for these data of the answer; NULL: no memory. A warning about
 * a counter also has "count", and its text ends with ": COUNT".
 */
json_t *hp3d_health_warnings(json_t *health);

/* verdict.c: times of warnings, and the verdict */

#define HP3D_WARNING_NOW_NS 60000000000ull

/* The warnings that exist, from one call to the next. All zero: none. */
struct hp3d_warnings {
	json_t *times; /* by warning: since (wall clock, ns), rose (ns), count */
};

/*
 * Adds to each warning: "since", UTC as text; and "now". A warning about a counter has now = true
 * if the counter rose during the last minute before `now_ns`; all others always have now = true.
 * Call this every few seconds with all warnings. Warnings that are no longer in the list are
 * forgotten.
 */
void hp3d_warnings_note(
	struct hp3d_warnings *known, json_t *list, uint64_t now_ns, uint64_t wall_ns);
void hp3d_warnings_free(struct hp3d_warnings *known);

/*
 * "ok": no warnings. "warning": hp3d works, and does traffic no harm now. Otherwise, the worst that
 * happens now: "lcore-hangs", "link-down", "direct", "silent", or "drops".
 */
const char *hp3d_health_status(json_t *warnings);

/* health.c */
/* Notes the warnings of this hp3d. Call it in a loop; it does this every five seconds. */
void hp3d_health_watch(const struct hp3_config *cfg);
void hp3d_health_end(void);
