/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/ud.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/ud/peers.h"
#include "app/hp3d/ud/rnic.h"
#include "app/hp3d/ud/socket.h"
#include "app/hp3d/ud/traces.h"

#define RNICS      8u
#define BUFFERS    511u
#define FRAME      512u
#define RNIC_TURNS 256u /* datagrams per call */
#define WHY        256u
#define EVENTS     16
#define SOCKETS    UINT32_MAX
#define TRACES     (UINT32_MAX - HP3D_UD_TRACE_FAMILIES) /* + family */
#define QKEY       0x7fffffffu /* the high-order bit marks privileged Q_Keys */
#define TTL        64u

struct hp3d_ud {
	struct hp3d_pipe *pipe;
	struct hp3d_ibverbs verbs;
	struct rte_mempool *pool;
	int epoll;
	uint64_t now; /* the latest time */
	uint32_t n;
	struct hp3d_ud_rnic *rnic[RNICS];
	struct hp3d_ud_rnic *from; /* the RNIC of the frame in hand; NULL: none */
	struct hp3d_ud_counters c;
	struct hp3d_ud_peers peers;
	const struct hp3d_ud_traces *traces;
};

static void increment_counter(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* Opens the ports of one device; `why`: the latest reason why a port is not used. */
static void open_ports(struct hp3d_ud *u, struct ibv_device *device, char *why)
{
	struct hp3d_ud_rnic *r;
	char reason[WHY / 2];

	for (uint8_t port = 1; port <= 2 && u->n < RNICS; port++) {
		r = calloc(1, sizeof(*r));
		if (r == NULL)
			return;
		if (hp3d_ud_rnic_open(r, &u->verbs, device, port, u->peers.ours.qkey, reason,
			    sizeof(reason)) == 0 &&
			hp3d_epoll_add(u->epoll, r->channel->fd, EPOLLIN, u->n) == 0) {
			u->rnic[u->n++] = r;
			u->c.stamping += hp3d_ud_stamps_are_there(&r->stamps);
			continue;
		}
		if (port == 1)
			snprintf(why, WHY, "%s: %s", r->name, reason);
		hp3d_ud_rnic_close(r);
		free(r);
	}
}

static int open_rnics(struct hp3d_ud *u, char *why)
{
	struct ibv_device **list;
	int n = 0;

	snprintf(why, WHY, "no RNIC is there");
	list = u->verbs.get_device_list(&n);
	for (int i = 0; list != NULL && i < n; i++)
		open_ports(u, list[i], why);
	if (list != NULL)
		u->verbs.free_device_list(list);
	return u->n > 0 ? 0 : -1;
}

/* The queue pairs that peers may send to, of all RNICs in turn. */
static void request_qps(struct hp3d_ud *u)
{
	struct hp3_hello *ours = &u->peers.ours;

	for (uint32_t q = 0; q < HP3D_UD_QPS; q++)
		for (uint32_t i = 0; i < u->n; i++)
			if (q < u->rnic[i]->n && ours->n < HP3_HELLO_QPNS)
				ours->qpn[ours->n++] = u->rnic[i]->qp[q]->qp_num;
}

static struct hp3d_ud_rnic *rnic_of(
	struct hp3d_ud *u, bool ipv6, const uint8_t *ip, uint64_t now, int *gid)
{
	for (uint32_t i = 0; i < u->n; i++) {
		*gid = hp3d_ud_rnic_gid(u->rnic[i], ipv6, ip, now);
		if (*gid >= 0)
			return u->rnic[i];
	}
	return NULL;
}

static uint64_t failed_sends(const struct hp3d_ud *u)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < u->n; i++)
		n += u->rnic[i]->failed;
	return n;
}

static uint64_t *send_trace(struct hp3d_ud *u, const void *frame, uint32_t len)
{
	return hp3d_ud_traces_send(u->traces, frame, len) == 0 ? &u->c.traced : &u->c.untraced;
}

static bool is_keying(const struct hp3d_ud_route *route)
{
	return !route->exact && route->sport == HP3_HANDSHAKE_PORT;
}

