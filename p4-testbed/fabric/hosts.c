/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts behind DPDK ports: frames in and out, and PFC frames (IEEE 802.1Qbb, 802.3 annex 31D). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include "app/dpdk/failure.h"
#include "config/message.h"
#include "p4-testbed/fabric/fabric.h"
#include "roce/wire.h"

#define RING         2048
#define MAC_CONTROL  0x8808
#define PFC_OPCODE   0x0101
#define PFC_BYTES    60u
#define QUANTUM_BITS 512ull
#define QUANTA_MAX   0xffffu

static void devargs_of(const struct hp3_fabric *f, const char *name, const char *given,
	const char *dir, char *buf, size_t cap)
{
	uint32_t frame = hp3_fabric_frame_bytes(&f->net.topo);
	const char *at = given != NULL ? strstr(given, "%s") : NULL;

	if (at != NULL) {
		snprintf(buf, cap, "%.*s%s%s", (int)(at - given), given, name, at + 2);
		return;
	}
	switch (hp3_topo_host_port(&f->net.topo, name)) {
	case HP3_TOPO_AF_XDP:
		snprintf(buf, cap, "net_af_xdp_%s,iface=%s,force_copy=1", name, name);
		break;
	case HP3_TOPO_TAP:
		snprintf(buf, cap, "net_tap_%s,iface=%s", name, name);
		break;
	case HP3_TOPO_VHOST:
		snprintf(buf, cap, "net_vhost_%s,iface=%s/%s.vhost,queues=1", name, dir, name);
		break;
	case HP3_TOPO_MEMIF:
		snprintf(buf, cap,
			"net_memif_%s,role=server,socket-abstract=no,socket=%s/%s.memif,bsize=%u",
			name, dir, name, frame);
		break;
	default:
		snprintf(buf, cap,
			"net_af_packet_%s,iface=%s,qpairs=1,qdisc_bypass=0,framesz=%u,blocksz=%u,"
			"framecnt=%d",
			name, name, frame, 16 * frame, RING);
	}
}

static int start_port(struct hp3_fabric *f, uint16_t port)
{
	struct rte_eth_conf conf = {0};
	int ret = rte_eth_dev_configure(port, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, 0, NULL, f->pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, 0, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret == 0)
		rte_eth_promiscuous_enable(port); /* those that cannot are so anyhow */
	return ret;
}

/* What is wrong with a port, and what to do; drivers tell the rest in the lines before. */
static const char *advice_on_failure(int ret)
{
	if (ret == -EFAULT) /* no bus of DPDK knows the name */
		return "DPDK has no such driver here: install it, or set [hosts] port = af_packet";
	return "see above; is the interface in this namespace, are we root? Every kernel has what "
	       "[hosts] port = af_packet needs";
}

int hp3_fabric_attach(struct hp3_fabric *f, const char *devargs, const char *dir)
{
	char text[512], dev[64];

	for (uint32_t i = 0; i < f->net.n_hosts; i++) {
		int ret;

		devargs_of(f, f->net.host[i].name, devargs, dir, text, sizeof(text));
		ret = rte_dev_probe(text);
		if (ret == 0 || ret == -EEXIST) {
			snprintf(dev, sizeof(dev), "%.*s", (int)strcspn(text, ","), text);
			ret = rte_eth_dev_get_port_by_name(dev, &f->host[i].port);
		}
		if (ret == 0)
			ret = start_port(f, f->host[i].port);
		if (ret != 0) {
			hp3_message("hp3-fabric: host %s: port \"%s\": %s", f->net.host[i].name,
				text,
				hp3_dpdk_failure(-ret, "raise --memory", advice_on_failure(ret)));
			return ret < 0 ? ret : -EIO;
		}
	}
	return 0;
}

void hp3_fabric_detach(struct hp3_fabric *f)
{
	for (uint32_t i = 0; i < f->net.n_hosts; i++) {
		if (f->host[i].port == UINT16_MAX)
			continue;
		rte_eth_dev_stop(f->host[i].port);
		rte_eth_dev_close(f->host[i].port);
		f->host[i].port = UINT16_MAX;
	}
}

static uint64_t quantum_ns(const struct hp3_fabric *f, uint32_t lane, uint32_t quanta)
{
	return quanta * QUANTUM_BITS * 1000000000ull / f->tm.lane[lane].rate_bps;
}

/* A PFC frame of the host pauses what we send to it. */
static void take_pfc(struct hp3_fabric *f, uint32_t host, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t lane = hp3_lane_down(&f->net.host[host]);

	if (m->data_len < 34 || hp3_be16(p + 14) != PFC_OPCODE)
		return;
	f->host[host].pfc_seen++;
	for (uint32_t i = 0; i < HP3_TM_PRIORITIES; i++)
		if (p[17] >> i & 1)
			hp3_tm_host_pause(
				&f->tm, lane, i, quantum_ns(f, lane, hp3_be16(p + 18 + 2 * i)));
}

