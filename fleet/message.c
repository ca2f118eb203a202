/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding and decoding, field by field in the order of the structs; look-ups in reports. */
#include "fleet/message.h"
#include <errno.h>
#include <string.h>
#include "fleet/coding.h"

enum message_kind { KIND_REPORT = 1, KIND_PLAN, KIND_KEEPALIVE };

#define REPORT_FIELDS    12u
#define FLOW_FIELDS      17u
#define PLAN_FIELDS      12u
#define MOVE_FIELDS      12u
#define KEEPALIVE_FIELDS 5u
#define QPN_MAX          0xffffffu
#define PERMILLE         1000u

int hp3_fleet_addr_cmp(const struct hp3_fleet_addr *a, const struct hp3_fleet_addr *b)
{
	return a->len != b->len ? (int)a->len - (int)b->len : memcmp(a->b, b->b, a->len);
}

int hp3_fleet_key_cmp(const struct hp3_fleet_key *a, const struct hp3_fleet_key *b)
{
	int ret = hp3_fleet_addr_cmp(&a->src, &b->src);

	if (ret == 0)
		ret = hp3_fleet_addr_cmp(&a->dst, &b->dst);
	return ret != 0 ? ret : (a->qpn > b->qpn) - (a->qpn < b->qpn);
}

static struct hp3_cbor_out begin_message(
	uint8_t *to, size_t room, enum message_kind kind, size_t fields)
{
	struct hp3_cbor_out o = {.at = to, .left = room};

	hp3_cbor_put_array(&o, fields);
	hp3_cbor_put_uint(&o, HP3_FLEET_VERSION);
	hp3_cbor_put_uint(&o, kind);
	return o;
}

static size_t end_message(const struct hp3_cbor_out *o, const uint8_t *to)
{
	return o->bad ? 0 : (size_t)(o->at - to);
}

static void put_addr(struct hp3_cbor_out *o, const struct hp3_fleet_addr *a)
{
	hp3_cbor_put_bytes(o, a->b, a->len);
}

static void put_addrs(struct hp3_cbor_out *o, const struct hp3_fleet_addr *a, size_t n)
{
	hp3_cbor_put_array(o, n);
	for (size_t i = 0; i < n; i++)
		put_addr(o, &a[i]);
}

static void put_key(struct hp3_cbor_out *o, const struct hp3_fleet_key *k)
{
	put_addr(o, &k->src);
	put_addr(o, &k->dst);
	hp3_cbor_put_uint(o, k->qpn);
}

/* A hop is encoded as its number plus one (0: none), so that it takes one byte. */
static void put_flow(struct hp3_cbor_out *o, const struct hp3_fleet_flow *f)
{
	hp3_cbor_put_array(o, FLOW_FIELDS);
	put_key(o, &f->key);
	hp3_cbor_put_uint(o, f->port);
	hp3_cbor_put_uint(o, (uint8_t)(f->hop + 1));
	hp3_cbor_put_uint(o, f->flags);
	hp3_cbor_put_uint(o, f->marked_permille);
	hp3_cbor_put_uint(o, f->rtt_ns);
	hp3_cbor_put_uint(o, f->base_rtt_ns);
	hp3_cbor_put_uint(o, f->settled_ms);
	hp3_cbor_put_uint(o, f->failures);
	hp3_cbor_put_uint(o, f->rate_kbps);
	hp3_cbor_put_uint(o, f->bytes);
	hp3_cbor_put_uint(o, f->marks);
	hp3_cbor_put_uint(o, f->advised);
	hp3_cbor_put_uint(o, f->advised_port);
	hp3_cbor_put_array(o, 2u * f->n_alts);
	for (unsigned i = 0; i < f->n_alts; i++) {
		hp3_cbor_put_uint(o, f->alt[i].port);
		hp3_cbor_put_uint(o, f->alt[i].hop);
	}
}