static uint64_t *send_one(struct hp3d_ud *u, const void *frame, uint32_t len, uint64_t now)
{
	struct hp3d_ud_route route;
	struct hp3d_ud_peer *peer;
	struct hp3d_ud_rnic *r;
	uint8_t buf[HP3D_UD_PAYLOAD];
	int gid, n = hp3d_ud_pack(frame, len, u->peers.port, &route, buf);

	if (hp3d_ud_is_trace(frame, len))
		return send_trace(u, frame, len);
	if (n < 0)
		return NULL; /* hp3d sends this packet in inline mode only */
	r = rnic_of(u, route.ipv6, route.src, now, &gid);
	if (r == NULL)
		return &u->c.no_rnic;
	peer = route.exact ? hp3d_ud_peers_add(&u->peers, route.ipv6, route.src, route.dst, now)
			   : hp3d_ud_peers_find(&u->peers, route.ipv6, route.src, route.dst);
	if (peer != NULL)
		hp3d_ud_peers_want(&u->peers, peer, now);
	if (peer == NULL || peer->answer.n == 0 ||
		(is_keying(&route) && !hp3d_ud_peers_confirm(&u->peers, peer, now)))
		return &u->c.no_peer;
	n = hp3d_ud_rnic_send(r, gid, &route, &peer->answer, buf, (uint32_t)n);
	__atomic_store_n(&u->c.failed, failed_sends(u), __ATOMIC_RELAXED);
	if (n == -EADDRNOTAVAIL)
		return &u->c.no_port;
	if (n < 0)
		return n == -ENETUNREACH ? &u->c.no_route : &u->c.no_room;
	peer->unanswered += route.exact;
	return &u->c.sent;
}

static void send_all(void *ud, struct rte_mbuf **m, uint16_t n)
{
	struct hp3d_ud *u = ud;
	uint64_t *counter;

	for (uint16_t i = 0; i < n; i++) {
		counter = send_one(
			u, rte_pktmbuf_mtod(m[i], void *), rte_pktmbuf_data_len(m[i]), u->now);
		if (counter != NULL)
			increment_counter(counter);
	}
	rte_pktmbuf_free_bulk(m, n);
}

/* How long this probe, and the answer in hand, were on the wire. */
static uint32_t time_of_answer(void *ud, uint32_t id)
{
	static const size_t counters[] = {
#define X(name, help) offsetof(struct hp3d_ud_counters, name),
		HP3D_UD_TIMINGS(X)
#undef X
	};
	struct hp3d_ud *u = ud;
	uint32_t ns = 0;

	if (u->from != NULL)
		increment_counter((
			uint64_t *)((char *)&u->c + counters[hp3d_ud_rnic_took(u->from, id, &ns)]));
	return ns;
}

static int watch_traces(struct hp3d_ud *u)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < HP3D_UD_TRACE_FAMILIES; i++)
		if (u->traces->in[i] >= 0)
			rc = hp3d_epoll_add(u->epoll, u->traces->in[i], EPOLLIN, TRACES + i);
	return rc;
}

static int make_all(struct hp3d_ud *u, const struct hp3_config *cfg, char *why)
{
	u->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (u->epoll < 0 ||
		getrandom(&u->peers.ours.qkey, sizeof(uint32_t), 0) != sizeof(uint32_t)) {
		snprintf(why, WHY, "%s", strerror(errno));
		return -1;
	}
	u->peers.ours.qkey = (u->peers.ours.qkey & QKEY) | 1u;
	u->pool = rte_mempool_lookup("hp3d_ud");
	if (u->pool == NULL)
		u->pool = rte_pktmbuf_pool_create(
			"hp3d_ud", BUFFERS, 0, 0, RTE_PKTMBUF_HEADROOM + FRAME, SOCKET_ID_ANY);
	if (u->pool == NULL) {
		snprintf(why, WHY, "no pool of packet buffers: %s",
			hp3_pool_failure(rte_errno, "raise [eal] memory_mb"));
		return -1;
	}
	if (hp3d_ibverbs_load(&u->verbs, cfg->verbs.ibverbs, why, WHY) < 0 ||
		open_rnics(u, why) < 0 ||
		hp3d_ud_peers_open(
			&u->peers, hp3d_agent_pairs(cfg), (uint16_t)cfg->probes.port, why, WHY) < 0)
		return -1;
	u->peers.epoll = u->epoll;
	u->peers.event = SOCKETS;
	if (hp3d_ud_peers_watch(&u->peers, u->peers.asks) < 0 ||
		hp3d_ud_peers_watch(&u->peers, u->peers.answers) < 0 || watch_traces(u) < 0) {
		snprintf(why, WHY, "%s", strerror(errno));
		return -1;
	}
	return 0;
}

