/* SPDX-License-Identifier: BSD-3-Clause */
/* The network between hosts that agree on keys, and who attacks from it. */
#include <stdlib.h>
#include "base/random.h"
#include "keys_world.h"

#define DELAY_MS 40u /* at most; messages overtake each other */
#define SRC      26u /* in a frame with IPv4 */
#define DST      30u

static void build(struct keys_frame *f, const struct hp3_keying_message *m)
{
	struct hp3_addressing a = {
		.dst_mac = {2, 2}, .src_mac = {2, 1}, .ttl = 64, .sport = HP3_HANDSHAKE_PORT};
	int n;

	memcpy(a.src_ip, m->to.src, sizeof(a.src_ip));
	memcpy(a.dst_ip, m->to.dst, sizeof(a.dst_ip));
	n = hp3_build_udp(f->b, sizeof(f->b), &a, HP3_PROBE_PORT, m->bytes, (uint16_t)m->len);
	if (n < 0)
		abort();
	f->len = (uint32_t)n;
}

static void put(struct keys_world *w, const struct keys_frame *f)
{
	if (w->n_air == KEYS_AIR)
		return; /* as good as lost */
	w->air[w->n_air] = *f;
	w->air[w->n_air++].due = w->now + 1 + keys_below(w, DELAY_MS);
	w->r.messages++;
}

/* Whoever sees all remembers what he has not seen yet. */
static void remember(struct keys_world *w, const struct keys_frame *f)
{
	for (uint32_t i = 0; i < w->n_seen; i++)
		if (w->seen[i].len == f->len &&
			memcmp(w->seen[i].b + SRC, f->b + SRC, f->len - SRC) == 0)
			return;
	w->seen[w->n_seen < KEYS_SEEN ? w->n_seen++ : keys_below(w, KEYS_SEEN)] = *f;
}

static void forge(struct keys_world *w, const struct keys_frame *f)
{
	const struct hp3_handshake init = {.kind = 0};
	struct hp3_keying_message m = {0};
	struct hp3_pair_ends ends;
	struct hp3_handshake h = init, reply = {.kind = HP3_HANDSHAKE_REPLY};
	struct hp3_view v;

	hp3_parse(f->b, f->len, &v);
	if (hp3_handshake_read(&(struct hp3_parsed){f->b, f->len, &v}, HP3_PROBE_PORT, &ends, &h) <
			0 ||
		h.kind != HP3_HANDSHAKE_INIT)
		return;
	memcpy(reply.public, w->host[keys_below(w, w->p.hosts)].cfg.identity.public,
		HP3_PUBLIC_LEN);
	if (keys_chance(w, 100))
		reply.public[3] ^= (uint8_t)hp3_random(&w->random);
	reply.asked = h.asked;
	reply.nonce = hp3_random(&w->random);
	reply.proof[0] = (uint8_t)hp3_random(&w->random);
	m.to.ipv6 = ends.ipv6;
	memcpy(m.to.src, ends.dst, sizeof(ends.dst));
	memcpy(m.to.dst, ends.src, sizeof(ends.src));
	m.len = hp3_handshake_write(m.bytes, &reply);
	struct keys_frame out;

	build(&out, &m);
	put(w, &out);
}

void keys_send(struct keys_world *w, const struct hp3_keying_message *m)
{
	struct keys_frame f;

	build(&f, m);
	if (w->p.replays != 0)
		remember(w, &f);
	if (w->p.forgeries != 0 && keys_chance(w, w->p.forgeries))
		forge(w, &f);
	if (!w->calm && keys_chance(w, w->p.loss))
		return;
	put(w, &f);
	while (keys_chance(w, w->p.copies))
		put(w, &f);
}

/* Anything, with any addresses. */
static void attack_blindly(struct keys_world *w)
{
	struct keys_host *from = &w->host[keys_below(w, w->p.hosts)];
	struct keys_host *to = &w->host[keys_below(w, w->p.hosts)];
	struct hp3_handshake h = {.kind = (uint8_t)(1 + keys_below(w, 4))};
	struct hp3_keying_message m = {.to = keys_ends(from, to)};
	struct keys_frame f;

	memcpy(h.public, from->cfg.identity.public, HP3_PUBLIC_LEN);
	if (keys_chance(w, 500))
		h.public[0] ^= 1;
	h.asked = hp3_random(&w->random);
	h.nonce = hp3_random(&w->random);
	h.instance = hp3_random(&w->random);
	h.cookie[0] = h.proof[0] = (uint8_t)hp3_random(&w->random);
	if (keys_chance(w, 100))
		m.to.src[3] = (uint8_t)hp3_random(&w->random);
	m.len = hp3_handshake_write(m.bytes, &h);
	build(&f, &m);
	put(w, &f);
}

/* What he saw, as it was, or back to where it came from. The sum is that of the same words. */
static void replay(struct keys_world *w)
{
	struct keys_frame f;
	uint8_t src[4];

	if (w->n_seen == 0)
		return;
	f = w->seen[keys_below(w, w->n_seen)];
	if (keys_chance(w, 200)) {
		memcpy(src, f.b + SRC, sizeof(src));
		memcpy(f.b + SRC, f.b + DST, sizeof(src));
		memcpy(f.b + DST, src, sizeof(src));
	}
	put(w, &f);
}

void keys_attack(struct keys_world *w)
{
	if (keys_chance(w, w->p.blind))
		attack_blindly(w);
	if (keys_chance(w, w->p.replays))
		replay(w);
}

static void deliver_messages(struct keys_world *w)
{
	for (uint32_t i = 0; i < w->n_messages;) {
		struct keys_message message;
		struct keys_host *h;
		const uint8_t *key;

		if (w->message[i].due > w->now) {
			i++;
			continue;
		}
		message = w->message[i];
		h = keys_host_of(w, message.ends.dst);
		w->message[i] = w->message[--w->n_messages];
		key = hp3_keying_find(h->k, &message.ends);
		if (key != NULL && memcmp(key, message.key, HP3_KEY_LEN) == 0)
			hp3_keying_heard(h->k, &message.ends, w->now * 1000000u + h->clock);
	}
}

void keys_deliver(struct keys_world *w)
{
	for (uint32_t i = 0; i < w->n_air;) {
		struct keys_frame f;
		struct keys_host *h;

		if (w->air[i].due > w->now) {
			i++;
			continue;
		}
		f = w->air[i];
		h = keys_host_of(w, f.b + DST);
		w->air[i] = w->air[--w->n_air];
		if (h != NULL)
			keys_take(w, h, &f);
	}
	deliver_messages(w);
}
