/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The capture that a replay reads, and the capture that it writes. A packet keeps what the output
 * needs in the private area of its buffer. Functions that fail print why on stderr.
 */
#include <pcap/pcap.h>
#include "app/hp3d/replay/frame.h"

struct rte_mbuf;
struct hp3d_pcapng;

struct hp3d_replay_stamp {
	struct timeval ts;
	uint32_t len; /* length on the wire; the file may have less */
	/* As in struct hp3d_replay_frame. The output gets the bytes of the record. */
	uint32_t recorded, head, l3;
	uint8_t bytes[HP3D_REPLAY_HEAD_MAX]; /* the first `head` bytes of the record */
};

/* A packet of the input. */
struct hp3d_replay_record {
	struct pcap_pkthdr h; /* tv_usec: nanoseconds */
	const u_char *data;
	uint32_t link; /* enum hp3d_replay_link, or another link type */
};

struct hp3d_replay_capture {
	const char *in_path, *out_path; /* out_path: NULL until there is an output */
	FILE *file; /* input; `in` or `ng` closes it */
	uint64_t n; /* packets of the input so far */
	bool told_cut; /* printed that the last packet is cut */
	pcap_t *in; /* a pcap file, or NULL */
	struct hp3d_pcapng *ng; /* a pcapng file, or NULL */
	pcap_t *shape; /* link type and time stamps of the output, if the input is pcapng */
	pcap_dumper_t *out;
	uint8_t frame[HP3D_REPLAY_FRAME_MAX + HP3D_REPLAY_HEAD_MAX];
};

/* Returns 0 or -1. Open the input first. Call hp3d_replay_capture_close() also after a failure. */
int hp3d_replay_capture_open(struct hp3d_replay_capture *c, const char *path);
/*
 * The output is a pcap file with the link type of the input. If the input is pcapng, the output is
 * Ethernet; packets of other link types then get an Ethernet header.
 */
int hp3d_replay_capture_create(struct hp3d_replay_capture *c, const char *path);
/*
 * 1: a packet, valid until the next call; 0: there is none left; -1: the file is damaged. If only
 * the last packet is cut, prints that once, and leaves the packet out.
 */
int hp3d_replay_capture_next(struct hp3d_replay_capture *c, struct hp3d_replay_record *r);
/* What the output needs of a packet of the input. */
void hp3d_replay_capture_stamp(const struct hp3d_replay_capture *c,
	const struct hp3d_replay_record *r, const struct hp3d_replay_frame *f,
	struct hp3d_replay_stamp *st);
/* Does nothing without an output. */
void hp3d_replay_capture_write(struct hp3d_replay_capture *c, struct rte_mbuf *m);
/* Returns 0, or -1: not all packets could be written. */
int hp3d_replay_capture_close(struct hp3d_replay_capture *c);

/* Nanoseconds since 1970. */
uint64_t hp3d_replay_capture_time(const struct pcap_pkthdr *h);
