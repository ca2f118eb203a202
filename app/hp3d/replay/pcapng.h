/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads pcapng files (draft-ietf-opsawg-pcapng). libpcap refuses such a file if its interfaces have
 * different link types or snapshot lengths; this reader gives each packet with its link type.
 */
#include <stdio.h>
#include <pcap/pcap.h>

struct hp3d_pcapng;

/* `f` is at the start of the file. The reader closes it. NULL: not enough memory. */
struct hp3d_pcapng *hp3d_pcapng_open(FILE *f);
void hp3d_pcapng_close(struct hp3d_pcapng *p);

/*
 * 1: a packet, valid until the next call, with a time stamp in nanoseconds; 0: there is none left;
 * -1: the file is damaged (hp3d_pcapng_error()).
 */
int hp3d_pcapng_next(
	struct hp3d_pcapng *p, struct pcap_pkthdr *h, const u_char **data, uint32_t *link);
const char *hp3d_pcapng_error(const struct hp3d_pcapng *p);
