/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages between hosts and planners, and their encoding: CBOR arrays in which each field has a
 * fixed position. The first two items are version and kind. A message has only one encoding:
 * decoding and encoding a message gives the same bytes. A decoder refuses all other bytes. The
 * kinds of messages, their NATS subjects, and their contents:
 *
 *     report     hp3.report.HOST   from a host: its heaviest flows, their paths, and other paths;
 *                                  also the host's keep-alive
 *     plan       hp3.plan          from the leading planner: which flows should move to which EV
 *     keep-alive hp3.keepalive     from a planner to the others: that it runs, and whether it leads
 *
 * Rates are in kbit/s, times in the unit of the name. A receiver never compares a sender's clock
 * with its own clock: wall_ms is only displayed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_FLEET_VERSION 2u

#define HP3_FLEET_NAME        64u /* most bytes of a host's or planner's name, with NUL */
#define HP3_FLEET_LEAF        32u /* most bytes of a leaf's name, with NUL */
#define HP3_FLEET_ADDRS       8u /* most addresses of a host */
#define HP3_FLEET_HOPS        64u /* most switches in a report */
#define HP3_FLEET_FLOWS       32u /* most flows in a report, which has the heaviest flows */
#define HP3_FLEET_ALTS        8u /* most other paths of a flow */
#define HP3_FLEET_MOVES       64u /* most moves of a plan */
#define HP3_FLEET_BYTES       16384u /* most bytes of a message */
#define HP3_FLEET_NO_HOP      0xffu
#define HP3_FLEET_INTERVAL_MS 60000u /* longest time between regular reports */

struct hp3_fleet_addr {
	uint8_t len; /* 4 or 16; 0: no address */
	uint8_t b[16];
};

struct hp3_fleet_key {
	struct hp3_fleet_addr src, dst;
	uint32_t qpn; /* QPN of the receiver */
};

/* Another path that the host has found: packets with this source port cross this switch. */
struct hp3_fleet_alt {
	uint16_t port;
	uint8_t hop; /* index of the switch in the report */
};

#define HP3_FLEET_MOVABLE 0x01u /* the host's rules allow a move now */
#define HP3_FLEET_SEVERE  0x02u /* the host measures severe congestion on the flow's path */

/* The outcome of advice about a flow. The host reports the outcome for some time. */
enum hp3_fleet_advised {
	HP3_FLEET_NOT_ADVISED,
	HP3_FLEET_MOVED,
	HP3_FLEET_DECLINED, /* hp3d probed the advised path, and it is no better */
	HP3_FLEET_REFUSED, /* hp3d did not probe the advised path */
	HP3_FLEET_ADVISED_MAX
};

struct hp3_fleet_flow {
	struct hp3_fleet_key key;
	uint16_t port;
	uint8_t hop; /* index in the report of its path's switch; HP3_FLEET_NO_HOP: not known */
	uint8_t flags;
	uint16_t marked_permille;
	uint8_t n_alts;
	struct hp3_fleet_alt alt[HP3_FLEET_ALTS];
	uint8_t advised; /* enum hp3_fleet_advised */
	uint16_t advised_port; /* the EV in that advice; 0: none */
	uint32_t rtt_ns, base_rtt_ns;
	uint32_t settled_ms; /* time since the flow's last move, or since the agent first saw it */
	uint32_t failures; /* number of retransmissions */
	uint64_t rate_kbps;
	uint64_t bytes;
	uint64_t marks; /* estimate: marked packets since the agent first saw the flow */
};

#define HP3_FLEET_CAN_MOVE  0x01u
#define HP3_FLEET_CAN_TRACE 0x02u

struct hp3_fleet_report {
	char host[HP3_FLEET_NAME];
	char leaf[HP3_FLEET_LEAF]; /* "": not known */
	uint64_t instance; /* drawn at random when the agent starts */
	uint64_t seq; /* rises with each report */
	uint64_t wall_ms;
	uint32_t interval_ms;
	uint32_t capability; /* HP3_FLEET_CAN_* */
	uint32_t all_flows; /* number of flows of the host, including those not in the report */
	uint8_t n_addrs, n_hops, n_flows;
	struct hp3_fleet_addr addr[HP3_FLEET_ADDRS];
	struct hp3_fleet_addr hop[HP3_FLEET_HOPS];
	struct hp3_fleet_flow flow[HP3_FLEET_FLOWS];
};

struct hp3_fleet_move {
	char host[HP3_FLEET_NAME];
	uint64_t instance;
	struct hp3_fleet_key key;
	struct hp3_fleet_addr from_hop, to_hop;
	uint16_t from_port, to_port;
	uint64_t rate_kbps;
	uint64_t before_kbps; /* load of the link that the flow is to leave */
	uint64_t after_kbps; /* load of the fullest link of its new path, with the flow */
};

struct hp3_fleet_plan {
	char planner[HP3_FLEET_NAME];
	uint64_t term, epoch; /* newer: a higher term, or the same term and a higher epoch */
	uint32_t valid_ms; /* valid for this time after its arrival */
	uint32_t hosts, flows, links; /* numbers of these in the plan's map */
	uint64_t worst_before_kbps, worst_after_kbps; /* load of the fullest link */
	uint8_t n_moves;
	struct hp3_fleet_move move[HP3_FLEET_MOVES];
};

struct hp3_fleet_keepalive {
	char planner[HP3_FLEET_NAME];
	uint64_t term;
	bool leads;
};

/* Returns the number of bytes written; 0: no room. The fields must be within their ranges. */
size_t hp3_fleet_report_encode(const struct hp3_fleet_report *r, uint8_t *to, size_t room);
size_t hp3_fleet_plan_encode(const struct hp3_fleet_plan *p, uint8_t *to, size_t room);
size_t hp3_fleet_keepalive_encode(const struct hp3_fleet_keepalive *b, uint8_t *to, size_t room);

/*
 * Returns 0; -EPROTONOSUPPORT: another version; -EBADMSG: not a message of this kind. *out is
 * complete only on success.
 */
int hp3_fleet_report_decode(const uint8_t *from, size_t len, struct hp3_fleet_report *out);
int hp3_fleet_plan_decode(const uint8_t *from, size_t len, struct hp3_fleet_plan *out);
int hp3_fleet_keepalive_decode(const uint8_t *from, size_t len, struct hp3_fleet_keepalive *out);

/* Compares by length, then by bytes. Returns as memcmp() does. */
int hp3_fleet_addr_cmp(const struct hp3_fleet_addr *a, const struct hp3_fleet_addr *b);
int hp3_fleet_key_cmp(const struct hp3_fleet_key *a, const struct hp3_fleet_key *b);

/*
 * Returns the index of a switch in the report. Adds the switch if the report does not have it;
 * HP3_FLEET_NO_HOP: no room.
 */
uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop);
/*
 * True: neither the flow's path nor its other paths cross this switch. False if `hop` is
 * HP3_FLEET_NO_HOP.
 */
bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop);
