/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: what the other end of a data connection of libhp3x (provider tcp) does: its greeting,
 * frames with right and wrong fields, raw bytes; and posts of this end between them. A second
 * reader of the same bytes knows what has to happen. Checks: a wrong greeting has no effect; bytes
 * outside of the registered memory never change, and bytes inside only by a WRITE with the right
 * key and bounds, or by DATA for a post; each request is answered in order, refused or not as its
 * key and bounds demand; immediates of refused writes do not arrive; posts complete in order;
 * a frame that makes no sense ends the connection.
 */
#include <endian.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "base/minmax.h"
#include "input.h"
#include "xfer/tcp/tcp.h"

#define GUARD  4096u
#define REGION 16384u
#define LOCAL  4096u /* the last bytes of the region: posts of this end use them */
#define EVENTS 64
#define MOST   70000u

struct script {
	const uint8_t *at, *end;
};

static struct hp3x_rails *rails;
static uint8_t bytes[REGION + 2 * GUARD], model[REGION + 2 * GUARD];
static struct hp3x_memory *memory;
static struct hp3x_endpoint *endpoint;
static uint32_t key[HP3X_RAILS];
static int other = -1; /* socket of the other end */

/* The second reader. */
static struct frame head; /* the frame that arrives */
static uint64_t have, left, at; /* bytes of `head`; of its data that are missing; where they go */
static bool stores, senseless, sealed; /* sealed: a write was refused, so later ones are, too */
static struct hp3x_post posts[HP3X_POSTS];
static uint32_t posted, done, arrived, completed, refused, failed;
static uint32_t expect_arrived, expect_refused;
/* Answers that the other end must get, in this order. */
static struct frame answers[4096];
static uint32_t answers_due, answers_seen;

static uint32_t take(struct script *s, unsigned n)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < n && s->at < s->end; i++)
		number |= (uint32_t)*s->at++ << 8 * i;
	return number;
}

static bool is_registered(const struct frame *f)
{
	uint64_t from = (uintptr_t)bytes + GUARD, address = le64toh(f->address);

	return memory != NULL && le32toh(f->key) == key[0] && address >= from &&
	       address - from <= REGION && le32toh(f->length) <= REGION - (address - from);
}

static void answer_expect(uint8_t kind, bool is_refused, uint32_t length)
{
	struct frame *a = &answers[answers_due++ % 4096];

	*a = (struct frame){.kind = kind, .refused = is_refused, .length = htole32(length)};
	a->token = head.token;
	a->address = is_refused ? 0 : head.address;
}

static void model_head(void)
{
	const struct hp3x_post *p = done < posted ? &posts[done % HP3X_POSTS] : NULL;
	uint32_t length = le32toh(head.length);

	left = 0;
	stores = false;
	if (head.kind == FRAME_WRITE) {
		left = length;
		stores = !sealed && length > 0 && is_registered(&head);
		at = le64toh(head.address);
	} else if (head.kind == FRAME_PROBE) {
		senseless = length != 0;
	} else if (head.kind == FRAME_ANSWER || head.kind == FRAME_DATA) {
		senseless = p == NULL || p->token != le64toh(head.token) ||
			    (p->kind == HP3X_ACT_READ) != (head.kind == FRAME_DATA) ||
			    length != (head.kind == FRAME_ANSWER || head.refused ? 0 : p->length);
		left = senseless ? 0 : length;
		stores = true;
		at = p == NULL ? 0 : p->address;
	} else {
		senseless = head.kind != FRAME_READ;
	}
}

static void model_end(void)
{
	bool wrong = head.kind == FRAME_WRITE && (sealed || (head.length != 0 && !stores));

	have = 0;
	sealed |= wrong;
	switch (head.kind) {
	case FRAME_WRITE:
	case FRAME_PROBE:
		expect_arrived += head.has_imm != 0 && !wrong;
		answer_expect(FRAME_ANSWER, wrong, 0);
		break;
	case FRAME_READ:
		wrong = !is_registered(&head);
		answer_expect(FRAME_DATA, wrong, wrong ? 0 : le32toh(head.length));
		break;
	default:
		done++;
		expect_refused += head.refused != 0;
	}
}

static void model_take(const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n && !senseless;) {
		size_t part = hp3_min_u64(n - i, have < FRAME ? FRAME - have : left);

		if (have < FRAME) {
			memcpy((uint8_t *)&head + have, data + i, part);
			have += part;
			if (have == FRAME)
				model_head();
		} else {
			if (stores)
				memcpy(model + (at - (uintptr_t)bytes), data + i, part);
			at += part;
			left -= part;
		}
		i += part;
		if (have == FRAME && left == 0 && !senseless)
			model_end();
	}
}