struct hp3d_ud *hp3d_ud_open(
	const struct hp3_config *cfg, struct hp3d_pipe *p, const struct hp3d_ud_traces *traces)
{
	struct hp3d_ud *u = cfg->verbs.ibverbs[0] != '\0' ? calloc(1, sizeof(*u)) : NULL;
	char why[WHY] = "";

	if (u == NULL)
		return NULL;
	u->pipe = p;
	u->epoll = u->peers.asks = u->peers.before = u->peers.answers = -1;
	u->traces = traces;
	u->peers.agent = hp3d_pipe_agent(p);
	u->peers.engine = hp3d_pipe_engine(p);
	if (make_all(u, cfg, why) < 0) {
		fprintf(stderr,
			"hp3d: [verbs] ibverbs = \"%s\": other paths are not asked, queue pairs "
			"move by hand only: %s\n",
			cfg->verbs.ibverbs, why);
		hp3d_ud_close(u);
		return NULL;
	}
	if (u->peers.plain && hp3_config_agrees_on_keys(cfg))
		fprintf(stderr,
			"hp3d: UDP ports below 1024 cannot be had: peers with [probes] keys = auto "
			"do not reply; give hp3d CAP_NET_BIND_SERVICE, or set probe_key on all "
			"hosts\n");
	request_qps(u);
	hp3d_pipe_output(p, HP3_DIR_TX, send_all, u);
	hp3d_agent_on_answer(u->peers.agent, time_of_answer, u);
	return u;
}

void hp3d_ud_close(struct hp3d_ud *u)
{
	if (u == NULL)
		return;
	hp3d_pipe_output(u->pipe, HP3_DIR_TX, NULL, NULL);
	hp3d_agent_on_answer(u->peers.agent, NULL, NULL);
	hp3d_ud_peers_close(&u->peers);
	for (uint32_t i = 0; i < u->n; i++) {
		hp3d_ud_rnic_close(u->rnic[i]);
		free(u->rnic[i]);
	}
	hp3d_ibverbs_unload(&u->verbs);
	if (u->epoll >= 0)
		close(u->epoll);
	free(u);
}

/* The agent addresses its packets like packets of the local host, but in verbs mode, hp3d sees none
 * of these. So the agent learns from a frame that is built here. */
void hp3d_ud_meet(struct hp3d_ud *u, const struct hp3_ends *ends, uint8_t tclass, uint64_t now)
{
	struct hp3_addressing a = {
		.ipv6 = ends->ipv6, .tclass = tclass, .ttl = TTL, .sport = 0xc000, .pkey = 0xffff};
	const struct hp3_fields like = {.opcode = HP3_OP_RC_SEND_ONLY};
	struct hp3d_ud_peer *peer;
	uint8_t frame[HP3_BUILD_MAX_HDR];
	struct hp3_view v;
	int len;

	memcpy(a.src_ip, ends->local, ends->ipv6 ? 16 : 4);
	memcpy(a.dst_ip, ends->remote, ends->ipv6 ? 16 : 4);
	len = hp3_build(frame, sizeof(frame), &a, &like);
	if (len < 0)
		return;
	hp3_parse(frame, (uint32_t)len, &v);
	hp3d_agent_learn(u->peers.agent, &(struct hp3_parsed){frame, (uint32_t)len, &v}, now);
	peer = hp3d_ud_peers_add(&u->peers, ends->ipv6, ends->local, ends->remote, now);
	if (peer == NULL)
		return;
	hp3d_ud_peers_meet(peer, now);
	hp3d_ud_peers_want(&u->peers, peer, now);
}