size_t hp3_fleet_report_encode(const struct hp3_fleet_report *r, uint8_t *to, size_t room)
{
	struct hp3_cbor_out o = begin_message(to, room, KIND_REPORT, REPORT_FIELDS);

	hp3_cbor_put_text(&o, r->host);
	hp3_cbor_put_text(&o, r->leaf);
	hp3_cbor_put_uint(&o, r->instance);
	hp3_cbor_put_uint(&o, r->seq);
	hp3_cbor_put_uint(&o, r->wall_ms);
	hp3_cbor_put_uint(&o, r->interval_ms);
	hp3_cbor_put_uint(&o, r->capability);
	hp3_cbor_put_uint(&o, r->all_flows);
	put_addrs(&o, r->addr, r->n_addrs);
	hp3_cbor_put_array(&o, 1u + r->n_flows);
	put_addrs(&o, r->hop, r->n_hops);
	for (unsigned i = 0; i < r->n_flows; i++)
		put_flow(&o, &r->flow[i]);
	return end_message(&o, to);
}

static void put_move(struct hp3_cbor_out *o, const struct hp3_fleet_move *m)
{
	hp3_cbor_put_array(o, MOVE_FIELDS);
	hp3_cbor_put_text(o, m->host);
	hp3_cbor_put_uint(o, m->instance);
	put_key(o, &m->key);
	put_addr(o, &m->from_hop);
	put_addr(o, &m->to_hop);
	hp3_cbor_put_uint(o, m->from_port);
	hp3_cbor_put_uint(o, m->to_port);
	hp3_cbor_put_uint(o, m->rate_kbps);
	hp3_cbor_put_uint(o, m->before_kbps);
	hp3_cbor_put_uint(o, m->after_kbps);
}

size_t hp3_fleet_plan_encode(const struct hp3_fleet_plan *p, uint8_t *to, size_t room)
{
	struct hp3_cbor_out o = begin_message(to, room, KIND_PLAN, PLAN_FIELDS);

	hp3_cbor_put_text(&o, p->planner);
	hp3_cbor_put_uint(&o, p->term);
	hp3_cbor_put_uint(&o, p->epoch);
	hp3_cbor_put_uint(&o, p->valid_ms);
	hp3_cbor_put_uint(&o, p->hosts);
	hp3_cbor_put_uint(&o, p->flows);
	hp3_cbor_put_uint(&o, p->links);
	hp3_cbor_put_uint(&o, p->worst_before_kbps);
	hp3_cbor_put_uint(&o, p->worst_after_kbps);
	hp3_cbor_put_array(&o, p->n_moves);
	for (unsigned i = 0; i < p->n_moves; i++)
		put_move(&o, &p->move[i]);
	return end_message(&o, to);
}

size_t hp3_fleet_keepalive_encode(const struct hp3_fleet_keepalive *b, uint8_t *to, size_t room)
{
	struct hp3_cbor_out o = begin_message(to, room, KIND_KEEPALIVE, KEEPALIVE_FIELDS);

	hp3_cbor_put_text(&o, b->planner);
	hp3_cbor_put_uint(&o, b->term);
	hp3_cbor_put_uint(&o, b->leads);
	return end_message(&o, to);
}

/* Reads the head of an array of exactly `fields` items. */
static void get_fields(struct hp3_cbor_in *i, size_t fields)
{
	i->bad |= hp3_cbor_get_array(i, fields) != fields;
}

/* Reads version and kind, which come first, because versions may differ in the number of fields. */
static int open_message(struct hp3_cbor_in *i, const uint8_t *from, size_t len,
	enum message_kind kind, size_t fields)
{
	size_t n;
	uint64_t version;

	*i = (struct hp3_cbor_in){.at = from, .left = len, .bad = len > HP3_FLEET_BYTES};
	n = hp3_cbor_get_array(i, UINT8_MAX);
	version = hp3_cbor_get_uint(i, UINT32_MAX);
	if (i->bad)
		return -EBADMSG;
	if (version != HP3_FLEET_VERSION)
		return -EPROTONOSUPPORT;
	i->bad = n != fields || hp3_cbor_get_uint(i, UINT8_MAX) != kind;
	return i->bad ? -EBADMSG : 0;
}

static int close_message(const struct hp3_cbor_in *i)
{
	return i->bad || i->left > 0 ? -EBADMSG : 0;
}