/* What this end sends: answers in order, and its posts. */
static void output_check(void)
{
	static uint8_t in[1u << 20];
	static size_t n;
	size_t from = 0;
	ssize_t more;

	if (other < 0) {
		n = 0;
		return;
	}
	more = recv(other, in + n, sizeof(in) - n, MSG_DONTWAIT);
	n += more > 0 ? (size_t)more : 0;
	while (n - from >= FRAME) {
		struct frame f, *a = &answers[answers_seen % 4096];
		bool is_post;
		size_t length;

		memcpy(&f, in + from, FRAME);
		is_post = f.kind == FRAME_WRITE || f.kind == FRAME_READ || f.kind == FRAME_PROBE;
		length = f.kind == FRAME_READ ? 0 : le32toh(f.length);
		MUST(length <= REGION);
		if (n - from < FRAME + length)
			break;
		if (!is_post) {
			MUST(answers_seen < answers_due && f.kind == a->kind);
			MUST(f.token == a->token && (f.refused != 0) == (a->refused != 0));
			MUST(f.length == a->length);
			if (length > 0)
				MUST(memcmp(in + from + FRAME,
					     (uint8_t *)(uintptr_t)le64toh(a->address),
					     length) == 0);
			answers_seen++;
		}
		from += FRAME + length;
	}
	memmove(in, in + from, n - from);
	n -= from;
}

/* Events of the provider, and what it has sent. */
static void rails_work(void)
{
	struct hp3x_event event[EVENTS];
	int n;

	do {
		n = hp3x_tcp_rails_poll(rails, event, EVENTS);
		for (int i = 0; i < n; i++) {
			arrived += event[i].kind == HP3X_EVENT_ARRIVED;
			completed += event[i].kind == HP3X_EVENT_COMPLETED;
			refused += event[i].kind == HP3X_EVENT_COMPLETED &&
				   event[i].result == HP3X_RESULT_REFUSED;
			failed += event[i].kind == HP3X_EVENT_FAILED;
		}
		output_check();
	} while (n > 0 || !TAILQ_EMPTY(&rails->unread));
}

static void bytes_check(void)
{
	/* The other end has more requests under way than HP3X_POSTS: this end may close. */
	if (failed > 0 && answers_due - answers_seen > HP3X_POSTS) {
		senseless = true;
		memcpy(model, bytes, sizeof(bytes));
		return;
	}
	MUST(memcmp(bytes, model, sizeof(bytes)) == 0);
	MUST(arrived == expect_arrived && completed == done && refused == expect_refused);
	if (other >= 0)
		MUST((failed > 0) == senseless);
}

static void deliver(const void *data, size_t n)
{
	if (other < 0 || senseless)
		return;
	MUST(send(other, data, n, MSG_NOSIGNAL) == (ssize_t)n);
	model_take(data, n);
	rails_work();
	bytes_check();
	if (!senseless)
		MUST(answers_seen == answers_due);
}

static void raw_send(struct script *s)
{
	size_t n = hp3_min_u64(take(s, 1), (uint64_t)(s->end - s->at));

	deliver(s->at, n);
	s->at += n;
}

/* A request: its key, address and length may each be wrong. */
static void request_send(struct script *s, uint8_t kind)
{
	static uint8_t data[MOST];
	uint32_t how = take(s, 1), offset = take(s, 2), length = take(s, 2);
	struct frame f = {.kind = kind,
		.has_imm = how & 1,
		.length = htole32(how & 2 ? length : length % 300),
		.key = htole32(key[0] ^ (how & 4 ? 1u : 0)),
		.imm = htole32(how),
		.address = htole64((uintptr_t)bytes + (how & 8 ? offset : GUARD + offset % 9000)),
		.token = htole64(answers_due)};

	if (how & 16)
		f.address = htole64(UINT64_MAX - offset % 300);
	memset(data, (int)offset, sizeof(data));
	if (how & 32) {
		deliver(&f, how % FRAME + 1);
		deliver((uint8_t *)&f + how % FRAME + 1, FRAME - how % FRAME - 1);
	} else {
		deliver(&f, FRAME);
	}
	/* The length is sent as it was stated, or cut or too long. */
	if (kind == FRAME_WRITE)
		deliver(data, hp3_min_u64(le32toh(f.length) + (how & 64 ? 1 : 0), MOST));
}

static void answer_send(struct script *s, uint8_t kind)
{
	static uint8_t data[LOCAL];
	uint32_t how = take(s, 1), length = take(s, 2);
	const struct hp3x_post *p = &posts[done % HP3X_POSTS];
	struct frame f = {.kind = kind, .refused = how & 1};

	if (kind == FRAME_DATA && !f.refused)
		length = how & 2 ? length : p->length;
	else
		length = how & 2 ? length : 0;
	f.length = htole32(length);
	f.token = htole64(how & 4 ? how : p->token);
	memset(data, (int)how, sizeof(data));
	deliver(&f, FRAME);
	if (kind == FRAME_DATA)
		deliver(data, hp3_min_u64(length, LOCAL));
}