void hp3d_ud_pair_ended(struct hp3d_ud *u, const struct hp3_ends *ends)
{
	struct hp3d_ud_peer *peer =
		hp3d_ud_peers_find(&u->peers, ends->ipv6, ends->local, ends->remote);

	hp3d_agent_pair_ended(u->peers.agent, ends);
	if (peer != NULL)
		hp3d_ud_peers_part(peer);
}

uint32_t hp3d_ud_ports(
	struct hp3d_ud *u, bool ipv6, const uint8_t *local, const uint16_t **ports, uint64_t now)
{
	int gid;
	struct hp3d_ud_rnic *r = rnic_of(u, ipv6, local, now, &gid);

	*ports = NULL;
	if (r == NULL)
		return UINT32_MAX;
	*ports = r->sport;
	return r->how == HP3D_UD_HASHED ? r->n : 0;
}

int hp3d_ud_fd(const struct hp3d_ud *u)
{
	return u->epoll;
}

/* Passes a frame to the agent as if it had arrived at a port. */
static void hand_in(struct hp3d_ud *u, struct rte_mbuf *m, int len, uint64_t now)
{
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	hp3d_pipe_burst(u->pipe, HP3_DIR_RX, &m, 1, now);
}

static uint32_t hear_hops(struct hp3d_ud *u, uint32_t family, uint64_t now)
{
	struct rte_mbuf *m;
	uint32_t turns;
	int len = 0;

	for (turns = 0; turns < RNIC_TURNS && (len >= 0 || len == -EBADMSG); turns++) {
		m = rte_pktmbuf_alloc(u->pool);
		if (m == NULL)
			break;
		len = hp3d_ud_traces_take(u->traces, family, rte_pktmbuf_mtod(m, uint8_t *), FRAME);
		if (len >= 0) {
			increment_counter(&u->c.expired);
			hand_in(u, m, len, now);
		} else {
			rte_pktmbuf_free(m);
		}
	}
	return turns;
}

static void take_frame(struct hp3d_ud *u, const uint8_t *grh, uint32_t n, uint64_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(u->pool);
	struct hp3d_ud_peer *peer;
	struct hp3d_ud_route route;
	int len;

	increment_counter(&u->c.arrived);
	if (m == NULL)
		return;
	len = hp3d_ud_unpack(grh, grh + HP3D_UD_GRH, n, u->peers.port, &route,
		rte_pktmbuf_mtod(m, void *), FRAME);
	if (len < 0) {
		increment_counter(&u->c.senseless);
		rte_pktmbuf_free(m);
		return;
	}
	peer = hp3d_ud_peers_find(&u->peers, route.ipv6, route.dst, route.src);
	if (peer != NULL)
		peer->unanswered = 0;
	hand_in(u, m, len, now);
}

static uint32_t take_arrived(struct hp3d_ud *u, struct hp3d_ud_rnic *r, uint64_t now)
{
	const uint8_t *grh;
	uint32_t n, turns = 0;

	hp3d_ud_rnic_heard(r);
	u->from = r;
	while (turns < RNIC_TURNS && hp3d_ud_rnic_take(r, &grh, &n)) {
		take_frame(u, grh, n, now);
		turns++;
	}
	u->from = NULL;
	return turns;
}

uint32_t hp3d_ud_poll(struct hp3d_ud *u, uint64_t now)
{
	struct epoll_event event[EVENTS];
	int n = epoll_wait(u->epoll, event, EVENTS, 0);
	uint32_t done = 0;

	u->now = now;
	for (int i = 0; i < n; i++) {
		if (event[i].data.u32 == SOCKETS)
			done += hp3d_ud_peers_poll(&u->peers, now);
		else if (event[i].data.u32 >= TRACES)
			done += hear_hops(u, event[i].data.u32 - TRACES, now);
		else
			done += take_arrived(u, u->rnic[event[i].data.u32], now);
	}
	return done;
}

uint64_t hp3d_ud_tick(struct hp3d_ud *u, uint64_t now)
{
	u->now = now;
	return hp3d_ud_peers_tick(&u->peers, now);
}

const struct hp3d_ud_counters *hp3d_ud_counters(const struct hp3d_ud *u)
{
	return &u->c;
}