static struct hp3_fleet_addr get_addr(struct hp3_cbor_in *i, bool none)
{
	struct hp3_fleet_addr a = {0};

	a.len = (uint8_t)hp3_cbor_get_bytes(i, a.b, sizeof(a.b));
	i->bad |= a.len != 4 && a.len != 16 && !(none && a.len == 0);
	return a;
}

static uint8_t get_addrs(struct hp3_cbor_in *i, struct hp3_fleet_addr *a, size_t max)
{
	size_t n = hp3_cbor_get_array(i, max);

	for (size_t k = 0; k < n; k++)
		a[k] = get_addr(i, false);
	return (uint8_t)n;
}

static struct hp3_fleet_key get_key(struct hp3_cbor_in *i)
{
	struct hp3_fleet_key k = {.src = get_addr(i, false)};

	k.dst = get_addr(i, false);
	k.qpn = (uint32_t)hp3_cbor_get_uint(i, QPN_MAX);
	i->bad |= k.src.len != k.dst.len;
	return k;
}

static void get_alts(struct hp3_cbor_in *i, struct hp3_fleet_flow *f, uint8_t hops)
{
	size_t n = hp3_cbor_get_array(i, 2 * HP3_FLEET_ALTS);

	i->bad |= n % 2 != 0 || (n > 0 && hops == 0);
	f->n_alts = i->bad ? 0 : (uint8_t)(n / 2);
	for (unsigned k = 0; k < f->n_alts; k++) {
		f->alt[k].port = (uint16_t)hp3_cbor_get_uint(i, UINT16_MAX);
		f->alt[k].hop = (uint8_t)hp3_cbor_get_uint(i, hops - 1u);
	}
}

static void get_flow(struct hp3_cbor_in *i, struct hp3_fleet_flow *f, uint8_t hops)
{
	*f = (struct hp3_fleet_flow){0};
	get_fields(i, FLOW_FIELDS);
	f->key = get_key(i);
	f->port = (uint16_t)hp3_cbor_get_uint(i, UINT16_MAX);
	f->hop = (uint8_t)(hp3_cbor_get_uint(i, hops) - 1u);
	f->flags = (uint8_t)hp3_cbor_get_uint(i, HP3_FLEET_MOVABLE | HP3_FLEET_SEVERE);
	f->marked_permille = (uint16_t)hp3_cbor_get_uint(i, PERMILLE);
	f->rtt_ns = (uint32_t)hp3_cbor_get_uint(i, UINT32_MAX);
	f->base_rtt_ns = (uint32_t)hp3_cbor_get_uint(i, UINT32_MAX);
	f->settled_ms = (uint32_t)hp3_cbor_get_uint(i, UINT32_MAX);
	f->failures = (uint32_t)hp3_cbor_get_uint(i, UINT32_MAX);
	f->rate_kbps = hp3_cbor_get_uint(i, UINT32_MAX);
	f->bytes = hp3_cbor_get_uint(i, UINT64_MAX);
	f->marks = hp3_cbor_get_uint(i, UINT64_MAX);
	f->advised = (uint8_t)hp3_cbor_get_uint(i, HP3_FLEET_ADVISED_MAX - 1u);
	f->advised_port = (uint16_t)hp3_cbor_get_uint(i, UINT16_MAX);
	i->bad |= (f->advised == HP3_FLEET_NOT_ADVISED) != (f->advised_port == 0);
	get_alts(i, f, hops);
}

