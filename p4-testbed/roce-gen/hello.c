/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters that two ends exchange, and the queue pairs made from them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <jansson.h>
#include "base/plain.h"
#include "base/random.h"
#include "config/message.h"
#include "content.h"
#include "control.h"
#include "stream.h"

#define VERSION    1
#define PKEY       0xffffu
#define PORT_FIRST 0xc000u /* where Soft-RoCE's and most RNICs' source ports begin */
#define PORT_MASK  0x3fffu

static uint32_t random_psn(struct gen_control *c)
{
	return (uint32_t)hp3_random(&c->random) & HP3_PSN_MASK;
}

static int add_qps(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now)
{
	p->first = c->ep->n_qps;
	if (n > c->ep->p.max_qps - c->ep->n_qps)
		return -ENOSPC;
	for (p->n = 0; p->n < n; p->n++) {
		struct gen_qp *q = gen_endpoint_add(
			c->ep, c->o->have_psn ? (uint32_t)c->o->first_psn : random_psn(c), now);

		q->peer = p->number;
		q->channel = p->n;
		q->loads = p->active || c->o->bidirectional;
	}
	return 0;
}

static int send_json(struct gen_peer *p, json_t *j)
{
	char *text = j != NULL ? json_dumps(j, JSON_COMPACT) : NULL;
	int ret = -ENOMEM;

	if (text != NULL)
		ret = gen_stream_send(p->fd, text, strlen(text));
	if (ret == 0)
		ret = gen_stream_send(p->fd, "\n", 1);
	free(text);
	json_decref(j);
	return ret;
}

void gen_control_send(struct gen_peer *p, const char *type)
{
	if (p->fd >= 0)
		send_json(p, json_pack("{ss}", "type", type));
}

int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now)
{
	char address[INET6_ADDRSTRLEN];
	json_t *qps = json_array();
	int ret = add_qps(c, p, n, now);

	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		const struct gen_qp *q = &c->ep->qps[p->first + i];

		json_array_append_new(
			qps, json_pack("[II]", (json_int_t)q->lqpn, (json_int_t)q->requester.una));
	}
	if (ret != 0) {
		json_decref(qps);
		return ret;
	}
	return send_json(p,
		json_pack("{ss si ss sI sI sI sI sb so}", "type", "hello", "v", VERSION, "address",
			gen_address_format(&c->own, address), "mtu", (json_int_t)c->o->mtu, "rkey",
			(json_int_t)c->ep->p.responder.rkey, "va", (json_int_t)GEN_MEMORY_BASE,
			"size", (json_int_t)GEN_MEMORY_SIZE, "marks", !c->own.ipv6, "qps", qps));
}

static uint16_t source_port(const struct gen_control *c, const struct gen_qp *q)
{
	uint32_t hash;

	if (c->o->n_sports > 0)
		return c->o->sports[q->index % c->o->n_sports];
	hash = (q->lqpn * 0x9e3779b1u) ^ (q->rqpn * 0x85ebca6bu);
	return (uint16_t)(PORT_FIRST | (hash >> 16 & PORT_MASK));
}

static void set_qp_addressing(struct gen_control *c, const struct gen_peer *p, struct gen_qp *q)
{
	q->to = (struct hp3_addressing){.tag = {hp3_tag_8021q((uint16_t)c->o->vlan)},
		.ipv6 = c->own.ipv6,
		.tclass = (uint8_t)(c->o->dscp << 2 |
				    (c->o->no_ect ? HP3_ECN_NOT_ECT : HP3_ECN_ECT0)),
		.ttl = (uint8_t)c->o->ttl,
		.pkey = PKEY};
	memcpy(q->to.src_mac, c->port->mac, sizeof(q->to.src_mac));
	memcpy(q->to.src_ip, c->own.ip, sizeof(q->to.src_ip));
	memcpy(q->to.dst_ip, p->address.ip, sizeof(q->to.dst_ip));
	q->to.sport = source_port(c, q);
}

/* NULL: the peer's queue pairs are described. */
static const char *take_hello(struct gen_control *c, struct gen_peer *p, json_t *j, uint64_t now)
{
	const char *address;
	json_t *qps, *pair;
	json_int_t mtu, rkey, va, size;
	int v, marks;
	size_t i;

	if (json_unpack(j, "{si ss sI sI sI sI sb so}", "v", &v, "address", &address, "mtu", &mtu,
		    "rkey", &rkey, "va", &va, "size", &size, "marks", &marks, "qps", &qps) != 0 ||
		v != VERSION || !gen_address_parse(address, &p->address) || rkey < 0 ||
		rkey > UINT32_MAX || va < 0 || size < 0 || !json_is_array(qps) ||
		json_array_size(qps) == 0)
		return "hello makes no sense: is it roce-gen of this version?";
	if (mtu != (json_int_t)c->o->mtu)
		return "has another path MTU: give both ends the same --mtu";
	if (p->address.ipv6 != c->own.ipv6)
		return "has an address of the other family: give both ends --ipv6, or neither";
	if (!p->active && gen_control_greet(c, p, (uint32_t)json_array_size(qps), now) != 0)
		return "wants more queue pairs than are left (65536 in all)";
	if (json_array_size(qps) != p->n)
		return "has another number of queue pairs";
	json_array_foreach (qps, i, pair) {
		struct gen_qp *q = &c->ep->qps[p->first + i];
		json_int_t qpn, psn;

		if (json_unpack(pair, "[II]", &qpn, &psn) != 0 || qpn < 0 || qpn > HP3_QPN_MASK ||
			psn < 0 || psn > HP3_PSN_MASK)
			return "has a queue pair number or PSN out of range";
		q->rqpn = (uint32_t)qpn;
		q->peer_psn = (uint32_t)psn;
		q->rkey = (uint32_t)rkey;
		q->memory = (uint64_t)va;
		q->memory_size = (uint64_t)size;
		q->marks = marks && !c->own.ipv6;
		set_qp_addressing(c, p, q);
	}
	p->state = GEN_PEER_RESOLVING;
	p->next_try = now;
	return NULL;
}

