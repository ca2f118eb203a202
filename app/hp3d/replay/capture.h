/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The capture that a replay reads, and the capture that it writes. A packet keeps its timestamp in
 * the private area of its buffer. Functions that fail print why on stderr.
 */
#include <pcap/pcap.h>

struct rte_mbuf;

struct hp3d_replay_stamp {
	struct timeval ts;
	uint32_t len; /* length on the wire; the file may have less */
};

struct hp3d_replay_capture {
	const char *in_path, *out_path; /* out_path: NULL until there is an output */
	pcap_t *in;
	pcap_dumper_t *out;
};

/* Returns 0 or -1. Open the input first. Call hp3d_replay_capture_close() also after a failure. */
int hp3d_replay_capture_open(struct hp3d_replay_capture *c, const char *path);
int hp3d_replay_capture_create(struct hp3d_replay_capture *c, const char *path);
/* 1: a packet, valid until the next call; 0: there is none left; -1: the file is damaged. */
int hp3d_replay_capture_next(
	struct hp3d_replay_capture *c, struct pcap_pkthdr **h, const u_char **data);
/* Does nothing without an output. */
void hp3d_replay_capture_write(struct hp3d_replay_capture *c, struct rte_mbuf *m);
/* Returns 0, or -1: not all packets could be written. */
int hp3d_replay_capture_close(struct hp3d_replay_capture *c);

/* Nanoseconds since 1970. */
uint64_t hp3d_replay_capture_time(const struct pcap_pkthdr *h);
