/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include "app/clock.h"
#include "base/minmax.h"
#include "config/message.h"
#include "run.h"

#define EVENTS_MAX 32
#define BLOCKED_NS UINT64_C(500000) /* until a port that has no room is tried again */
#define ROUNDS     8 /* of receive and send before time is read anew */

static void finish_run(struct gen_run *r, const char *outcome, int code)
{
	r->phase = END;
	r->outcome = outcome;
	if (r->code == GEN_EXIT_OK)
		r->code = code;
}

static void enter_phase(struct gen_run *r, enum gen_phase phase, uint64_t end)
{
	r->phase = phase;
	r->phase_end = end;
}

/* Unix time to begin at, on our clock. */
static uint64_t start_time(const struct gen_run *r, uint64_t now)
{
	uint64_t real = hp3_clock_ns(CLOCK_REALTIME), at = r->o->start_at_ms * GEN_NS_PER_MS;

	return at > real ? now + (at - real) : now;
}

static void start_load(struct gen_run *r, uint64_t now)
{
	int ret;

	gen_report_begin(&r->report, now);
	r->interval_at = now + r->o->interval_ms * GEN_NS_PER_MS;
	ret = gen_workload_start(&r->w, &r->load, &r->ep, now);
	if (ret == -EINVAL) {
		hp3_message("roce-gen: messages are larger than the peer's memory: lower "
			    "--size, or use --op send");
		finish_run(r, "refused", GEN_EXIT_USAGE);
		return;
	}
	if (ret != 0) {
		finish_run(r, "no-memory", GEN_EXIT_FAILED);
		return;
	}
	enter_phase(r, LOAD,
		r->o->duration_ms > 0 ? now + r->o->duration_ms * GEN_NS_PER_MS : UINT64_MAX);
}

static void drain_events(struct gen_run *r, uint64_t now)
{
	for (uint32_t i = 0; i < r->ep.n_events; i++) {
		struct gen_event e = r->ep.events[i];

		if (e.type == GEN_COMPLETED && e.qp->loads)
			gen_report_message(&r->report, &e);
		if (e.type == GEN_FAILED) {
			r->failed_qp = true;
			hp3_message("roce-gen: %s: queue pair 0x%06x: %s", r->o->name, e.qp->lqpn,
				e.qp->requester.failure != GEN_FINE
					? gen_failure_name(e.qp->requester.failure)
					: "a request was refused");
		}
		if (r->phase >= LOAD)
			gen_workload_event(&r->w, &e, now);
	}
	r->ep.n_events = 0;
}

static void receive_packets(struct gen_run *r, uint64_t now)
{
	uint32_t n;

	for (int round = 0; round < ROUNDS; round++) {
		n = gen_port_receive(&r->port);
		for (uint32_t i = 0; i < n; i++)
			gen_endpoint_rx(&r->ep, r->port.in[i], r->port.in_len[i], now);
		drain_events(r, now);
		if (n < GEN_BATCH)
			return;
	}
}

static void transmit_packets(struct gen_run *r, uint64_t now)
{
	struct gen_port *p = &r->port;

	for (int round = 0; round < ROUNDS; round++) {
		r->blocked = !gen_port_flush(p);
		if (r->blocked)
			return;
		while (p->out_n < GEN_BATCH &&
			(p->out_len[p->out_n] = gen_endpoint_tx(&r->ep, p->out[p->out_n], now)) > 0)
			p->out_n++;
		drain_events(r, now);
		if (p->out_n == 0)
			return;
	}
	r->blocked = !gen_port_flush(p);
}

static bool is_complete(const struct gen_run *r)
{
	return !r->failed_qp && r->w.open == 0 && r->w.failed == 0 && r->w.refused == 0;
}

static bool content_wrong(const struct gen_run *r)
{
	for (uint32_t i = 0; i < r->ep.n_qps; i++)
		if (r->ep.qps[i].responder.n.wrong > 0 || r->ep.qps[i].read_wrong > 0)
			return true;
	return false;
}

static void step_setup(struct gen_run *r, uint64_t now)
{
	char missing[512];

	if (gen_control_up(&r->control)) {
		enter_phase(r, WAIT_START, start_time(r, now));
	} else if (now >= r->phase_end) {
		gen_control_missing(&r->control, missing, sizeof(missing));
		hp3_message(
			"roce-gen: %s: not all peers are there after %llu ms:%s: start them, or "
			"raise --setup-ms",
			r->o->name, (unsigned long long)r->o->setup_ms, missing);
		finish_run(r, "setup-timeout", GEN_EXIT_FAILED);
	}
}

static void step_load(struct gen_run *r, uint64_t now)
{
	bool server = r->o->listen != NULL && r->o->expect == 0;

	if (now >= r->phase_end || r->interrupted) {
		gen_workload_stop(&r->w);
		enter_phase(r, DRAIN, now + r->o->drain_ms * GEN_NS_PER_MS);
	} else if (gen_workload_done(&r->w) && !server &&
		   (r->o->load != GEN_LOAD_NONE || r->control.n_peers > 0)) {
		enter_phase(r, DRAIN, now + r->o->drain_ms * GEN_NS_PER_MS);
	}
}