void gen_control_resolve(struct gen_control *c, struct gen_peer *p)
{
	uint8_t mac[6];
	int ret = 0;

	if (c->o->have_dst_mac)
		memcpy(mac, c->o->dst_mac, sizeof(mac));
	else
		ret = gen_route_mac(c->port->index, &p->address, mac);
	if (ret == -EAGAIN)
		return;
	if (ret != 0) {
		gen_control_fail(c, p,
			"no route to its address by this interface: add one, or give --dst-mac");
		return;
	}
	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		struct gen_qp *q = &c->ep->qps[i];

		memcpy(q->to.dst_mac, mac, sizeof(mac));
		gen_endpoint_connect(c->ep, q, q->peer_psn);
	}
	p->sent_ready = true;
	p->state = p->ready ? GEN_PEER_UP : GEN_PEER_WAITING;
	gen_control_send(p, "ready");
}

void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now)
{
	json_t *j = json_loadb(line, len, 0, NULL);
	const char *type = json_string_value(json_object_get(j, "type")), *bad = NULL;
	char text[256];

	if (type == NULL) {
		bad = "sent something that is no message";
	} else if (strcmp(type, "hello") == 0 && p->state == GEN_PEER_GREETING) {
		bad = take_hello(c, p, j, now);
	} else if (strcmp(type, "ready") == 0) {
		p->ready = true;
		p->state = p->state == GEN_PEER_WAITING ? GEN_PEER_UP : p->state;
	} else if (strcmp(type, "done") == 0) {
		p->done = true;
	} else if (strcmp(type, "error") == 0) {
		const char *said = json_string_value(json_object_get(j, "text"));

		snprintf(text, sizeof(text), "says: %s", said != NULL ? said : "?");
		bad = hp3_plain(text);
	} else {
		bad = "sent a message out of turn";
	}
	if (bad != NULL && p->fd >= 0) {
		if (type != NULL && strcmp(type, "error") != 0)
			send_json(p, json_pack("{ssss}", "type", "error", "text", bad));
		gen_control_fail(c, p, bad);
	}
	json_decref(j);
}

/* IP,QPN,PSN[,RKEY,VA]: QPN and PSN of the first queue pair; the next ones' are one more each (PSN
 * the same). */
static bool parse_static(const char *text, struct gen_peer *p, struct gen_qp *like)
{
	char ip[INET6_ADDRSTRLEN];
	unsigned long long qpn, psn, rkey = 0, va = GEN_MEMORY_BASE;
	int n = sscanf(text, "%45[^,],%lli,%lli,%lli,%lli", ip, (long long *)&qpn,
		(long long *)&psn, (long long *)&rkey, (long long *)&va);

	if ((n != 3 && n != 5) || !gen_address_parse(ip, &p->address) || qpn > HP3_QPN_MASK ||
		psn > HP3_PSN_MASK || rkey > UINT32_MAX)
		return false;
	like->rqpn = (uint32_t)qpn;
	like->peer_psn = (uint32_t)psn;
	like->rkey = (uint32_t)rkey;
	like->memory = va;
	return true;
}

static int add_static(struct gen_control *c, const char *text, uint64_t now)
{
	struct gen_qp like = {0};
	struct gen_peer p = {.fd = -1, .active = true, .where = text};
	int ret = -EINVAL;
	uint8_t mac[6] = {0};

	like.rkey = c->ep->p.responder.rkey;
	if (!c->o->have_dst_mac || !c->o->have_qpn || !c->o->have_psn ||
		!parse_static(text, &p, &like) || p.address.ipv6 != c->own.ipv6) {
		hp3_message("roce-gen: --static %s: write IP,QPN,PSN[,RKEY,VA], and give "
			    "--first-qpn, --first-psn and --dst-mac",
			text);
		return ret;
	}
	memcpy(mac, c->o->dst_mac, sizeof(mac));
	ret = add_qps(c, &p, (uint32_t)c->o->qps, now);
	for (uint32_t i = 0; ret == 0 && i < p.n; i++) {
		struct gen_qp *q = &c->ep->qps[p.first + i];

		q->rqpn = (like.rqpn + i) & HP3_QPN_MASK;
		q->rkey = like.rkey != 0 ? like.rkey : c->ep->p.responder.rkey;
		q->memory = like.memory;
		q->memory_size = GEN_MEMORY_SIZE;
		q->marks = !c->own.ipv6;
		set_qp_addressing(c, &p, q);
		memcpy(q->to.dst_mac, mac, sizeof(mac));
		gen_endpoint_connect(c->ep, q, like.peer_psn);
	}
	return ret;
}

int gen_control_fixed(struct gen_control *c, uint64_t now)
{
	int ret = 0;

	for (uint32_t i = 0; i < c->o->n_fixed && ret == 0; i++)
		ret = add_static(c, c->o->fixed[i], now);
	return ret;
}
