/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of key agreement (probes/keying.h). First the input is a frame. Then two hosts agree
 * on a key. The first byte of the input chooses one of their messages, which is first delivered
 * with changes by the other bytes (and a corrected checksum), and then unchanged. Checks:
 * writing a message that was read gives the same bytes; no changed proof is accepted; only the
 * INIT after a cookie is longer than the message that it answers; counters add up; the hosts
 * still agree on a key.
 */
#include <stdlib.h>
#include "../unit/keying_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)
#define L3       14u
#define PAYLOAD  42u /* of IPv4 */
#define MESSAGES 5u /* INIT, COOKIE, INIT, REPLY, CONFIRM */
#define NOW      (1000 * SECOND)

static struct host a, b;

/* All of it is a message, or nothing is. */
static void read_and_write(const struct frame *f)
{
	uint8_t again[HP3_HANDSHAKE_MAX];
	struct hp3_pair_ends ends;
	struct hp3_handshake h;
	uint32_t payload, n;

	if (hp3_handshake_read(PARSED(f), HP3_PROBE_PORT, &ends, &h) < 0)
		return;
	payload = f->v.l3_off + (ends.ipv6 ? 40u : (f->b[f->v.l3_off] & 15u) * 4) + 8;
	n = hp3_be16(f->b + payload - 4) - 8u; /* by the UDP header */
	MUST(hp3_handshake_write(again, &h) == n);
	if (h.kind == HP3_HANDSHAKE_INIT)
		n = 76; /* the rest is anything */
	MUST(memcmp(again, f->b + payload, n) == 0);
}

static void take(struct host *h, const struct frame *f)
{
	uint64_t proven = h->st.proven, computed = h->st.to_compute, taken = h->st.cookies_taken;
	struct hp3_keying_message out;

	read_and_write(f);
	if (host_take(h, f, NOW, &out) && h->st.cookies_taken == taken)
		MUST(out.len + PAYLOAD <= f->len);
	MUST(stats_add_up(&h->st));
	MUST(h->st.proven == proven && h->st.to_compute <= computed + 1);
}

/* Pairs of bytes: where behind the IP header's start, and what by XOR. True if that is another
 * message. */
static bool patch(struct frame *f, const uint8_t *data, size_t size)
{
	struct frame before = *f;

	for (size_t i = 0; i + 1 < size && i < 16; i += 2)
		f->b[L3 + data[i] % (f->len - L3)] ^= data[i + 1];
	if (f->b[L3] == 0x45 && hp3_be16(f->b + L3 + 24) == f->len - L3 - 20)
		store_udp_csum(f->b, L3, L3 + 20);
	reparse(f);
	return memcmp(f->b + PAYLOAD, before.b + PAYLOAD, f->len - PAYLOAD) != 0 ||
	       memcmp(f->b + L3 + 12, before.b + L3 + 12, 8) != 0;
}

/* *f: what `from` said; returns the host that takes it. */
static struct host *receiver(const struct frame *f)
{
	return memcmp(f->b + L3 + 16, a.address, 4) == 0 ? &a : &b;
}

static void agree(const uint8_t *data, size_t size)
{
	uint32_t which = size > 0 ? data[0] % MESSAGES : MESSAGES;
	struct frame f, bad;

	host_begin(&a, 1, 1);
	host_begin(&b, 2, 2);
	MUST(host_talks_to(&a, &b, NOW) && host_talks_to(&b, &a, NOW));
	MUST(host_sends(&a, NOW, &f));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct host *to = receiver(&f);

		bad = f;
		if (i == which && patch(&bad, data + 1, size - 1))
			take(to, &bad);
		if (!host_answers(to, NOW, &f) && i + 1 < MESSAGES && !host_sends(to, NOW, &f))
			break; /* something else was computed meanwhile */
	}
	for (uint64_t now = NOW; !have_a_key(&a, &b); now += 10 * MS) {
		MUST(now < NOW + 30 * SECOND);
		talk(&a, &b, now);
	}
	MUST(a.st.keyed == 1 && b.st.keyed == 1);
	MUST(stats_add_up(&a.st) && stats_add_up(&b.st));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f = {.len = (uint32_t)(size < sizeof(f.b) ? size : sizeof(f.b))};
	struct hp3_keying_message out;
	uint8_t *exact = malloc(f.len ? f.len : 1); /* ASan sees the first byte beyond */

	if (exact == NULL)
		return 0;
	memcpy(f.b, data, f.len);
	memcpy(exact, data, f.len);
	reparse(&f);
	read_and_write(&f);
	host_begin(&a, 1, 1);
	hp3_keying_take(a.k, &(struct hp3_parsed){exact, f.len, &f.v}, NOW, &out);
	free(exact);
	agree(data, size);
	return 0;
}