int hp3_fleet_report_decode(const uint8_t *from, size_t len, struct hp3_fleet_report *out)
{
	struct hp3_cbor_in i;
	int ret = open_message(&i, from, len, KIND_REPORT, REPORT_FIELDS);
	size_t n;

	if (ret < 0)
		return ret;
	hp3_cbor_get_name(&i, out->host, sizeof(out->host));
	i.bad |= out->host[0] == '\0';
	hp3_cbor_get_name(&i, out->leaf, sizeof(out->leaf));
	out->instance = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->seq = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->wall_ms = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->interval_ms = (uint32_t)hp3_cbor_get_uint(&i, HP3_FLEET_INTERVAL_MS);
	out->capability = (uint32_t)hp3_cbor_get_uint(&i, HP3_FLEET_CAN_MOVE | HP3_FLEET_CAN_TRACE);
	out->all_flows = (uint32_t)hp3_cbor_get_uint(&i, UINT32_MAX);
	out->n_addrs = get_addrs(&i, out->addr, HP3_FLEET_ADDRS);
	n = hp3_cbor_get_array(&i, 1u + HP3_FLEET_FLOWS);
	i.bad |= n == 0;
	out->n_hops = get_addrs(&i, out->hop, HP3_FLEET_HOPS);
	out->n_flows = i.bad ? 0 : (uint8_t)(n - 1);
	for (unsigned k = 0; k < out->n_flows && !i.bad; k++)
		get_flow(&i, &out->flow[k], out->n_hops);
	return close_message(&i);
}

static void get_move(struct hp3_cbor_in *i, struct hp3_fleet_move *m)
{
	*m = (struct hp3_fleet_move){0};
	get_fields(i, MOVE_FIELDS);
	hp3_cbor_get_name(i, m->host, sizeof(m->host));
	i->bad |= m->host[0] == '\0';
	m->instance = hp3_cbor_get_uint(i, UINT64_MAX);
	m->key = get_key(i);
	m->from_hop = get_addr(i, true);
	m->to_hop = get_addr(i, true);
	m->from_port = (uint16_t)hp3_cbor_get_uint(i, UINT16_MAX);
	m->to_port = (uint16_t)hp3_cbor_get_uint(i, UINT16_MAX);
	m->rate_kbps = hp3_cbor_get_uint(i, UINT64_MAX);
	m->before_kbps = hp3_cbor_get_uint(i, UINT64_MAX);
	m->after_kbps = hp3_cbor_get_uint(i, UINT64_MAX);
}

int hp3_fleet_plan_decode(const uint8_t *from, size_t len, struct hp3_fleet_plan *out)
{
	struct hp3_cbor_in i;
	int ret = open_message(&i, from, len, KIND_PLAN, PLAN_FIELDS);

	if (ret < 0)
		return ret;
	hp3_cbor_get_name(&i, out->planner, sizeof(out->planner));
	i.bad |= out->planner[0] == '\0';
	out->term = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->epoch = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->valid_ms = (uint32_t)hp3_cbor_get_uint(&i, UINT32_MAX);
	out->hosts = (uint32_t)hp3_cbor_get_uint(&i, UINT32_MAX);
	out->flows = (uint32_t)hp3_cbor_get_uint(&i, UINT32_MAX);
	out->links = (uint32_t)hp3_cbor_get_uint(&i, UINT32_MAX);
	out->worst_before_kbps = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->worst_after_kbps = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->n_moves = (uint8_t)hp3_cbor_get_array(&i, HP3_FLEET_MOVES);
	for (unsigned k = 0; k < out->n_moves && !i.bad; k++)
		get_move(&i, &out->move[k]);
	return close_message(&i);
}

int hp3_fleet_keepalive_decode(const uint8_t *from, size_t len, struct hp3_fleet_keepalive *out)
{
	struct hp3_cbor_in i;
	int ret = open_message(&i, from, len, KIND_KEEPALIVE, KEEPALIVE_FIELDS);

	if (ret < 0)
		return ret;
	hp3_cbor_get_name(&i, out->planner, sizeof(out->planner));
	i.bad |= out->planner[0] == '\0';
	out->term = hp3_cbor_get_uint(&i, UINT64_MAX);
	out->leads = hp3_cbor_get_uint(&i, 1) == 1;
	return close_message(&i);
}

uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop)
{
	for (uint8_t i = 0; i < r->n_hops; i++)
		if (hp3_fleet_addr_cmp(&r->hop[i], hop) == 0)
			return i;
	if (r->n_hops == HP3_FLEET_HOPS)
		return HP3_FLEET_NO_HOP;
	r->hop[r->n_hops] = *hop;
	return r->n_hops++;
}

bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop)
{
	for (uint8_t i = 0; i < f->n_alts; i++)
		if (f->alt[i].hop == hop)
			return false;
	return hop != HP3_FLEET_NO_HOP && hop != f->hop;
}
