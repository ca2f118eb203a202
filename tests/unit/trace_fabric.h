/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A fabric of leaves and spines that answers the path traces of the engine on the rig (rig.h), and
 * checks of the spines that the engine then reports for ports.
 */
#include "engine/info.h"
#include "scene.h"

#define RECHECK (1000 * MS)

/* The network between the two hosts; trace_config() sets it up with four spines. */
extern struct fabric {
	uint32_t spines, seed;
	bool qpn; /* hashed, too */
	bool opcode; /* hashed, too */
	bool silent; /* no spine answers */
	uint32_t deaf; /* number of a spine that does not answer, from 1; 0: none */
	bool odd; /* spines answer from addresses that identify no spine */
	bool drunk; /* every answer has another source address */
	bool by_interface; /* spines have an address for each leaf */
	bool flat; /* both hosts are on one leaf */
	uint32_t lies; /* number of forged answers */
	uint32_t answered; /* number of traces answered */
	const struct qp *ends[8]; /* queue pairs to which traces can belong; default: q */
	uint32_t nends;
} net;

/* Sets rig.cfg and `net`. If you change rig.cfg further, call rig_configure() or trace_begin()
 * afterwards. */
void trace_config(void);
/* Makes a new engine with rig.cfg, and q, on which the engine may trace. */
void trace_begin(void);
/* Makes p a queue pair on which the engine may trace: a request was acknowledged, and the peer's
 * hp3d is alive. */
void speak(const struct qp *p, uint32_t at);
/* Advances time; traces are answered. */
void trace_run(uint64_t ns);

/* Number of the spine, from 1, on the path of a port. */
uint32_t spine_of(const struct qp *p, uint16_t port, uint32_t qpn);
/* The opcode's part of the hash, if `opcode` is set. It is linear, as in a CRC; the number of
 * spines must be a power of two. */
uint32_t opcode_hash(uint32_t opcode);
/* Number of the spine that the engine reports for a port, or 0. */
uint32_t spine_reported(const struct qp *p, uint16_t port);
struct hp3_pair_info pair_info(const struct qp *p);
/* Checks that the engine has accepted a linear map, and that it is right for every port. */
void expect_all_reported(const struct qp *p);
void expect_none_reported(const struct qp *p);
