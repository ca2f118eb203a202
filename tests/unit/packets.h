/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The packets that the two sides of the rig (rig.h) send. Each function sends one complete frame
 * with a correct ICRC, so that a test of the engine reads like a packet trace.
 */
#include "rig.h"
#include "roce/build.h"

#define PMTU 1024u

/* Packets of the local RNIC. Return the verdict, details in rig.vd. */
int request(const struct qp *q, const struct hp3_fields *f);
int middle(const struct qp *q, uint32_t psn); /* WRITE MIDDLE: one PMTU, no AckReq */
int last(const struct qp *q, uint32_t psn); /* WRITE LAST, AckReq */
int read_request(const struct qp *q, uint32_t psn, uint32_t bytes);

/* Packets from the network to the local queue pair. */
void response(const struct qp *q, const struct hp3_fields *f);
void ack(const struct qp *q, uint32_t psn);
void reply(const struct qp *q, uint8_t syndrome, uint32_t psn);
/* ACKs that contradict the pairing, so many that the engine ends any pairing. Takes a
 * millisecond. */
void contradict(const struct qp *q, uint32_t psn);
void nak(const struct qp *q, uint32_t psn); /* PSN sequence error; psn: the expected PSN */
void rnr(const struct qp *q, uint32_t psn);
void read_response(const struct qp *q, uint8_t opcode, uint32_t psn, uint16_t bytes);

/* A request of the peer arrives, marked CE or not. */
void peer_request(const struct qp *q, uint32_t psn, bool ce);
/* The local RNIC acknowledges a request of the peer. */
void ack_leaves(const struct qp *q, uint32_t psn);

/* A packet of connection management; who = HP3_DIR_TX: the local end sends it. */
void cm(enum hp3_dir who, const struct qp *q, enum hp3_cm_kind kind, uint32_t local_id,
	uint32_t remote_id, uint32_t qpn);
/* The first IP fragment of a packet of q. */
void fragment(enum hp3_dir who, const struct qp *q);
/* A fragment of a UDP datagram to port `dport`, at `offset` bytes. */
void fragment_of(enum hp3_dir who, const struct qp *q, uint16_t dport, uint16_t offset);
