/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_WALL_H
#define HP3_RECORD_WALL_H
/* A wall-clock time (ns since 1970) as a text in UTC (RFC 3339). */
#include <stdint.h>

#define HP3_WALL_TEXT 40u

/* "2026-01-31T23:59:59.123456Z" */
void hp3_wall_text(uint64_t wall_ns, char buf[HP3_WALL_TEXT]);

#endif
