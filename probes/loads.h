/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_LOADS_H
#define HP3_PROBES_LOADS_H
/*
 * What a host tells a peer of the flows that it sends there: how many are active on each path, so
 * that the peer can tell everybody how many flows come in by it (ppp/placement.h), and how many
 * long ones take each way between racks (engine/paths/ways.h). What it tells the other hosts of
 * its rack is the latter alone, of all its flows (RACK). A plain UDP datagram from hp3's own port
 * to hp3's own port, consumed by the hp3d there; nobody answers it. All numbers big-endian; a count
 * of 255 is that many or more:
 *
 *      0  magic 8                  12  n x { name of the path 16, active flows 8 }: all paths in
 *      1  version 4 | kind 4           use, the rest have none
 *      2  n 8                      12 + 3 n  m x { name of the way 16, long flows that leave by it
 *      3  m 8                          8, that come in by it 8 }; likewise
 *      4  wall clock of the        12 + 3 n + 4 m  tag 64 (tag.h) over all of the above
 *         sender, us 64
 *
 * Paths bear names that all hosts agree on (engine/paths/trace.h). The clock orders the reports of
 * a pair of hosts, so that an old one cannot undo a newer one, and lets each act once (heard.h).
 * Counts are advice: at worst a flow begins on a busier path. Without a key none is believed.
 */
#include "probes/heard.h"

#define HP3_LOADS_PATHS 32u
#define HP3_LOADS_WAYS  32u

struct hp3_path_count {
	uint16_t name, count;
};

/* Long flows on one way. */
struct hp3_way_count {
	uint16_t name;
	uint16_t out, in;
};

enum hp3_loads_kind {
	HP3_LOADS_OF_PATHS, /* to a peer; m is zero: the sender counts no ways */
	HP3_LOADS_OF_WAYS, /* ... it does */
	HP3_LOADS_OF_RACK, /* to a host of the sender's rack; n is zero */
	HP3_LOADS_KIND_MAX
};

/*
 * Names that no path has. In a report: how many long flows of the sender reach the receiver. In
 * reports and answers: how many come into the host that says so, all senders together.
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
	uint8_t n, ways;
	struct hp3_path_count path[HP3_LOADS_PATHS];
	struct hp3_way_count way[HP3_LOADS_WAYS];
};

/* *a: from here to the peer; sport is `port` as well. Length of the frame in buf, or -ENOSPC. */
int hp3_loads_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_loads *report, uint16_t port, const struct hp3_probe_key *key);

enum hp3_loads_fate {
	HP3_LOADS_NONE, /* none at all: passes */
	HP3_LOADS_OK, /* consume it; *report is valid */
	HP3_LOADS_DROP, /* one by its looks, but unsound: counted and consumed */
};

/* What is needed to believe it. */
struct hp3_loads_ear {
	const struct hp3_probe_keys *keys;
	struct hp3_heard *heard;
	struct hp3_heard_time time;
	uint16_t port; /* hp3's own */
	struct hp3_probe_stats *stats;
};

/* To be asked for frames that hp3_parse() calls NOT_ROCE. OK once for each report (heard.h). */
enum hp3_loads_fate hp3_loads_read(const void *frame, uint32_t len, const struct hp3_view *v,
	const struct hp3_loads_ear *ear, struct hp3_loads *report);

struct hp3_datagram;
/* May this sound message of hp3d's, with this stamp, be acted on? Else what it is dropped for is
 * counted. */
bool hp3_loads_counts(const struct hp3_loads_ear *ear, const struct hp3_datagram *d,
	enum hp3_tag_kind kind, uint64_t stamp);

#endif
