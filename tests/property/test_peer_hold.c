/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verbs mode: two hosts, each with an engine and one queue pair. Both applications post READs. Both
 * operators move the queue pairs at random times. A move changes the path of requests and of READ
 * responses, so both must stay in order (rule 20). Messages between the engines, commands to the
 * libraries and reports of the libraries come late; messages also get lost or arrive twice. Some
 * libraries are descheduled for longer than a hold lasts. Engines restart.
 */
#include <errno.h>
#include "base/random.h"
#include "engine/engine.h"
#include "engine/moves/peer_hold.h"
#include "run.h"

#define US        1000ull
#define MS        1000000ull
#define STEP_NS   (2 * US)
#define PORTS     8u
#define PORT(n)   ((uint16_t)(0xc000u + (n)))
#define READS     8u /* outstanding */
#define EVENTS    4096u
#define HOLD_NS   (4 * MS)
#define LEASE_NS  (HOLD_NS * HP3_PEER_HOLDS)
#define LONGEST   (60 * MS) /* a drain and a hold, with descheduled libraries */
#define DRAIN_MAX (20 * MS)

enum what { REQUEST, RESPONSE, MESSAGE, REPORT };

struct event {
	uint64_t at;
	uint8_t what, host;
	uint32_t number; /* of the READ; of the command to which a report belongs */
	struct hp3_actuated done;
	struct hp3_agree agree;
};

/* The word `want` of app/verbs/share.h: a new command replaces one that was not read yet. */
struct command {
	uint32_t number;
	bool is_new;
	uint8_t kind, op;
	uint16_t port;
	uint32_t count;
};

enum step { RUNNING, DRAINING, SUSPENDED };

struct host {
	struct hp3_engine *e;
	void *memory;
	struct command want;
	uint32_t taken; /* number of the newest command that the library has read */
	uint16_t port;
	/* READs of this host */
	uint32_t posted, requested, answered;
	uint32_t seen; /* READs of the peer whose request has arrived */
	/* the library */
	enum step step;
	uint8_t suspend; /* enum hp3_suspend_kind */
	bool apart; /* hp3d was killed during a hold, until whose end no hp3d is connected */
	uint64_t deadline, hold_ns, asleep_until, still_since;
	uint64_t path[PORTS], last[2][PORTS]; /* delay; newest arrival of each kind of packet */
	uint64_t cancel_at; /* the operator cancels; 0: not planned */
	uint32_t moves, refused;
};

static struct {
	uint64_t rng, now;
	uint32_t loss; /* per 1000 messages */
	uint32_t late; /* one of so many messages is up to 30 ms late */
	bool restarts, sleeps;
	struct host host[2];
	struct event event[EVENTS];
	uint32_t n;
	uint32_t moves, refused, holds, lapsed;
} w;

static uint32_t below(uint32_t n)
{
	return hp3_random_below(&w.rng, n);
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

static void fail_world(const char *what, unsigned host)
{
	fail_msg("%s at host %u, %llu us", what, host, (unsigned long long)(w.now / US));
}

static struct event *new_event(enum what what, unsigned host, uint64_t after)
{
	struct event *ev = &w.event[w.n++];

	assert_true(w.n <= EVENTS);
	*ev = (struct event){.what = (uint8_t)what, .host = (uint8_t)host, .at = w.now + after};
	return ev;
}

/* A packet from `from` to its peer on the path of its port: paths are FIFOs. */
static void send_packet(unsigned from, enum what what, uint32_t number)
{
	struct host *h = &w.host[from];
	uint64_t *last = &h->last[what][h->port % PORTS];
	struct event *ev = new_event(what, !from, h->path[h->port % PORTS] + below(3) * US);

	ev->number = number;
	if (ev->at <= *last)
		ev->at = *last + 1;
	*last = ev->at;
}

static struct hp3_qp_event qp_of(unsigned host)
{
	struct hp3_qp_event qp = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_APPLICATION,
		.lqpn = 0x100 + host,
		.rqpn = 0x100 + !host,
		.local = {10, 0, 0, (uint8_t)host},
		.remote = {10, 0, 0, (uint8_t)!host}};

	return qp;
}

