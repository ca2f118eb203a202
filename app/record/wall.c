/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/record/record.h"
#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000ull

void hp3_wall_text(uint64_t wall_ns, char buf[HP3_WALL_TEXT])
{
	time_t s = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(buf, HP3_WALL_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, HP3_WALL_TEXT - n, ".%06uZ", (unsigned)(wall_ns % NS_PER_S / 1000));
}