/* What was sent and not acknowledged may still come to its end; so may the peers. */
static void step_drain(struct gen_run *r, uint64_t now)
{
	if (!gen_workload_done(&r->w) && now < r->phase_end)
		return;
	gen_control_done(&r->control);
	enter_phase(r, LINGER, UINT64_MAX);
}

static void step_linger(struct gen_run *r, uint64_t now)
{
	if (!gen_control_all_done(&r->control) && !r->interrupted && !r->control.lost)
		return;
	if (content_wrong(r))
		finish_run(r, "wrong-content", GEN_EXIT_CONTENT);
	else if (!is_complete(r))
		finish_run(r, "incomplete", GEN_EXIT_INCOMPLETE);
	else if (r->control.lost)
		finish_run(r, "peer-lost", GEN_EXIT_FAILED);
	else
		finish_run(r, "done", GEN_EXIT_OK);
}

static void step_run(struct gen_run *r, uint64_t now)
{
	if (r->phase < LINGER && r->control.lost) {
		finish_run(r, "peer-lost", GEN_EXIT_FAILED);
		return;
	}
	if (r->phase == SETUP && r->interrupted)
		finish_run(r, "interrupted", GEN_EXIT_FAILED);
	if (r->phase == SETUP)
		step_setup(r, now);
	if (r->phase == WAIT_START && (now >= r->phase_end || r->interrupted))
		start_load(r, now);
	if (r->phase == LOAD)
		step_load(r, now);
	if (r->phase == DRAIN)
		step_drain(r, now);
	if (r->phase == LINGER)
		step_linger(r, now);
	if (r->phase >= LOAD && r->phase < END && now >= r->interval_at) {
		gen_report_interval(&r->report, now);
		r->interval_at += r->o->interval_ms * GEN_NS_PER_MS;
	}
}

/* Nothing waits for longer than this; what is only paced may wait until some tokens came. */
static uint64_t wake_at(struct gen_run *r, uint64_t control, uint64_t load, uint64_t now)
{
	uint64_t paced = gen_endpoint_deadline(&r->ep, now), at = hp3_min_u64(control, load);

	if (paced > now && paced != UINT64_MAX && paced < now + r->o->burst_us * 1000)
		paced = now + r->o->burst_us * 1000;
	if (r->blocked)
		paced = now + BLOCKED_NS;
	at = hp3_min_u64(at, paced);
	if (r->phase != LINGER && r->phase != END)
		at = hp3_min_u64(at, r->phase_end);
	if (r->phase >= LOAD)
		at = hp3_min_u64(at, r->interval_at);
	return at;
}

static void take_signal(struct gen_run *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == sizeof(info))
		r->interrupted = true;
}

static void wait_events(struct gen_run *r, uint64_t until, uint64_t now)
{
	uint64_t ns = until > now ? until - now : 0;
	struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_pwait2(r->epoll, events, EVENTS_MAX, until == UINT64_MAX ? NULL : &ts, NULL);

	now = hp3_clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		if (events[i].data.u64 == GEN_TAG_SIGNAL)
			take_signal(r);
		else if (events[i].data.u64 != GEN_TAG_PORT)
			gen_control_event(&r->control, events[i].data.u64, now);
	}
}

static void run_phases(struct gen_run *r)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), control, load;

	while (r->phase != END) {
		receive_packets(r, now);
		control = gen_control_tick(&r->control, now);
		step_run(r, now);
		load = r->phase == LOAD ? gen_workload_tick(&r->w, now) : UINT64_MAX;
		transmit_packets(r, now);
		if (r->phase == END)
			break;
		wait_events(r, wake_at(r, control, load, now), now);
		now = hp3_clock_ns(CLOCK_MONOTONIC);
	}
	if (r->report.began > 0)
		gen_report_interval(&r->report, now);
	if (gen_report_final(&r->report, &r->port, r->outcome, now) != 0 && r->code == GEN_EXIT_OK)
		r->code = GEN_EXIT_FAILED;
}

int gen_run(const struct gen_options *o)
{
	struct gen_run *r = calloc(1, sizeof(*r));
	int code;

	if (r == NULL)
		return GEN_EXIT_FAILED;
	*r = (struct gen_run){.o = o, .epoll = -1, .signals = -1, .port = {.fd = -1, .sink = -1}};
	r->control.listen_fd = -1;
	code = gen_run_setup(r, hp3_clock_ns(CLOCK_MONOTONIC));
	if (code < 0) {
		hp3_message("roce-gen: %s: seed %llu", o->name, (unsigned long long)o->seed);
		run_phases(r);
		code = r->code;
	}
	gen_run_teardown(r);
	free(r);
	return code;
}
