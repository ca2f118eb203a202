/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct qp q;
uint32_t psn;

void in_flight(uint32_t n)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(middle(&q, 100 + i), HP3_PASS);
	psn = 100 + n;
}

void draining(uint32_t n)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(middle(&q, 101 + i), HP3_HOLD);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_int_equal(rig.held, n);
	psn = 101 + n;
}

void moved(uint32_t p)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	last(&q, p - 1);
	ack(&q, p - 1);
	assert_int_equal(move(&q, NEW_PORT), 0);
	middle(&q, p);
	expect_left(rig.nwire - 1, p, NEW_PORT, false);
	psn = p + 1;
}

uint32_t moved_and_sending(void)
{
	rig.cfg.idle_age_ns = 60000 * MS;
	rig_configure();
	moved(100);
	psn = info(&q).nxt;
	middle(&q, psn);
	assert_int_equal(rig.wire[rig.nwire - 1].port, NEW_PORT);
	return psn + 1;
}

struct qp other_of(uint32_t by)
{
	struct qp other = q;

	other.lqpn += by;
	return other;
}

void assert_paired_with(const struct qp *x)
{
	assert_true(info(x).paired);
	assert_int_equal(info(x).lqpn, x->lqpn);
}

void rests(void)
{
	pass_time(201 * MS);
	for (unsigned i = 0; i < 70; i++)
		pass_time(50 * MS);
}

void probing_config(void)
{
	rig.cfg.monitor = (struct hp3_monitor_params){.cycle_ns = CYCLE,
		.rtt_factor = 200,
		.ecn_fraction = 25,
		.congestion_tolerance = 3,
		.base_age_log2 = 30};
	rig.cfg.probing = true;
	rig.cfg.candidates = ASKED - 1;
	rig.cfg.max_concurrent = 1;
	rig.cfg.cooldown_ns = 5 * MS;
	rig.cfg.peer_ns = 1000 * MS;
	rig.cfg.round = (struct hp3_round_params){.timeout_ns = TIMEOUT,
		.guard_ns = 200 * US,
		.backoff_after = 1,
		.backoff_min_ns = MS,
		.backoff_max_ns = 100 * MS,
		.probes_per_second = 100000,
		.probe_burst = 64,
		.improve = 80};
	rig.cfg.paths = (struct hp3_paths_params){.fresh_ns = 100 * MS,
		.recheck_ns = 1000 * MS,
		.retry_ns = 50 * MS,
		.window_ns = 200 * US,
		.rtt_factor = 200,
		.ecn_fraction = 25,
		.losses = 3,
		.equal = 20};
}

void probing_engine(void)
{
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	psn = 100;
}

void exchange_after(uint64_t rtt, bool becn)
{
	struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = becn, .psn = psn};

	last(&q, psn++);
	pass_time(rtt);
	response(&q, &f);
	pass_time(CYCLE);
}

void exchange(bool becn)
{
	exchange_after(RTT, becn);
}

void marked_reply(void)
{
	struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = true, .psn = psn};

	last(&q, psn++);
	pass_time(RTT);
	response(&q, &f);
}

void congest(void)
{
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	for (unsigned i = 0; info(&q).state == HP3_RFR_STEADY && i < 10; i++) {
		marked_reply();
		if (info(&q).state == HP3_RFR_STEADY)
			pass_time(CYCLE);
	}
}

void others_answer(void)
{
	uint32_t first = rig.nprobes - ASKED;

	for (uint32_t i = 1; i < ASKED; i++)
		probe_reply(first + i, false);
}

void stall_config(void)
{
	probing_config();
	rig.cfg.stall_ns = STALL;
}

void steps(uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += 50 * US)
		pass_time(50 * US);
}

void silence(void)
{
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	middle(&q, psn++);
	last(&q, psn++);
}

void until_asked(void)
{
	uint32_t probes = rig.nprobes;

	for (uint64_t t = 0; t < 3 * STALL && rig.nprobes == probes; t += 50 * US)
		pass_time(50 * US);
	assert_int_equal(rig.nprobes, probes + ASKED);
}

void stalled(void)
{
	silence();
	until_asked();
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

void lose_a_round(void)
{
	others_answer();
	pass_time(TIMEOUT);
}

void path_dies(void)
{
	uint32_t before = seen(HP3_EVENT_FAILOVER);

	for (unsigned i = 0; i < 200 && seen(HP3_EVENT_FAILOVER) == before; i++) {
		uint32_t probes = rig.nprobes;

		pass_time(50 * US);
		if (rig.nprobes != probes)
			others_answer();
	}
	assert_int_equal(seen(HP3_EVENT_FAILOVER), before + 1);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
}

void cnp(void)
{
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_CNP, .becn = true});
}

uint32_t seen(enum hp3_event_type type)
{
	return rig.events[type];
}