/* Priority as the program computes it: the upper three bits of the DSCP. */
static uint32_t priority_of(const uint8_t *p, uint32_t len)
{
	if (len >= 34 && hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV4)
		return p[15] >> 5;
	if (len >= 54 && hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV6)
		return (p[14] & 0x0f) >> 1;
	return 0;
}

static void take_frame(struct hp3_fabric *f, uint32_t host, struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	struct hp3_frame *frame = hp3_frame_of(m);

	f->host[host].rx_packets++;
	f->host[host].rx_bytes += m->pkt_len;
	if (m->data_len < 14 || hp3_be16(p + 12) == MAC_CONTROL) {
		if (m->data_len >= 14)
			take_pfc(f, host, m);
		rte_pktmbuf_free(m);
		return;
	}
	frame->bytes = m->pkt_len;
	frame->lane_in = HP3_TM_NO_LANE;
	hp3_tm_enqueue(&f->tm, hp3_lane_up(&f->net.host[host]), frame, priority_of(p, m->data_len));
}

void hp3_fabric_receive(struct hp3_fabric *f, uint64_t now)
{
	struct rte_mbuf *burst[HP3_FABRIC_BURST];

	for (uint32_t h = 0; h < f->net.n_hosts; h++) {
		uint16_t n = HP3_FABRIC_BURST;

		while (f->host[h].port != UINT16_MAX && n == HP3_FABRIC_BURST) {
			n = rte_eth_rx_burst(f->host[h].port, 0, burst, HP3_FABRIC_BURST);
			for (uint16_t i = 0; i < n; i++)
				take_frame(f, h, burst[i]);
		}
	}
	hp3_tm_run(&f->tm, now);
}

static void flush_frames(struct hp3_fabric_host *h)
{
	uint16_t sent = rte_eth_tx_burst(h->port, 0, h->out, (uint16_t)h->n_out);

	h->tx_packets += sent;
	h->tx_lost += h->n_out - sent;
	while (sent < h->n_out)
		rte_pktmbuf_free(h->out[sent++]);
	h->n_out = 0;
}

void hp3_fabric_send(struct hp3_fabric *f, uint32_t host, struct rte_mbuf *m)
{
	struct hp3_fabric_host *h = &f->host[host];

	if (h->port == UINT16_MAX) {
		rte_pktmbuf_free(m);
		return;
	}
	if (h->n_out == HP3_FABRIC_BURST)
		flush_frames(h);
	h->tx_bytes += m->pkt_len;
	h->out[h->n_out++] = m;
}

void hp3_fabric_flush(struct hp3_fabric *f)
{
	for (uint32_t h = 0; h < f->net.n_hosts; h++)
		if (f->host[h].n_out > 0)
			flush_frames(&f->host[h]);
}

static void send_pfc(struct hp3_fabric *f, uint32_t host, uint8_t named, uint8_t stop)
{
	static const uint8_t to[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	const struct hp3_net_host *h = &f->net.host[host];
	struct rte_mbuf *m = rte_pktmbuf_alloc(f->pool);
	uint8_t *p;

	if (m == NULL) {
		f->no_mbuf++;
		return;
	}
	m->data_len = PFC_BYTES;
	m->pkt_len = PFC_BYTES;
	p = rte_pktmbuf_mtod(m, uint8_t *);
	memset(p, 0, PFC_BYTES);
	memcpy(p, to, 6);
	memcpy(p + 6, f->net.sw[h->leaf].addr.mac, 6);
	hp3_put_be16(p + 12, MAC_CONTROL);
	hp3_put_be16(p + 14, PFC_OPCODE);
	p[17] = named;
	for (uint32_t i = 0; i < HP3_TM_PRIORITIES; i++)
		hp3_put_be16(p + 18 + 2 * i, stop >> i & 1 ? QUANTA_MAX : 0);
	f->host[host].pfc_sent++;
	hp3_fabric_send(f, host, m);
}

void hp3_fabric_pause_host(struct hp3_fabric *f, uint32_t host, uint8_t priorities, uint64_t now)
{
	struct hp3_fabric_host *h = &f->host[host];

	if (h->port != UINT16_MAX)
		send_pfc(f, host, h->stop | priorities, priorities);
	h->stop = priorities;
	h->refresh = now + quantum_ns(f, hp3_lane_up(&f->net.host[host]), QUANTA_MAX / 2);
}

/* A pause ends by itself after its quanta: repeat it as long as it is meant. */
void hp3_fabric_refresh_pauses(struct hp3_fabric *f, uint64_t now)
{
	for (uint32_t i = 0; i < f->net.n_hosts; i++)
		if (f->host[i].stop != 0 && now >= f->host[i].refresh)
			hp3_fabric_pause_host(f, i, f->host[i].stop, now);
}
