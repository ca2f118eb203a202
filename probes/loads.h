/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_LOADS_H
#define HP3_PROBES_LOADS_H
/*
 * Reports of long flows (cc/share.h). Two hosts with long flows between them report to each other
 * how many there are.
 *
 * A plain UDP datagram from hp3's own port to hp3's own port. The peer's hp3d consumes the report,
 * and does not answer. All numbers are big-endian; a count of 255 is that many or more:
 *
 *      0  magic 8                             4  wall clock of the sender, us 64
 *      1  version 4 | 0 4                    12  tag 64 (tag.h) over all of the above
 *      2  long flows of the sender
 *         to the receiver 8
 *      3  long flows of all hosts
 *         to the sender 8
 *
 * The clock orders the reports of a pair of hosts, so a late report cannot replace a newer one.
 * Each report has an effect once (heard.h). Counts are hints. hp3d drops reports of hosts without a
 * key.
 */
#include "probes/heard.h"

struct hp3_long_counts {
	uint16_t out; /* long flows of the sender to the receiver */
	uint16_t in; /* long flows of all hosts to the sender */
};

struct hp3_loads {
	uint64_t clock_us;
	struct hp3_long_counts count;
};

/*
 * Builds a report from this host to the peer of *a. `port` is both source and destination port.
 * Returns the length of the frame in buf, or -ENOSPC.
 */
int hp3_loads_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_loads *report, uint16_t port, const struct hp3_probe_key *key);

enum hp3_loads_fate {
	HP3_LOADS_NONE, /* not a report: forward it */
	HP3_LOADS_OK, /* consume it; *report is valid */
	HP3_LOADS_DROP, /* it has the magic of a report, but is invalid: counted; consume it */
};

/* What the receiver needs to authenticate messages, to detect replays, and to count drops. */
struct hp3_loads_ear {
	const struct hp3_probe_keys *keys;
	struct hp3_heard *heard;
	struct hp3_heard_time time;
	uint16_t port; /* hp3's own */
	struct hp3_probe_stats *stats;
};

/*
 * Reads a report. Call it for frames that hp3_parse() calls NOT_ROCE. OK once for each report
 * (heard.h).
 */
enum hp3_loads_fate hp3_loads_read(const void *frame, uint32_t len, const struct hp3_view *v,
	const struct hp3_loads_ear *ear, struct hp3_loads *report);

struct hp3_datagram;
/* Does this authentic message count, by its stamp (heard.h)? If not, the reason is counted. */
bool hp3_loads_counts(const struct hp3_loads_ear *ear, const struct hp3_datagram *d,
	enum hp3_tag_kind kind, uint64_t stamp);

#endif