static void post_submit(struct script *s)
{
	uint32_t how = take(s, 1), length = how % 3 == 2 ? 0 : 1 + take(s, 1) * 16u % LOCAL;
	struct hp3x_post p = {.kind = how % 3 == 0   ? HP3X_ACT_WRITE
				      : how % 3 == 1 ? HP3X_ACT_READ
						     : HP3X_ACT_PROBE,
		.token = posted + 1000,
		.memory = length > 0 ? memory : NULL,
		.address = (uintptr_t)bytes + GUARD + REGION - LOCAL,
		.length = length};
	int error;

	if (memory == NULL)
		return;
	error = hp3x_tcp_endpoint_post(endpoint, &p);
	MUST(error == 0 || error == -ENOBUFS || error == -ENOTCONN);
	if (error == 0)
		posts[posted++ % HP3X_POSTS] = p;
	rails_work();
}

/* Nothing may write into memory that was removed: a WRITE under way is refused. */
static void region_remove(void)
{
	if (memory == NULL || done != posted)
		return;
	hp3x_tcp_memory_remove(rails, memory);
	memory = NULL;
	stores = false;
}

static void greeting_send(struct script *s)
{
	uint32_t how = take(s, 1), cut = take(s, 1);
	struct greeting g = {.magic = MAGIC}, own;
	struct hp3x_event event[EVENTS];
	int pair[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	rails->guest[0].source = (struct source){SOURCE_GUEST, pair[0]};
	rails->guest[0].have = 0;
	MUST(hp3x_tcp_watch(rails, &rails->guest[0].source, EPOLLIN) == 0);
	other = pair[1];
	memcpy(g.to, endpoint->own, SECRET);
	if (how & 1)
		((uint8_t *)&g)[(how >> 1) % (8 + SECRET)] ^= (uint8_t)(cut | 1);
	MUST(send(other, &g, cut % sizeof(g), MSG_NOSIGNAL) == (ssize_t)(cut % sizeof(g)));
	rails_work();
	MUST(endpoint->state != ENDPOINT_UP);
	MUST(send(other, (uint8_t *)&g + cut % sizeof(g), sizeof(g) - cut % sizeof(g),
		     MSG_NOSIGNAL) > 0);
	hp3x_tcp_rails_poll(rails, event, EVENTS);
	MUST((endpoint->state == ENDPOINT_UP) == !(how & 1));
	if (how & 1) {
		MUST(recv(other, &own, sizeof(own), 0) <= 0);
		close(other);
		other = -1;
		return;
	}
	MUST(recv(other, &own, sizeof(own), 0) == sizeof(own));
	MUST(memcmp(own.from, endpoint->own, SECRET) == 0);
}

static void step(struct script *s)
{
	switch (take(s, 1) % 8) {
	case 0:
		raw_send(s);
		break;
	case 1:
		request_send(s, FRAME_WRITE);
		break;
	case 2:
		request_send(s, FRAME_READ);
		break;
	case 3:
		request_send(s, FRAME_PROBE);
		break;
	case 4:
		answer_send(s, FRAME_ANSWER);
		break;
	case 5:
		answer_send(s, FRAME_DATA);
		break;
	case 6:
		post_submit(s);
		break;
	default:
		region_remove();
	}
}

static void begin(void)
{
	static const char *const name = "127.0.0.1";
	uint8_t description[HP3X_ENDPOINT];

	if (rails == NULL)
		MUST(hp3x_tcp_rails_open(&name, 1, &rails) == 0);
	memset(bytes, 0x5a, sizeof(bytes));
	memset(model, 0x5a, sizeof(model));
	have = left = posted = done = arrived = completed = refused = failed = 0;
	expect_arrived = expect_refused = answers_due = answers_seen = 0;
	senseless = stores = sealed = false;
	MUST(hp3x_tcp_memory_add(rails, bytes + GUARD, REGION, &memory, key) == 0);
	MUST(hp3x_tcp_endpoint_open(rails, &(struct hp3x_place){0}, description, &endpoint) > 0);
}

static void end(void)
{
	struct hp3x_event event[EVENTS];

	hp3x_tcp_endpoint_shut(endpoint);
	for (bool shut = false; !shut;)
		for (int n = hp3x_tcp_rails_poll(rails, event, EVENTS); n > 0; n--)
			shut = shut || event[n - 1].kind == HP3X_EVENT_SHUT;
	if (memory != NULL)
		hp3x_tcp_memory_remove(rails, memory);
	memory = NULL;
	if (other >= 0)
		close(other);
	other = -1;
	output_check();
	MUST(memcmp(bytes, model, sizeof(bytes)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s = {data, data + size};

	begin();
	greeting_send(&s);
	while (s.at < s.end)
		step(&s);
	end();
	return 0;
}
