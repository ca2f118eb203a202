/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/copies.h"
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAP   160u /* two VLAN tags, IPv6, UDP, BTH, the CNP's 16 bytes and the ICRC: 102 */
#define BUFFER (1u << 20)
#define TURN   64 /* frames per call */

/*
 * UDP to 4791 whose BTH has opcode 0x81. udp[] accounts for IPv4 options; CNPs have no IPv6
 * extension headers. Each "vlan" shifts the offsets of the terms after it.
 */
#define CNP                                                                                        \
	"((udp dst port 4791 and udp[8] = 0x81) or "                                               \
	"(ip6 and ip6[6] = 17 and ip6[42:2] = 4791 and ip6[48] = 0x81))"
static const char filter[] = CNP " or (vlan and (" CNP " or (vlan and " CNP ")))";

static int refuse_interface(const char *name, const char *why)
{
	fprintf(stderr,
		"hp3d: [verbs] copies = %s: %s; give an interface that is there and up, and "
		"CAP_NET_RAW, or nothing\n",
		name, why);
	return -1;
}

static int set_up(pcap_t *p, const char *name)
{
	struct bpf_program program;
	char why[PCAP_ERRBUF_SIZE];
	int rc;

	if (pcap_set_snaplen(p, SNAP) != 0 || pcap_set_promisc(p, 1) != 0 ||
		pcap_set_immediate_mode(p, 1) != 0 || pcap_set_buffer_size(p, BUFFER) != 0)
		return refuse_interface(name, "no memory");
	rc = pcap_activate(p);
	if (rc < 0)
		return refuse_interface(
			name, pcap_geterr(p)[0] != '\0' ? pcap_geterr(p) : pcap_statustostr(rc));
	if (pcap_datalink(p) != DLT_EN10MB)
		return refuse_interface(name, "its frames are not Ethernet's");
	if (pcap_compile(p, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return refuse_interface(name, pcap_geterr(p));
	rc = pcap_setfilter(p, &program);
	pcap_freecode(&program);
	if (rc < 0)
		return refuse_interface(name, pcap_geterr(p));
	if (pcap_setnonblock(p, 1, why) < 0)
		return refuse_interface(name, why);
	return pcap_get_selectable_fd(p) >= 0 ? 0
					      : refuse_interface(name, "it cannot be waited for");
}

static int add_interface(struct hp3d_copies *c, const char *name)
{
	char why[PCAP_ERRBUF_SIZE] = "";

	if (c->n == HP3D_COPIES_MAX)
		return refuse_interface(name, "more than 8 of them");
	c->from[c->n] = pcap_create(name, why);
	if (c->from[c->n] == NULL)
		return refuse_interface(name, why);
	return set_up(c->from[c->n++], name);
}

int hp3d_copies_open(struct hp3d_copies *c, const char *names)
{
	char *list = strdup(names), *rest = list, *name;
	int rc = list != NULL ? 0 : refuse_interface(names, "no memory");

	c->n = 0;
	while (rc == 0 && (name = strsep(&rest, ", ")) != NULL)
		if (name[0] != '\0')
			rc = add_interface(c, name);
	free(list);
	return rc;
}

void hp3d_copies_close(struct hp3d_copies *c)
{
	while (c->n > 0)
		if (c->from[--c->n] != NULL)
			pcap_close(c->from[c->n]);
}

int hp3d_copies_fd(const struct hp3d_copies *c, uint32_t i)
{
	return pcap_get_selectable_fd(c->from[i]);
}

struct taker {
	hp3d_copy_fn *fn;
	void *ctx;
};

static void take_copy(u_char *user, const struct pcap_pkthdr *h, const u_char *frame)
{
	const struct taker *t = (const struct taker *)(const void *)user;

	if (h->caplen == h->len)
		t->fn(t->ctx, frame, h->caplen);
}

int hp3d_copies_take(struct hp3d_copies *c, uint32_t i, hp3d_copy_fn *fn, void *ctx)
{
	struct taker t = {fn, ctx};
	int n = c->from[i] == NULL ? 0 : pcap_dispatch(c->from[i], TURN, take_copy, (u_char *)&t);

	if (n >= 0)
		return n;
	fprintf(stderr, "hp3d: [verbs] copies: %s; CNPs are not seen there any more\n",
		pcap_geterr(c->from[i]));
	pcap_close(c->from[i]);
	c->from[i] = NULL;
	return -1;
}
