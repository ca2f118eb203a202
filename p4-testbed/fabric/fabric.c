/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/message.h"
#include "p4-testbed/fabric/fabric.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include "app/dpdk/failure.h"
#include "roce/wire.h"

#define POLL_NS   50000ull /* between two looks while frames are inside */
#define IDLE_NS   1000000ull /* and while there are none */
#define LINGER_NS 100000000ull /* of no frame, before that */

static uint32_t lane_of(const struct hp3_fabric *f, const struct hp3_swx *sw, uint32_t port)
{
	const struct hp3_net_port *p = &f->net.sw[sw->index].port[port];

	return 2 * p->link + (p->b_end ? 1 : 0);
}

static void switch_out(
	void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority, struct rte_mbuf *m)
{
	struct hp3_fabric *f = arg;
	struct hp3_frame *frame = hp3_frame_of(m);

	frame->bytes = m->pkt_len;
	hp3_tm_enqueue(&f->tm, lane_of(f, sw, port), frame, priority);
}

static uint32_t switch_depth(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority)
{
	struct hp3_fabric *f = arg;

	return f->tm.lane[lane_of(f, sw, port)].depth[priority % HP3_TM_PRIORITIES];
}

static const struct hp3_swx_ops swx_ops = {switch_out, switch_depth};

/* A lane's far end: lane 2i leads to end b of link i, lane 2i + 1 to end a. */
static void lane_deliver(void *arg, uint32_t lane, struct hp3_frame *frame)
{
	struct hp3_fabric *f = arg;
	const struct hp3_net_link *l = &f->net.link[lane / 2];
	struct rte_mbuf *m = hp3_mbuf_of(frame);

	if (lane % 2 == 0)
		hp3_swx_process(&f->sw[l->b], l->b_port, m);
	else if (l->host)
		hp3_fabric_send(f, l->a, m);
	else
		hp3_swx_process(&f->sw[l->a], l->a_port, m);
}

static void lane_drop(void *arg, uint32_t lane, struct hp3_frame *frame, enum hp3_tm_drop why)
{
	/* The lane has counted it. */
	rte_pktmbuf_free(hp3_mbuf_of(frame));
}

static void lane_pause_host(void *arg, uint32_t lane, uint8_t priorities)
{
	struct hp3_fabric *f = arg;

	hp3_fabric_pause_host(f, f->net.link[lane / 2].a, priorities, f->tm.now);
}

/* Addresses, protocol and ports: one flow, one fate. */
static uint32_t lane_flow(void *arg, const struct hp3_frame *frame)
{
	const struct rte_mbuf *m = hp3_mbuf_of((struct hp3_frame *)(uintptr_t)frame);
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->data_len >= 58 && hp3_be16(p + 12) == 0x86dd)
		return hp3_crc32(p + 22, 36, 0);
	if (m->data_len >= 38)
		return hp3_crc32(p + 26, 12, 0);
	return 0;
}

/* RFC 1624. */
static uint16_t checksum_after(uint16_t sum, uint16_t was, uint16_t now)
{
	uint32_t s = (uint16_t)~sum + (uint32_t)(uint16_t)~was + now;

	s = (s & 0xffff) + (s >> 16);
	return (uint16_t) ~((s & 0xffff) + (s >> 16));
}

/* TOS or traffic class: outside the ICRC, within IPv4's checksum. */
static bool lane_remark(void *arg, struct hp3_frame *frame, bool ce)
{
	struct rte_mbuf *m = hp3_mbuf_of(frame);
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t to = ce ? 3 : 2, was, now;

	if (m->data_len >= 34 && hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV4) {
		was = hp3_be16(p + 14);
		now = (uint16_t)((was & ~3u) | to);
		if ((was & 3) == 0 || (!ce && (was & 3) != 3) || was == now)
			return false;
		hp3_put_be16(p + 14, now);
		hp3_put_be16(p + 24, checksum_after(hp3_be16(p + 24), was, now));
		return true;
	}
	if (m->data_len < 54 || hp3_be16(p + 12) != RTE_ETHER_TYPE_IPV6)
		return false;
	was = p[15] >> 4 & 3;
	if (was == 0 || was == to || (!ce && was != 3))
		return false;
	p[15] = (uint8_t)((p[15] & 0xcf) | to << 4);
	return true;
}