static uint32_t flow_of_host(unsigned host)
{
	const struct hp3_qp_event qp = qp_of(host);

	return hp3_flow_find(w.host[host].e, HP3_ENDS(&qp), qp.rqpn);
}

static void carry_out(unsigned host, struct hp3_acts *acts)
{
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];
		struct event *ev;

		if (a->kind == HP3_ACT_AGREE) {
			for (unsigned copies = one_in(50) ? 2 : 1; copies > 0; copies--) {
				if (below(1000) < w.loss)
					continue;
				ev = new_event(MESSAGE, !host,
					(1 + below(one_in(w.late) ? 30000 : 100)) * US);
				ev->agree = a->agree.what;
			}
		} else if (a->kind == HP3_ACT_SUSPEND || a->kind == HP3_ACT_MOVE ||
			   a->kind == HP3_ACT_RESUME) {
			w.host[host].want = (struct command){.number = w.host[host].want.number + 1,
				.is_new = true,
				.kind = a->kind,
				.op = a->op,
				.port = a->port,
				.count = a->count};
			if (a->kind == HP3_ACT_MOVE && one_in(8))
				w.host[host].cancel_at = w.now + below(1000) * US;
			w.holds += a->kind == HP3_ACT_SUSPEND && a->op == HP3_SUSPEND_FOR_PEER;
		}
	}
	acts->n = 0;
}

static void report(unsigned host, enum hp3_actuator_report kind, uint16_t error)
{
	struct event *ev = new_event(REPORT, host, below(100) * US);

	ev->done = (struct hp3_actuated){(uint8_t)kind, error};
	ev->number = w.host[host].taken;
}

static void resume_library(unsigned host)
{
	w.host[host].step = RUNNING;
	w.host[host].apart = false;
	w.host[host].still_since = 0;
}

static bool is_drained(const struct host *h)
{
	return h->answered == h->posted;
}

/* The library's thread is descheduled when it hurts most. */
static void sleep_for(struct host *h, uint64_t least, uint64_t most)
{
	if (w.sleeps && one_in(3))
		h->asleep_until = w.now + least + below((uint32_t)((most - least) / US)) * US;
}

static void take_suspend(unsigned host, const struct command *c)
{
	struct host *h = &w.host[host];

	resume_library(host); /* a RESUME before it was not read */
	if (c->op == HP3_SUSPEND_TO_MOVE) {
		h->refused++;
		report(host, HP3_ACTUATOR_FAILED, EPERM);
		return;
	}
	h->step = DRAINING;
	h->suspend = c->op;
	h->still_since = w.now;
	h->hold_ns = c->count * MS;
	h->deadline = w.now + DRAIN_MAX;
	sleep_for(h, LEASE_NS / 2, LEASE_NS);
}

static void take_move(unsigned host, const struct command *c)
{
	struct host *h = &w.host[host];

	if (h->step != SUSPENDED || h->suspend != HP3_SUSPEND_PEER_HELD) {
		report(host, HP3_ACTUATOR_FAILED, EBUSY);
		return;
	}
	if (w.now >= h->deadline) {
		w.lapsed++;
		report(host, HP3_ACTUATOR_FAILED, ETIMEDOUT);
	} else {
		h->port = c->port;
		h->moves++;
		report(host, HP3_ACTUATOR_MOVED, 0);
	}
	resume_library(host);
}

static void take_command(unsigned host, struct command *c)
{
	c->is_new = false;
	w.host[host].taken = c->number;
	if (c->kind == HP3_ACT_SUSPEND)
		take_suspend(host, c);
	else if (c->kind == HP3_ACT_MOVE)
		take_move(host, c);
	else
		resume_library(host);
}

