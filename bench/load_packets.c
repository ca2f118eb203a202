/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the flows of a load. */
#include <rte_ip.h>
#include "bench/load.h"
#include "roce/build.h"
#include "roce/icrc.h"

#define PORT_MIN  0xc000u
#define PORT_MASK 0x3fffu
#define LQPN_BASE 0x000100u
#define RQPN_BASE 0x800000u

/* Ethernet, IPv4 without options, UDP: what hp3_build() writes for an untagged IPv4 packet. */
#define IP_OFF  14u
#define UDP_OFF 34u
#define BTH_OFF 42u

static uint16_t home_of(uint32_t flow)
{
	return (uint16_t)(PORT_MIN | ((flow * 2654435761u) >> 18 & PORT_MASK));
}

static uint32_t local_ip(uint32_t flow)
{
	return RTE_IPV4(10, 9, 0, 1) + flow % 4;
}

static uint32_t remote_ip(uint32_t flow)
{
	return RTE_IPV4(10, 9, 1, 1) + flow % LOAD_PAIRS;
}

uint32_t load_local_qpn(uint32_t flow)
{
	return LQPN_BASE + flow;
}

uint32_t load_remote_qpn(uint32_t flow)
{
	return RQPN_BASE + flow;
}

uint16_t load_home(uint32_t flow)
{
	return home_of(flow);
}

uint16_t load_away(uint32_t flow)
{
	return (uint16_t)(PORT_MIN | ((home_of(flow) + 0x155u) & PORT_MASK));
}

void load_addresses(uint32_t flow, uint8_t local[4], uint8_t remote[4])
{
	hp3_put_be32(local, local_ip(flow));
	hp3_put_be32(remote, remote_ip(flow));
}

static int build(struct rte_mbuf *m, const struct hp3_fields *f)
{
	struct hp3_addressing a = {.dst_mac = {2, 0, 0, 0, 0, 2},
		.src_mac = {2, 0, 0, 0, 0, 1},
		.tclass = HP3_ECN_ECT0,
		.ttl = 64,
		.sport = PORT_MIN,
		.pkey = 0xffff};
	int len;

	m->data_len = 0; /* what it was before takes no room */
	len = hp3_build(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_tailroom(m), &a, f);
	if (len < 0)
		return len;
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	return 0;
}

int load_template(enum load_kind kind, struct rte_mbuf *m)
{
	static const uint8_t payload[LOAD_BYTES] = {1};
	struct hp3_fields ack = {.opcode = HP3_OP_RC_ACK, .syndrome = 0x1f};
	struct hp3_fields data = {.opcode = kind == LOAD_SERVED || kind == LOAD_READ
						    ? HP3_OP_RC_READ_RESP_MIDDLE
						    : HP3_OP_RC_WRITE_MIDDLE,
		.payload = payload,
		.payload_len = LOAD_BYTES};

	return build(m, kind == LOAD_ACK ? &ack : &data);
}

void load_address(struct rte_mbuf *m, enum hp3_dir dir, uint32_t flow, uint32_t psn)
{
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *), *ip = f + IP_OFF, *bth = f + BTH_OFF;
	uint32_t local = local_ip(flow), remote = remote_ip(flow);

	hp3_put_be32(ip + 12, dir == HP3_DIR_TX ? local : remote);
	hp3_put_be32(ip + 16, dir == HP3_DIR_TX ? remote : local);
	hp3_put_be16(ip + 10, 0);
	((struct rte_ipv4_hdr *)ip)->hdr_checksum = rte_ipv4_cksum((struct rte_ipv4_hdr *)ip);
	hp3_put_be16(f + UDP_OFF, home_of(flow));
	hp3_put_be24(bth + 5, (dir == HP3_DIR_TX ? RQPN_BASE : LQPN_BASE) + flow);
	hp3_put_be24(bth + 9, psn);
}

int load_first(struct rte_mbuf *m, uint32_t flow, uint32_t psn, uint32_t dma_len)
{
	static const uint8_t payload[LOAD_BYTES] = {1};
	int ret = build(m, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_FIRST,
				   .dma_len = dma_len,
				   .payload = payload,
				   .payload_len = LOAD_BYTES});

	if (ret == 0)
		load_address(m, HP3_DIR_TX, flow, psn);
	return ret;
}

int load_read_of_peer(struct rte_mbuf *m, uint32_t flow, uint32_t psn)
{
	const struct hp3_fields f = {.opcode = HP3_OP_RC_READ_REQUEST, .dma_len = 1u << 31};
	int ret = build(m, &f);
	struct hp3_view v;

	if (ret < 0)
		return ret;
	load_address(m, HP3_DIR_RX, flow, psn);
	hp3_parse(rte_pktmbuf_mtod(m, void *), m->data_len, &v);
	hp3_icrc_store(rte_pktmbuf_mtod(m, void *), &v);
	return 0;
}

int load_packet(struct rte_mbuf *m, uint32_t flow, uint8_t opcode, uint32_t psn)
{
	enum hp3_dir dir = opcode == HP3_OP_RC_ACK ? HP3_DIR_RX : HP3_DIR_TX;
	struct hp3_fields f = {.opcode = opcode, .syndrome = 0x1f, .dma_len = 1u << LOAD_READ_LOG2};
	int ret = opcode == HP3_OP_RC_WRITE_MIDDLE ? load_template(LOAD_WRITE, m) : build(m, &f);
	struct hp3_view v;

	if (ret < 0)
		return ret;
	load_address(m, dir, flow, psn);
	hp3_parse(rte_pktmbuf_mtod(m, void *), m->data_len, &v);
	if (opcode != HP3_OP_RC_WRITE_MIDDLE)
		hp3_icrc_store(rte_pktmbuf_mtod(m, void *), &v);
	return 0;
}
