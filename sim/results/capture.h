/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Writes the packets of one host to a pcap file with nanosecond times, for `hp3d --replay`. The
 * file has data (WRITEs and READ responses with zeroed payload), READ requests, ACKs, NAKs and
 * CNPs. These packets have right ICRCs, ECN marks and BECN. The file has no PFC frames and no
 * probes. The responder's QPN is 0x100 + 2 x the flow's number; the requester's QPN is one more.
 * PSNs begin at 1.
 */
#include "sim/fabric/packet.h"
#include "sim/core/sim.h"

struct sim_capture;

/* Opens the file. NULL, with errno set: the file cannot be written. */
struct sim_capture *sim_capture_open(const char *path, uint32_t host);
/* Closes the file. Returns 0; -EIO: a write failed. */
int sim_capture_close(struct sim_capture *c);
/* Call this when packet p begins to leave `host`, or has arrived at `host`. */
void sim_capture_packet(struct sim *s, uint32_t host, const struct sim_packet *p);
