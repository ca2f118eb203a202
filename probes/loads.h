/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_LOADS_H
#define HP3_PROBES_LOADS_H
/*
 * Reports of flows. A host advertises to each peer how many active flows it sends to this peer on
 * each path. The peer can then advertise to all hosts how many flows arrive on each path
 * (ppp/placement.h). The report also has the number of long flows on each spine path
 * (engine/paths/spine_paths.h).
 *
 * To its rack peers, a host advertises only the numbers of long flows, counted over all its flows
 * (RACK).
 *
 * A plain UDP datagram from hp3's own port to hp3's own port. The peer's hp3d consumes the report,
 * and does not answer. All numbers are big-endian; a count of 255 is that many or more:
 *
 *      0  magic 8                  12  n x { name of the path 16, active flows 8 }: all paths in
 *      1  version 4 | kind 4           use, the rest have none
 *      2  n 8                      12 + 3 n  m x { name of the spine path 16, long flows that leave
 *      3  m 8                          by it 8, that arrive by it 8 }; likewise
 *      4  wall clock of the        12 + 3 n + 4 m  tag 64 (tag.h) over all of the above
 *         sender, us 64
 *
 * The names of paths are the same at all hosts (engine/paths/trace.h). The clock orders the reports
 * of a pair of hosts, so a late report cannot replace a newer one. Each report has an effect once
 * (heard.h). Counts are hints: at worst, a flow begins on a busier path. hp3d drops reports of
 * hosts without a key.
 */
#include "probes/heard.h"

#define HP3_LOADS_PATHS       32u
#define HP3_LOADS_SPINE_PATHS 32u

struct hp3_path_count {
	uint16_t name, count;
};

/* Numbers of long flows that leave (`out`) and that arrive (`in`) by one spine path. */
struct hp3_spine_path_count {
	uint16_t name;
	uint16_t out, in;
};

enum hp3_loads_kind {
	HP3_LOADS_OF_PATHS, /* to a peer, with paths alone: the sender counts no spine paths */
	HP3_LOADS_OF_SPINE_PATHS, /* to a peer, with paths and spine paths */
	HP3_LOADS_OF_RACK, /* to a rack peer, with spine paths alone */
	HP3_LOADS_KIND_MAX
};

/*
 * Names that no path has. Counts with these names are numbers of long flows on all paths together.
 * LONG, in a report: long flows of the sender to the receiver. LONG_IN, in reports and answers:
 * long flows of all senders to the host that sends the message.
 */
#define HP3_NAME_LONG    0xffffu
#define HP3_NAME_LONG_IN 0xfffeu

static inline bool hp3_is_long_name(uint16_t name)
{
	return name >= HP3_NAME_LONG_IN;
}

struct hp3_loads {
	uint64_t clock_us;
	uint8_t kind; /* enum hp3_loads_kind */
	uint8_t n, spine_paths;
	struct hp3_path_count path[HP3_LOADS_PATHS];
	struct hp3_spine_path_count spine_path[HP3_LOADS_SPINE_PATHS];
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