/* Behind the IP header, which bears the marks by which tests tell order. */
static void lane_damage(void *arg, struct hp3_frame *frame, uint32_t random)
{
	struct rte_mbuf *m = hp3_mbuf_of(frame);
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t from = hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV6 ? 54 : 34, bit;

	if (m->data_len <= from)
		return;
	bit = random % ((m->data_len - from) * 8);
	p[from + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static struct hp3_frame *lane_copy(void *arg, const struct hp3_frame *frame)
{
	struct hp3_fabric *f = arg;
	struct rte_mbuf *m = hp3_mbuf_of((struct hp3_frame *)(uintptr_t)frame);
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, f->pool, 0, UINT32_MAX);

	if (copy == NULL) {
		f->no_mbuf++;
		return NULL;
	}
	*hp3_frame_of(copy) = *frame;
	return hp3_frame_of(copy);
}

static const struct hp3_tm_ops tm_ops = {
	lane_deliver, lane_drop, lane_pause_host, lane_flow, lane_remark, lane_damage, lane_copy};

static void set_lanes(struct hp3_fabric *f)
{
	for (uint32_t i = 0; i < f->tm.n_lanes; i++) {
		const struct hp3_net_link *l = &f->net.link[i / 2];

		f->tm.lane[i].rate_bps = l->p.rate_mbps * 1000000ull;
		f->tm.lane[i].delay_ns = l->p.delay_us * 1000ull;
		f->tm.lane[i].buffer_bytes = l->p.buffer_bytes;
		f->tm.lane[i].from_host = l->host && i % 2 == 0;
	}
	f->tm.lossless = f->net.topo.pfc.mode == HP3_TOPO_LOSSLESS;
	f->tm.xoff = f->net.topo.pfc.xoff_bytes;
	f->tm.xon = f->net.topo.pfc.xon_bytes;
}

/* Enough for full queues of full frames, within reason: small frames may find none left. */
static struct rte_mempool *make_pool(const struct hp3_net *net)
{
	uint32_t room = hp3_fabric_frame_bytes(&net->topo) + RTE_PKTMBUF_HEADROOM;
	uint64_t want = 4096;

	for (uint32_t i = 0; i < net->n_links; i++)
		want += 2 * net->link[i].p.buffer_bytes / 1024 / 4;
	if (want > 49152)
		want = 49152;
	return rte_pktmbuf_pool_create("fabric", (unsigned)want, 256,
		RTE_ALIGN(sizeof(struct hp3_frame), RTE_MBUF_PRIV_ALIGN), (uint16_t)room, 0);
}

int hp3_fabric_open(struct hp3_fabric *f, const struct hp3_topo *topo, uint64_t now)
{
	int ret, err;

	*f = (struct hp3_fabric){.reroute_at = HP3_TM_NEVER, .busy_at = now};
	ret = hp3_net_build(&f->net, topo);
	if (ret == 0)
		ret = hp3_tm_init(&f->tm, 2 * f->net.n_links, topo->shape.seed, &tm_ops, f);
	if (ret != 0) {
		hp3_message("hp3-fabric: out of memory for the network");
		hp3_fabric_close(f);
		return ret;
	}
	f->tm.now = now;
	set_lanes(f);
	f->pool = make_pool(&f->net);
	err = rte_errno;
	f->sw = calloc(f->net.n_switches, sizeof(*f->sw));
	f->host = calloc(f->net.n_hosts, sizeof(*f->host));
	if (f->pool == NULL || f->sw == NULL || f->host == NULL) {
		ret = f->pool == NULL ? -err : -ENOMEM;
		hp3_message("hp3-fabric: no pool of packet buffers: %s",
			hp3_pool_failure(-ret, "raise --memory"));
		hp3_fabric_close(f);
		return ret;
	}
	for (uint32_t i = 0; i < f->net.n_hosts; i++)
		f->host[i].port = UINT16_MAX;
	for (uint32_t i = 0; i < f->net.n_switches && ret == 0; i++)
		ret = hp3_swx_open(&f->sw[i], &f->net, i, &swx_ops, f);
	if (ret != 0)
		hp3_fabric_close(f);
	return ret;
}

void hp3_fabric_close(struct hp3_fabric *f)
{
	hp3_tm_free(&f->tm);
	for (uint32_t i = 0; f->sw != NULL && i < f->net.n_switches; i++)
		hp3_swx_close(&f->sw[i]);
	free(f->sw);
	free(f->host);
	f->sw = NULL;
	f->host = NULL;
	rte_mempool_free(f->pool);
	f->pool = NULL;
	hp3_net_free(&f->net);
}

void hp3_fabric_set_link(struct hp3_fabric *f, uint32_t link, bool up, uint64_t delay_ns)
{
	hp3_tm_set_up(&f->tm, 2 * link, up);
	hp3_tm_set_up(&f->tm, 2 * link + 1, up);
	f->net.link[link].up = up;
	if (delay_ns != HP3_TM_NEVER)
		f->reroute_at = f->tm.now + delay_ns;
}

static void reroute_switches(struct hp3_fabric *f)
{
	f->reroute_at = HP3_TM_NEVER;
	hp3_net_route(&f->net);
	for (uint32_t i = 0; i < f->net.n_switches; i++)
		if (hp3_swx_reroute(&f->sw[i], &f->net) != 0)
			hp3_message(
				"hp3-fabric: switch %s keeps its old routes", f->net.sw[i].name);
}

uint64_t hp3_fabric_turn(struct hp3_fabric *f, uint64_t now)
{
	uint64_t idle = IDLE_NS;

	hp3_tm_run(&f->tm, now);
	if (now >= f->reroute_at)
		reroute_switches(f);
	hp3_fabric_receive(f, now);
	hp3_fabric_refresh_pauses(f, now);
	hp3_fabric_flush(f);
	f->loops++;
	if (f->tm.frames > 0)
		f->busy_at = now;
	if (now - f->busy_at < LINGER_NS)
		idle = POLL_NS;
	return idle;
}
