/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_CAPTURE_H
#define HP3_SIM_RESULTS_CAPTURE_H
/*
 * Capture of the wire of one host as a pcap file with nanoseconds, for `hp3d --replay`: data as
 * RDMA WRITE with zeroed payload, ACKs, NAKs, CNPs, with correct ICRCs, marks and BECN. PFC and
 * probes are left out. QPNs: 0x100 + 2 x the flow's number for the responder, one more for the
 * requester. PSNs begin at 1.
 */
#include "sim/fabric/packet.h"
#include "sim/core/sim.h"

struct sim_capture;

/* NULL with errno set if the file cannot be written. */
struct sim_capture *sim_capture_open(const char *path, uint32_t host);
/* 0, or -EIO if not all could be written. */
int sim_capture_close(struct sim_capture *c);
/* Packet p begins to leave, or has arrived, at `host`. */
void sim_capture_packet(struct sim *s, uint32_t host, const struct sim_packet *p);

#endif
