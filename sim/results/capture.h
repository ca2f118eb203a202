/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Writes the packets of one host to a pcap file with nanosecond times, for `hp3d --replay`. The
 * file has data (WRITEs and READ responses with zeroed payload), READ requests, ACKs, NAKs and
 * CNPs, with correct ICRCs, ECN marks and BECN. It has no PFC frames and no probes. The responder's
 * QPN is 0x100 + 2 x the flow's number; the requester's is one more. PSNs begin at 1.
 */
#include "sim/fabric/packet.h"
#include "sim/core/sim.h"

struct sim_capture;

/* NULL with errno set if the file cannot be written. */
struct sim_capture *sim_capture_open(const char *path, uint32_t host);
/* 0, or -EIO if a write failed. */
int sim_capture_close(struct sim_capture *c);
/* Packet p begins to leave `host`, or has arrived there. */
void sim_capture_packet(struct sim *s, uint32_t host, const struct sim_packet *p);
