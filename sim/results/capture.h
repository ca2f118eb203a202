/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_CAPTURE_H
#define HP3_SIM_RESULTS_CAPTURE_H
/*
 * Capture of what one host sees on its wire, as a pcap file with nanoseconds: data as RDMA WRITE
 * with zeroed payload, ACKs, NAKs, CNPs, with right ICRCs, marks and BECN, so that `hp3d --replay`
 * can read it. PFC and probes are left out. Queue pairs are numbered by flow: 0x100 + 2 x number
 * for the responder, one more for the requester; PSNs begin at 1.
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
