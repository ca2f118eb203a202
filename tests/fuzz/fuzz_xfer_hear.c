/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: messages and events for a core of libhp3x with one peer, from a peer that may say
 * anything. A provider without I/O carries out the acts. Checks: each op ends exactly once; acts
 * name only paths, counters and lengths that exist; each slot of the sender is in the one list that
 * its state demands; when the peer is closed and its paths are shut, the peer can be freed, and
 * all slices and chunks are free again.
 *
 * The first byte chooses who opens paths and what the provider does at once. Then follow records: a
 * byte below 0x80 is the length of a message, which follows; another byte is an event (event_do()).
 */
#include "base/minmax.h"
#include "input.h"
#include "xfer/core/state.h"

#define MS      1000000ull
#define POSTS   256u
#define OPS     16u
#define SLICES  32u
#define PATHS   8u
#define COUNTER 5u

struct script {
	const uint8_t *at, *end;
};

static struct hp3x_core *core;
static void *memory;
static uint64_t now;
static uint32_t peer, begun, ended;
static bool slow_shut;
static uint64_t post[POSTS];
static uint32_t n_posts;
static bool shut_due[HP3X_MOST_PATHS], ended_op[OPS];
static int64_t last_op;

static uint32_t take(struct script *s, unsigned bytes)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < bytes && s->at < s->end; i++)
		number |= (uint32_t)*s->at++ << 8 * i;
	return number;
}

static void post_take(uint64_t token)
{
	MUST(n_posts < POSTS);
	post[n_posts++] = token;
}

static void end_take(const struct hp3x_act *a)
{
	uint32_t index = (uint32_t)a->ended.op;

	MUST(index < OPS && !ended_op[index] && a->ended.status <= HP3X_CLOSED);
	ended_op[index] = true;
	ended++;
}

static void act_do(const struct hp3x_act *a)
{
	uint32_t local, remote;

	if (a->kind <= HP3X_ACT_SHUT)
		MUST(hp3x_core_path_rails(core, a->peer, a->path, &local, &remote) && local < 2);
	switch ((enum hp3x_act_kind)a->kind) {
	case HP3X_ACT_WRITE:
	case HP3X_ACT_READ:
	case HP3X_ACT_PROBE:
		post_take(a->post.token);
		break;
	case HP3X_ACT_OPEN:
		MUST(a->blob.length <= HP3X_ENDPOINT);
		hp3x_core_opened(core, now, a->peer, a->path, "end", 3);
		break;
	case HP3X_ACT_CONNECT:
		MUST(a->blob.length > 0 && a->blob.length <= HP3X_ENDPOINT);
		hp3x_core_connected(core, now, a->peer, a->path, true);
		break;
	case HP3X_ACT_SHUT:
		if (slow_shut)
			shut_due[a->path] = true;
		else
			hp3x_core_shut(core, now, a->peer, a->path);
		break;
	case HP3X_ACT_MESSAGE:
		MUST(a->blob.length > 0 && a->blob.length <= HP3X_MESSAGE);
		break;
	case HP3X_ACT_RECEIVED:
		MUST(a->blob.length <= HP3X_MOST_SEND);
		break;
	case HP3X_ACT_COUNT:
		MUST(a->count.counter < HP3X_COUNTERS && a->count.add > 0);
		break;
	case HP3X_ACT_ENDED:
		end_take(a);
		break;
	case HP3X_ACT_PEER:
		MUST(a->state != HP3X_PEER_CONNECTING);
		break;
	}
}

static void acts_do(void)
{
	struct hp3x_act a;

	for (uint32_t n = 0; hp3x_core_act(core, now, &a); n++) {
		MUST(n < 100000);
		act_do(&a);
	}
}

/* Slots of a list, all of which must have this state. */
static uint32_t list_check(const struct hp3xc_peer *p, const struct hp3xc_slot_list *l, int state)
{
	uint32_t n = 0;

	for (uint16_t i = l->first; i != HP3XC_NO_SLOT; i = p->slots[i].next, n++) {
		MUST(i < HP3X_SLOTS && n < HP3X_SLOTS);
		MUST(p->slots[i].state == state);
	}
	return n;
}

static void slots_check(void)
{
	const struct hp3xc_peer *p = &core->peers[peer];
	uint32_t n[HP3XC_SLOT_FORGET + 1] = {0};

	for (uint32_t i = 0; i < HP3X_SLOTS; i++)
		n[p->slots[i].state]++;
	MUST(list_check(p, &p->free_small, HP3XC_SLOT_FREE) +
			list_check(p, &p->free_large, HP3XC_SLOT_FREE) ==
		n[HP3XC_SLOT_FREE]);
	MUST(list_check(p, &p->to_flush, HP3XC_SLOT_FLUSH) +
			list_check(p, &p->in_flush, HP3XC_SLOT_FLUSH) ==
		n[HP3XC_SLOT_FLUSH]);
	MUST(list_check(p, &p->to_reset, HP3XC_SLOT_RESET) == n[HP3XC_SLOT_RESET]);
}

