/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "roce/build.h"
#include "sim/host/opcode.h"
#include "sim/results/capture.h"

#define MAGIC_NS        0xa1b23c4du /* pcap, nanoseconds, this machine's byte order */
#define ETHERNET        1u
#define FRAME_MAX       9500u
#define ECT_0           2u
#define CE              3u
#define CAPTURE_SYN_ACK 0x1fu
#define CAPTURE_SYN_NAK 0x60u

struct sim_capture {
	FILE *f;
	uint32_t host;
	bool failed;
	uint8_t payload[FRAME_MAX], frame[FRAME_MAX];
};

struct file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, sigfigs, snaplen, link;
};

struct record_head {
	uint32_t s, ns, captured, length;
};

struct sim_capture *sim_capture_open(const char *path, uint32_t host)
{
	struct file_head head = {
		.magic = MAGIC_NS, .major = 2, .minor = 4, .snaplen = 65535, .link = ETHERNET};
	struct sim_capture *c = sim_alloc(1, sizeof(*c));

	c->host = host;
	c->f = fopen(path, "wb");
	if (c->f == NULL) {
		free(c);
		return NULL;
	}
	c->failed = fwrite(&head, sizeof(head), 1, c->f) != 1;
	return c;
}

int sim_capture_close(struct sim_capture *c)
{
	int ret = fclose(c->f) == 0 && !c->failed ? 0 : -EIO;

	free(c);
	return ret;
}

/* The addresses have the numbers of the topology file: a user knows no others. */
static void set_addresses(const struct sim *s, struct hp3_addressing *a, uint32_t from, uint32_t to)
{
	uint32_t src = sim_topo_number(&s->topo, from), dst = sim_topo_number(&s->topo, to);

	sim_put_address(a->src_ip, src);
	sim_put_address(a->dst_ip, dst);
	a->src_mac[0] = a->dst_mac[0] = 2; /* locally administered */
	sim_put_address(a->src_mac + 2, src);
	sim_put_address(a->dst_mac + 2, dst);
}

static int data_frame(struct sim *s, struct sim_capture *c, const struct sim_packet *p)
{
	const struct sim_flow *f = p->flow;
	struct hp3_addressing a = {.ttl = 64,
		.pkey = 0xffff,
		.sport = p->sport,
		.tclass = p->flags & SIM_CE ? CE : ECT_0};
	struct hp3_fields d = {.opcode = sim_data_opcode(p),
		.ackreq = !f->read && ((p->flags & (SIM_LAST | SIM_ACKREQ)) ||
					      (p->psn + 1) % s->cfg.rnic.ack_every == 0),
		.dest_qpn = sim_flow_qpn(f, f->read),
		.psn = (p->psn + 1) & 0xffffff,
		.syndrome = CAPTURE_SYN_ACK,
		.dma_len = p->arg_psn,
		.payload = c->payload,
		.payload_len = sim_data_payload(s, p)};

	set_addresses(s, &a, f->src, f->dst);
	return hp3_build(c->frame, sizeof(c->frame), &a, &d);
}

static int request_frame(const struct sim *s, struct sim_capture *c, const struct sim_packet *p)
{
	const struct sim_flow *f = p->flow;
	struct hp3_addressing a = {.ttl = 64, .pkey = 0xffff, .sport = p->sport, .tclass = ECT_0};
	struct hp3_fields d = {.opcode = HP3_OP_RC_READ_REQUEST,
		.dest_qpn = sim_flow_qpn(f, false),
		.psn = (p->psn + 1) & 0xffffff,
		.dma_len = p->arg_psn};

	set_addresses(s, &a, f->dst, f->src);
	return hp3_build(c->frame, sizeof(c->frame), &a, &d);
}

static int reply_frame(const struct sim *s, struct sim_capture *c, const struct sim_packet *p)
{
	const struct sim_flow *f = p->flow;
	struct hp3_addressing a = {.ttl = 64, .pkey = 0xffff, .sport = f->home};
	struct hp3_fields d = {.opcode = p->kind == SIM_CNP ? HP3_OP_CNP : HP3_OP_RC_ACK,
		.becn = (p->flags & SIM_ECHO) || p->kind == SIM_CNP,
		.dest_qpn = sim_flow_qpn(f, !f->read || p->kind == SIM_NAK),
		.psn = (p->psn + (p->kind == SIM_NAK)) & 0xffffff,
		.syndrome = p->kind == SIM_NAK ? CAPTURE_SYN_NAK : CAPTURE_SYN_ACK};

	if (sim_packet_forward(p))
		set_addresses(s, &a, f->src, f->dst);
	else
		set_addresses(s, &a, f->dst, f->src);
	if (p->kind == SIM_CNP)
		return hp3_build_cnp(c->frame, sizeof(c->frame), &a, d.dest_qpn);
	return hp3_build(c->frame, sizeof(c->frame), &a, &d);
}

void sim_capture_packet(struct sim *s, uint32_t host, const struct sim_packet *p)
{
	struct sim_capture *c = s->capture;
	uint64_t ns = s->now / SIM_NS;
	struct record_head head = {
		.s = (uint32_t)(ns / 1000000000), .ns = (uint32_t)(ns % 1000000000)};
	int n;

	if (host != c->host || p->kind > SIM_READ || p->kind == SIM_PFC)
		return;
	if (p->kind == SIM_DATA)
		n = data_frame(s, c, p);
	else
		n = p->kind == SIM_READ ? request_frame(s, c, p) : reply_frame(s, c, p);
	head.captured = head.length = (uint32_t)n;
	if (n < 0 || fwrite(&head, sizeof(head), 1, c->f) != 1 ||
		fwrite(c->frame, (size_t)n, 1, c->f) != 1)
		c->failed = true;
}