/* The library, each time its thread runs. */
static void run_library(unsigned host)
{
	struct host *h = &w.host[host];
	bool awake;

	if (w.now < h->asleep_until)
		return;
	awake = h->asleep_until != 0;
	h->asleep_until = 0;
	if (h->want.is_new && !h->apart &&
		(awake || one_in(40))) /* it reads commands before it checks times */
		take_command(host, &h->want);
	if (h->step == DRAINING && is_drained(h)) {
		h->step = SUSPENDED;
		h->deadline = w.now + h->hold_ns;
		sleep_for(h, 0, h->hold_ns * 3 / 2);
		report(host, HP3_ACTUATOR_DRAINED, 0);
	} else if (h->step != RUNNING && w.now >= h->deadline) {
		resume_library(host);
		report(host, HP3_ACTUATOR_FAILED, ETIMEDOUT);
	}
	if (w.sleeps && one_in(1000))
		h->asleep_until = w.now + below(one_in(4) ? 15000 : 3000) * US;
	if (h->step != RUNNING && w.now - h->still_since > LONGEST)
		fail_world("a queue pair is held for too long", host);
}

static void start_engine(unsigned host, uint64_t seed)
{
	struct host *h = &w.host[host];
	const struct hp3_engine_config cfg = {.seed = seed,
		.max_flows = 8,
		.max_pairs = 2,
		.max_moves = 8,
		.idle_age_ns = 100000 * MS,
		.dead_age_ns = 100000 * MS,
		.max_hold_ns = HOLD_NS,
		.close_timeout_ns = DRAIN_MAX,
		.hold_bytes = 1 << 16,
		.hold_bytes_total = 1 << 16,
		.hold_packets = 16,
		.challenge_timeout_ns = MS,
		.challenge_hits = 3,
		.challenge_spread = 4,
		.refute_ns = MS,
		.pin_ns = 60000 * MS,
		.moves_allowed = true,
		.verbs = true};
	const struct hp3_qp_event qp = qp_of(host);
	struct hp3_acts acts = {0};

	free(h->memory);
	h->memory = aligned_alloc(64, hp3_engine_size(&cfg));
	h->e = hp3_engine_create(h->memory, hp3_engine_size(&cfg), &cfg);
	assert_non_null(h->e);
	h->want = (struct command){.number = h->want.number + 1};
	assert_int_equal(hp3_qp(h->e, &qp, w.now, &acts), 0);
}

/*
 * hp3d is killed, and starts again. The library keeps its promise to the peer: it does not connect
 * to the new hp3d before the hold has ended.
 */
static void restart_engine(unsigned host)
{
	struct host *h = &w.host[host];

	if (h->step == DRAINING || (h->step == SUSPENDED && h->suspend != HP3_SUSPEND_FOR_PEER))
		resume_library(host);
	h->apart = h->step != RUNNING;
	start_engine(host, hp3_random(&w.rng));
}

static void observe(unsigned host)
{
	const struct hp3_completions c = {.home = PORT(0), .port = w.host[host].port};
	struct hp3_acts acts = {0};

	if (w.host[host].apart)
		return;
	hp3_completions(w.host[host].e, flow_of_host(host), &c, w.now, &acts);
	carry_out(host, &acts);
}

static void command(unsigned host, enum hp3_cmd_kind kind)
{
	const struct hp3_cmd cmd = {.kind = (uint8_t)kind,
		.cause = HP3_CAUSE_OPERATOR,
		.flow = flow_of_host(host),
		.port = PORT(below(PORTS))};
	struct hp3_acts acts = {0};

	if (kind == HP3_CMD_CANCEL)
		w.host[host].cancel_at = 0;
	hp3_command(w.host[host].e, &cmd, w.now, &acts);
	carry_out(host, &acts);
}

static void take_event(const struct event *ev)
{
	struct host *h = &w.host[ev->host];
	const struct hp3_qp_event qp = qp_of(ev->host);
	struct hp3_acts acts = {0};

	switch ((enum what)ev->what) {
	case REQUEST:
		if (ev->number != h->seen++)
			fail_world("requests out of order", ev->host);
		send_packet(ev->host, RESPONSE, ev->number);
		return;
	case RESPONSE:
		if (ev->number != h->answered++)
			fail_world("READ responses out of order", ev->host);
		return;
	case MESSAGE:
		hp3_agree_received(h->e, HP3_ENDS(&qp), &ev->agree, w.now, &acts);
		break;
	case REPORT:
		if (ev->number != h->want.number)
			return;
		hp3_actuator(h->e, flow_of_host(ev->host), ev->done, w.now, &acts);
		break;
	}
	carry_out(ev->host, &acts);
}

