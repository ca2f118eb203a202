/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The switch program for DPDK's SWX pipeline: the same switch as ../p4/hp3.p4, as data for the
 * public rte_swx_pipeline_* calls. The data are structs, headers, actions, tables and textual
 * instructions. No P4 compiler makes these data, so a test compares them with hp3.p4. The headers,
 * the tables with keys and match kinds, the actions with parameters, the counters, the meter and
 * the constants must be equal. The function hp3_program_dump() prints the data for this test.
 *
 * Steps for each packet:
 * 1. Parse the headers, check the IPv4 checksum.
 * 2. If the TTL ends, answer with ICMP "time exceeded" (RFC 792, RFC 4443). A meter limits the
 *    rate.
 * 3. Look up the destination by longest prefix. The result is an ECMP group.
 * 4. A CRC over (seed, source, destination, source port, destination port, protocol [, destination
 *    QPN]) in network order selects one of 256 buckets. Group and bucket select the next hop.
 * 5. Mark ECN by the depth of the queue that the packet enters (RFC 3168).
 *
 * Marking needs no multiplication, because switches cannot multiply. With R drawn uniformly from
 * 0 .. width-1 and width = (Kmax - Kmin) / Pmax,
 *     P(depth > Kmin + R) = Pmax * (depth - Kmin) / (Kmax - Kmin)
 * is RED's line. Above Kmax, all packets are marked.
 */
#include <stdint.h>
#include <stdio.h>
#include <rte_swx_pipeline.h>

#define HP3_PROGRAM_BUCKETS   256u /* per ECMP group */
#define HP3_PROGRAM_PORTS     64u /* of a switch, at most */
#define HP3_PROGRAM_DROP_PORT 63u /* output port of dropped packets */
#define HP3_PROGRAM_FLOWS     4096u /* flow counters, by hash: flows may share a counter */
#define HP3_PROGRAM_ROUTES    1024u /* per address family */
#define HP3_PROGRAM_GROUPS    64u

/* hash_kind of set_config */
enum hp3_program_hash {
	HP3_PROGRAM_CRC32 = 0,
	HP3_PROGRAM_CRC16 = 1,
	HP3_PROGRAM_CRC32_QPN = 2,
	HP3_PROGRAM_CRC16_QPN = 3,
};

/* Why the program drops a packet: index of the counter `drops`. X(symbol, text). */
#define HP3_PROGRAM_DROPS(X)                                                                       \
	X(NOT_IP, "not-ip")                                                                        \
	X(BAD_HEADER, "bad-ip-header")                                                             \
	X(BAD_CHECKSUM, "bad-ip-checksum")                                                         \
	X(NO_ROUTE, "no-route")                                                                    \
	X(TTL, "ttl-expired")                                                                      \
	X(ICMP_RATE, "ttl-expired-over-icmp-rate")

enum hp3_program_drop {
#define X(sym, text) HP3_DROP_##sym,
	HP3_PROGRAM_DROPS(X)
#undef X
		HP3_DROP_MAX
};

/*
 * Bytes that the meter counts for one ICMP message. A rate of the meter is packets per second times
 * this.
 */
#define HP3_PROGRAM_ICMP_COST 64u

/*
 * Registers types, headers, actions, tables and instructions with a pipeline. The ports of the
 * pipeline must exist. The constructor of the extern object `tm` gets `index` (externs.h). Returns
 * 0, or a negative errno; *what then names the part that the pipeline refused.
 */
int hp3_program_load(struct rte_swx_pipeline *p, unsigned index, const char **what);

void hp3_program_dump(FILE *out); /* JSON */

/*
 * The program as data. program_text.c defines the data; program.c loads and dumps them. Lists end
 * with an element whose name or instruction is NULL.
 */
struct hp3_program_field {
	const char *name;
	uint32_t bits;
};

struct hp3_program_struct {
	const char *name;
	struct hp3_program_field fields[40];
};

/*
 * A header instance: `name` in the packet, of struct type `type`. `scratch`: the header is never on
 * the wire.
 */
struct hp3_program_header {
	const char *name, *type;
	uint32_t scratch;
};

struct hp3_program_action {
	const char *name;
	const char *args; /* struct type, or NULL */
	const char *code[8];
};

/* match: "exact" or "lpm". Without keys, the default action is the only entry. */
struct hp3_program_table {
	const char *name;
	const char *key[4];
	const char *match[4];
	const char *actions[4];
	const char *miss; /* default action */
	const char *miss_args;
	uint32_t size;
};

/* A counter is a pair of register arrays, NAME_packets and NAME_bytes; `drops` has only packets. */
struct hp3_program_counter {
	const char *name;
	uint32_t size;
	uint32_t bytes;
};

extern const struct hp3_program_struct hp3_program_structs[];
extern const struct hp3_program_header hp3_program_headers[];
extern const struct hp3_program_action hp3_program_actions[];
extern const struct hp3_program_table hp3_program_tables[];
extern const struct hp3_program_counter hp3_program_counters[];
extern const char *const hp3_program_code[];