static void submitted(int64_t op)
{
	if (op < 0)
		return;
	MUST(op > 0 && (uint32_t)op < OPS);
	ended_op[(uint32_t)op] = false;
	last_op = op;
	begun++;
}

static void op_submit(struct script *s, uint8_t kind)
{
	uint32_t slices = take(s, 1), add = take(s, 2);
	struct hp3x_remote remote = {
		.address = 1 << 20, .length = 1 << 30, .domain = 7, .n_rails = 2};
	struct hp3x_common common = {.deadline = slices % 16 == 3 ? now + 20 * MS : 0};
	uint8_t message[600] = {0};

	if (kind == 0)
		submitted(hp3x_core_write(core, now, peer,
			&(struct hp3x_write){.common = common,
				.to = &remote,
				.length = slices * 64u,
				.counter = COUNTER,
				.add = add}));
	else if (kind == 1)
		submitted(hp3x_core_read(core, now, peer,
			&(struct hp3x_read){.common = common,
				.from = &remote,
				.length = slices * 64u,
				.counter = COUNTER,
				.add = add}));
	else
		submitted(hp3x_core_send(core, now, peer, message, slices * 2u, &common));
}

static void post_end(struct script *s, enum hp3x_result result)
{
	uint32_t i = take(s, 1);
	uint64_t token;

	if (n_posts == 0)
		return;
	i %= n_posts;
	token = post[i];
	memmove(post + i, post + i + 1, (--n_posts - i) * sizeof(post[0]));
	hp3x_core_completed(core, now, token, result);
}

static void shut_end(uint32_t path)
{
	if (!shut_due[path % PATHS])
		return;
	shut_due[path % PATHS] = false;
	hp3x_core_shut(core, now, peer, path % PATHS);
}

static void event_do(struct script *s, uint8_t kind)
{
	uint32_t path;

	switch (kind % 12) {
	case 0:
	case 1:
	case 2:
		op_submit(s, kind % 12);
		break;
	case 3:
		post_end(s, HP3X_RESULT_OK);
		break;
	case 4:
		post_end(s, HP3X_RESULT_FAILED);
		break;
	case 5:
		post_end(s, HP3X_RESULT_REFUSED);
		break;
	case 6:
		path = take(s, 1);
		hp3x_core_arrived(core, now, peer, path, take(s, 4));
		break;
	case 7:
		shut_end(take(s, 1));
		break;
	case 8:
		hp3x_core_path_failed(core, now, peer, take(s, 1));
		break;
	case 9:
		now += take(s, 1) * MS;
		hp3x_core_tick(core, now);
		break;
	case 10:
		path = take(s, 1);
		if (path < 2)
			hp3x_core_writable(core, peer, path);
		else
			hp3x_core_rail(core, now, path % 2, path & 2);
		break;
	default:
		if (last_op != 0)
			hp3x_core_cancel(core, now, last_op);
	}
}

static void core_begin(uint8_t how)
{
	struct hp3x_greeting other = {.identity = 7, .rails = 2, .paths_per_rail = 1};
	struct hp3x_core_config c;

	hp3x_core_defaults(&c);
	c.identity = how & 1 ? 10 : 5;
	c.peers = 1;
	c.ops = OPS;
	c.slices = SLICES;
	c.rails = 2;
	c.paths_per_rail = how & 4 ? 2 : 1;
	c.slice_bytes = 64;
	c.seed = 3;
	if (memory == NULL) {
		c.paths_per_rail = 2;
		memory = aligned_alloc(64, hp3x_core_size(&c));
		MUST(memory != NULL);
		c.paths_per_rail = how & 4 ? 2 : 1;
	}
	now = 1000 * MS;
	begun = ended = n_posts = 0;
	last_op = 0;
	slow_shut = how & 2;
	memset(shut_due, 0, sizeof(shut_due));
	core = hp3x_core_create(&c, memory, now);
	peer = (uint32_t)hp3x_core_peer_add(core, now);
	MUST(hp3x_core_peer_up(core, now, peer, &other) == 0);
	acts_do();
}

static void core_end(void)
{
	hp3x_core_peer_close(core, now, peer);
	acts_do();
	slow_shut = false;
	for (uint32_t i = 0; i < PATHS; i++)
		shut_end(i);
	acts_do();
	MUST(begun == ended);
	MUST(hp3x_core_peer_free(core, peer));
	MUST(core->free_flights == SLICES && core->free_chunks == 1024 + OPS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s = {data, data + size};

	core_begin((uint8_t)take(&s, 1));
	while (s.at < s.end) {
		uint8_t kind = (uint8_t)take(&s, 1);
		size_t n = hp3_min_u64(kind, (uint64_t)(s.end - s.at));

		if (kind >= 0x80) {
			event_do(&s, kind & 0x7f);
		} else {
			/* A copy of its own: reads beyond the end are found. */
			uint8_t *copy = malloc(n + 1);

			memcpy(copy, s.at, n);
			s.at += n;
			if (hp3x_core_message(core, now, peer, copy, n) < 0)
				hp3x_core_peer_lost(core, now, peer);
			free(copy);
		}
		acts_do();
		if (!core->peers[peer].gone)
			slots_check();
	}
	core_end();
	return 0;
}
