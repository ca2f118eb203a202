/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Counters of probes, answers, reports and traces. There is one struct per lcore, and only the
 * lcore's thread writes it. Other threads may read single values at any time (aligned 64-bit
 * loads). One list defines the struct, the names and the help texts. Each probe or report that
 * arrives is counted in peer_probes, and in exactly one of the fourteen counters below peer_probes.
 */
#include <stdint.h>

/* X(field, help) */
#define HP3_PROBE_STATS(X)                                                                         \
	X(peer_probes, "peer probes that arrived")                                                 \
	X(answered, "peer probes answered")                                                        \
	X(reports_accepted, "reports accepted: no replies arrive at the peer")                     \
	X(bad_probe_icrc, "peer probes dropped: wrong ICRC")                                       \
	X(bad_tag, "peer probes dropped: wrong tag; forged, or the hosts' probe_key differ")       \
	X(other_version, "peer probes dropped: of an hp3d with another protocol version")          \
	X(reports_unkeyed, "reports dropped: without a probe_key, none is accepted")               \
	X(reports_old, "reports dropped: perhaps replayed, sent before this hp3d started")         \
	X(bad_clock, "peer probes dropped: their time is too far from this host's clock")          \
	X(replayed, "peer probes dropped: seen before")                                            \
	X(flood_unknown, "peer probes dropped: no probe_key, too many from unknown sources")       \
	X(flood_source, "peer probes dropped: too many from their source")                         \
	X(flood_all, "peer probes dropped: too many in all")                                       \
	X(window_full, "peer probes dropped: no room to record that they were answered")           \
	X(sources_full, "peer probes dropped: no room for one more source")                        \
	X(answers, "answers that arrived")                                                         \
	X(answers_bad_sum, "answers dropped: wrong UDP checksum")                                  \
	X(answers_bad_tag, "answers dropped: wrong tag; forged, or the hosts' probe_key differ")   \
	X(answers_version, "answers dropped: of another version")                                  \
	X(old_key, "probes and answers accepted with probe_key_old")                               \
	X(agreements, "messages about spraying that arrived")                                      \
	X(messages_version, "messages about spraying dropped: of another version")                 \
	X(messages_unkeyed,                                                                        \
		"messages about spraying dropped: without a probe_key, none is accepted")          \
	X(messages_bad_form, "messages about spraying dropped: malformed")                         \
	X(messages_bad_tag, "messages about spraying dropped: wrong tag; forged, or the hosts' "   \
			    "probe_key differ")                                                    \
	X(messages_bad_clock,                                                                      \
		"messages about spraying dropped: their time is too far from this host's clock")   \
	X(messages_old, "messages about spraying dropped: perhaps sent before this hp3d started")  \
	X(messages_replayed,                                                                       \
		"messages about spraying dropped: received before, or newer ones were")            \
	X(messages_no_room, "messages about spraying dropped: no room to record their sender")     \
	X(hellos, "questions for queue pairs that arrived (in verbs mode)")                        \
	X(hellos_answered, "questions for queue pairs answered")                                   \
	X(hellos_bad_tag, "questions and answers for queue pairs dropped: wrong tag; forged, or "  \
			  "the hosts' probe_key differ")                                           \
	X(hellos_bad_form, "datagrams to the port of questions for queue pairs dropped: "          \
			   "malformed")                                                            \
	X(hellos_version, "questions and answers for queue pairs dropped: of another version")     \
	X(hellos_unprivileged, "questions and answers for queue pairs dropped: source port "       \
			       "not privileged, so perhaps of a user of the peer's host")          \
	X(hellos_stray, "answers for queue pairs dropped: no such question is open")               \
	X(hellos_bad_clock, "questions for queue pairs dropped: their time is too far from "       \
			    "this host's clock")                                                   \
	X(hellos_replayed, "questions for queue pairs dropped: seen before, or no room to "        \
			   "record them")                                                          \
	X(hellos_flood, "questions for queue pairs dropped: too many")                             \
	X(traces, "trace probes sent")                                                             \
	X(traces_hop, "traces that found a hop")                                                   \
	X(traces_odd, "traces answered from an address that names no switch")                      \
	X(traces_reached, "traces that reached the peer: hop limit too large")                     \
	X(traces_silent, "traces without an answer")                                               \
	X(traces_stray, "time-exceeded messages that quote no trace under way: passed")            \
	X(traces_bad, "time-exceeded messages with a wrong checksum: passed")

struct hp3_probe_stats {
#define X(field, help) uint64_t field;
	HP3_PROBE_STATS(X)
#undef X
};
