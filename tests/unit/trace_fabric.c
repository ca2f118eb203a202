/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_fabric.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/opcode.h"
#include "sim/fabric/hash.h"

#define RATE  1000u /* traces per second */
#define PORTS 16384u

struct fabric net;

void trace_config(void)
{
	net = (struct fabric){.spines = 4, .seed = 0xbeef};
	probing_config();
	rig.cfg.idle_age_ns = 1000000 * MS;
	rig.cfg.trace = true;
	rig.cfg.traces = (struct hp3_limit){RATE, 4};
	rig.cfg.trace_timeout_ns = 5 * MS;
	rig.cfg.paths.recheck_ns = RECHECK;
}

uint32_t spine_of(const struct qp *p, uint16_t port, uint32_t qpn)
{
	const struct sim_hash h = {.kind = SIM_HASH_CRC32,
		.qpn = net.qpn,
		.paths = (uint16_t)net.spines,
		.seed = net.seed};
	struct hp3_tuple t = {
		.sport = port, .dport = HP3_ROCE_UDP_PORT, .qpn = qpn, .ipv6 = p->ipv6};

	memcpy(t.src, p->local, 16);
	memcpy(t.dst, p->remote, 16);
	return sim_hash_hop(&h, &t) + 1;
}

uint32_t opcode_hash(uint32_t opcode)
{
	uint32_t h = 0;

	for (unsigned bit = 0; bit < 8; bit++)
		h ^= opcode >> bit & 1 ? net.seed * 0x9e3779b1u >> (16 + 2 * bit) : 0;
	return h % net.spines;
}

static void answer(const struct qp *p, const struct hp3_act *a)
{
	struct hp3_flow_info f;
	uint8_t hop[16] = {10, 8, 1, 1};
	enum hp3_trace_outcome out = HP3_TRACE_HOP;
	uint32_t spine;

	assert_int_equal(hp3_flow_info(rig.e, a->flow, rig.now, &f), 0);
	spine = spine_of(p, a->port, f.rqpn);
	if (net.opcode && a->flags != 0)
		spine = ((spine - 1) ^ opcode_hash(a->flags ^ HP3_OP_UC_WRITE_ONLY)) + 1;
	if (a->op >= (net.flat ? 2 : 4)) {
		out = HP3_TRACE_REACHED;
	} else if (a->op == 2) {
		hop[2] = 2;
		hop[3] = (uint8_t)spine;
		hop[1] = net.by_interface ? 7 : 8;
		if (net.odd)
			out = HP3_TRACE_ODD;
		if (net.silent || spine == net.deaf)
			out = HP3_TRACE_SILENT;
		if (net.drunk) {
			hop[0] = 11;
			hop[2] = (uint8_t)(net.answered >> 8);
			hop[3] = (uint8_t)net.answered;
		}
		if (net.lies != 0) {
			net.lies--;
			hop[3] = (uint8_t)(spine % net.spines + 1);
		}
	} else if (a->op == 3) {
		hop[3] = 2;
	}
	net.answered++;
	if (p->ipv6)
		hop[15] = 1;
	hp3_hop_reported(rig.e, a->probe_id, out, p->ipv6, hop, rig.now);
}

static const struct qp *end_of(uint32_t rqpn)
{
	for (uint32_t i = 0; i < net.nends; i++) {
		if (net.ends[i]->rqpn == rqpn)
			return net.ends[i];
	}
	return &q;
}

void trace_run(uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += MS) {
		uint32_t before = rig.acts[HP3_ACT_TRACE];

		pass_time(MS);
		assert_in_range(rig.acts[HP3_ACT_TRACE] - before, 0, 4);
		for (; before < rig.acts[HP3_ACT_TRACE]; before++) {
			const struct hp3_act *a = &rig.trace[before % 32];
			struct hp3_flow_info f;

			assert_int_equal(hp3_flow_info(rig.e, a->flow, rig.now, &f), 0);
			answer(end_of(f.rqpn), a);
		}
	}
}

void speak(const struct qp *p, uint32_t at)
{
	assert_int_equal(set_up(p), 0);
	last(p, at);
	ack(p, at);
	peer_alive(p);
}

void trace_begin(void)
{
	rig_configure();
	q = make_qp(0);
	speak(&q, 100);
}

struct hp3_pair_info pair_info(const struct qp *p)
{
	struct hp3_pair_info i;

	for (uint32_t at = 0; at < rig.cfg.max_pairs; at++)
		if (hp3_pair_info(rig.e, at, rig.now, &i) == 0 &&
			memcmp(i.remote, p->remote, 16) == 0)
			return i;
	fail();
	return i;
}

uint32_t spine_reported(const struct qp *p, uint16_t port)
{
	struct hp3_hop hop;
	uint32_t id;

	return hp3_path_of_port(rig.e, flow_of(p), port, &id, &hop) ? hop.addr[3] : 0;
}

void expect_all_reported(const struct qp *p)
{
	assert_int_equal(pair_info(p).tracing, HP3_TRACE_LINEAR);
	assert_int_equal(pair_info(p).identity, HP3_IDENTITY_MODEL);
	for (uint32_t i = 0; i < PORTS; i++) {
		uint16_t port = (uint16_t)(HP3_PORT_FIRST + i);

		assert_int_equal(spine_reported(p, port), spine_of(p, port, p->rqpn));
	}
}

void expect_none_reported(const struct qp *p)
{
	assert_int_equal(pair_info(p).tracing, HP3_TRACE_REST);
	assert_int_equal(pair_info(p).identity, HP3_IDENTITY_NONE);
	for (uint32_t port = 50000; port < 50100; port++)
		assert_int_equal(spine_reported(p, (uint16_t)port), 0);
}
