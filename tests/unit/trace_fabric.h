/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_TRACE_FABRIC_H
#define HP3_TEST_TRACE_FABRIC_H
/*
 * A fabric of leaves and spines that answers the traces of the engine on the rig (rig.h), and
 * what the engine then tells of ports, held against it.
 */
#include "engine/info.h"
#include "scene.h"

#define RECHECK (1000 * MS)

/* The network between the two hosts; trace_config() sets it up with four spines. */
extern struct fabric {
	uint32_t spines, seed;
	bool qpn; /* hashed, too */
	bool opcode; /* hashed, too */
	bool silent; /* all spines */
	uint32_t deaf; /* this spine is silent, 0: none; counted from 1 */
	bool odd; /* spines answer from addresses that name none */
	bool drunk; /* every answer bears another address */
	bool by_interface; /* spines have an address for each leaf */
	bool flat; /* both hosts are on one leaf */
	uint32_t lies; /* so many answers are forged */
	uint32_t answered; /* traces */
	const struct qp *ends[8]; /* by rqpn: whose trace it is; default q */
	uint32_t nends;
} net;

/* Fills rig.cfg, sets up `net`; call rig_configure() or trace_begin() after changes of your own. */
void trace_config(void);
/* A new engine with rig.cfg, and q, with which may be traced. */
void trace_begin(void);
/* A queue pair that may be traced with: something was acknowledged, the peer's hp3d is alive. */
void speak(const struct qp *p, uint32_t at);
/* Time passes, traces are answered. */
void trace_run(uint64_t ns);

/* Number of the spine, from 1, that a port leads to. */
uint32_t spine_of(const struct qp *p, uint16_t port, uint32_t qpn);
/* Where the opcode is hashed, too: what it adds, of two of them their difference. Linear, as a CRC
 * is; for spines that are a power of two. */
uint32_t opcode_hash(uint32_t opcode);
/* Spine that the engine names for a port, or 0. */
uint32_t spine_reported(const struct qp *p, uint16_t port);
struct hp3_pair_info pair_info(const struct qp *p);
/* A linear map is believed, and it is right for every port. */
void expect_all_reported(const struct qp *p);
void expect_none_reported(const struct qp *p);

#endif