static void take_due_events(void)
{
	for (;;) {
		uint32_t next = EVENTS;
		struct event ev;

		for (uint32_t i = 0; i < w.n; i++)
			if (w.event[i].at <= w.now &&
				(next == EVENTS || w.event[i].at < w.event[next].at))
				next = i;
		if (next == EVENTS)
			return;
		ev = w.event[next];
		w.event[next] = w.event[--w.n];
		take_event(&ev);
	}
}

static void step_host(unsigned host)
{
	struct host *h = &w.host[host];
	struct hp3_acts acts = {0};

	if (one_in(200))
		h->path[below(PORTS)] = (2 + below(60)) * US;
	if (h->step == RUNNING && h->posted - h->answered < READS && one_in(4))
		send_packet(host, REQUEST, h->posted++);
	run_library(host);
	hp3_tick(h->e, w.now, &acts);
	carry_out(host, &acts);
	if (one_in(100))
		observe(host);
	if (one_in(500))
		command(host, HP3_CMD_MOVE);
	if (one_in(1500) || (h->cancel_at != 0 && w.now >= h->cancel_at))
		command(host, HP3_CMD_CANCEL);
	if (w.restarts && one_in(30000))
		restart_engine(host);
}

static void run_world(uint64_t seed, uint32_t loss, bool sleeps, bool restarts)
{
	memset(&w, 0, sizeof(w));
	w.rng = seed;
	w.now = 1000 * MS;
	w.loss = loss;
	w.late = loss > 100 ? 2 : 8;
	w.sleeps = sleeps;
	w.restarts = restarts;
	for (unsigned i = 0; i < 2; i++) {
		w.host[i].port = PORT(0);
		for (unsigned p = 0; p < PORTS; p++)
			w.host[i].path[p] = (2 + below(60)) * US;
		start_engine(i, hp3_random(&w.rng));
	}
	for (uint32_t i = 0; i < run_packets * 4; i++) {
		w.now += STEP_NS;
		take_due_events();
		for (unsigned host = 0; host < 2; host++)
			step_host(host);
	}
	for (unsigned i = 0; i < 2; i++) {
		w.moves += w.host[i].moves;
		w.refused += w.host[i].refused;
		free(w.host[i].memory);
	}
}

static void run_worlds(uint32_t loss, bool sleeps, bool restarts)
{
	uint32_t moves = 0, refused = 0, holds = 0, lapsed = 0;

	for (unsigned i = 0; i < run_seeds + run_drawn_seeds(); i++) {
		uint64_t seed = i < run_seeds ? run_first_seed + i : run_drawn() + i - run_seeds;

		print_message("seed %llu\n", (unsigned long long)seed);
		run_world(seed, loss, sleeps, restarts);
		moves += w.moves;
		refused += w.refused;
		holds += w.holds;
		lapsed += w.lapsed;
	}
	print_message("%u moves, %u refused first, %u holds, %u commands too late\n", moves,
		refused, holds, lapsed);
	assert_sum(moves >= 3 * run_seeds && holds >= moves && refused >= moves);
}

static void who_is_read_from_moves(void **state)
{
	run_worlds(0, false, false);
}

static void messages_between_hosts_get_lost(void **state)
{
	run_worlds(300, false, false);
}

static void libraries_are_descheduled(void **state)
{
	run_worlds(50, true, false);
}

static void hp3d_restarts_while_a_peer_moves(void **state)
{
	run_worlds(50, true, true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_read_from_moves),
		cmocka_unit_test(messages_between_hosts_get_lost),
		cmocka_unit_test(libraries_are_descheduled),
		cmocka_unit_test(hp3d_restarts_while_a_peer_moves),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
