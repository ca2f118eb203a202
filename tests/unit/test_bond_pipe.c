/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 17: a pipe with the two rails of a bond. Replies arrive on the other rail than the requests.
 * The RNIC's bond changes the member of a flow while hp3d holds its packets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"
#include "probes/peer.h"
#include "roce/build.h"

#define LQPN    0x1000u
#define RQPN    0x2000u
#define FIRST   100u /* PSN */
#define PAYLOAD 256u
#define PORT    50000u
#define LOG     64u

struct left {
	uint32_t psn;
	uint16_t rail, sport;
};

static const uint8_t local[16] = {10, 0, 0, 1}, remote[16] = {10, 0, 0, 2};
static struct rte_mempool *pool;
static struct hp3d_pipe *pipe_of_bond;
static struct left left[2][LOG]; /* by direction */
static uint32_t n_left[2];
static uint64_t now = 1000000000;

static void log_packets(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	const enum hp3_dir dir = *(const enum hp3_dir *)ctx;

	for (uint16_t i = 0; i < n; i++) {
		struct hp3_view v;

		hp3_parse(rte_pktmbuf_mtod(m[i], void *), m[i]->data_len, &v);
		assert_true(n_left[dir] < LOG);
		left[dir][n_left[dir]++] = (struct left){v.psn, m[i]->port, v.sport};
	}
	rte_pktmbuf_free_bulk(m, n);
}

static void enter(enum hp3_dir dir, unsigned rail, struct rte_mbuf *m, int len)
{
	assert_true(len > 0);
	m->data_len = (uint16_t)len;
	m->pkt_len = m->data_len;
	m->port = 7; /* of the driver */
	now += 1000;
	hp3d_pipe_of_rail(pipe_of_bond, rail);
	hp3d_pipe_burst(pipe_of_bond, dir, &m, 1, now);
}

static void send(enum hp3_dir dir, unsigned rail, uint32_t psn)
{
	static const uint8_t payload[PAYLOAD];
	const bool tx = dir == HP3_DIR_TX;
	struct hp3_addressing a = {.ttl = 64, .sport = 49152, .pkey = 0xffff, .tclass = 2};
	const struct hp3_fields f = {.opcode = tx ? HP3_OP_RC_WRITE_MIDDLE : HP3_OP_RC_ACK,
		.dest_qpn = tx ? RQPN : LQPN,
		.psn = psn,
		.syndrome = 0x1f,
		.payload = payload,
		.payload_len = tx ? PAYLOAD : 0};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(a.src_ip, tx ? local : remote, 16);
	memcpy(a.dst_ip, tx ? remote : local, 16);
	enter(dir, rail, m, hp3_build(rte_pktmbuf_mtod(m, void *), 2048, &a, &f));
}

static void begin(enum hp3_bond_mode mode)
{
	static const enum hp3_dir dirs[] = {HP3_DIR_TX, HP3_DIR_RX};
	static struct hp3_config cfg;
	struct hp3_qp_event up = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = LQPN,
		.rqpn = RQPN,
		.psn = FIRST,
		.psn_known = true};

	hp3_config_defaults(&cfg);
	cfg.engine.max_flows = 64;
	cfg.engine.max_pairs = 16;
	cfg.engine.hold_packets = 192;
	cfg.engine.spray.mode = HP3_SPRAY_MOVE;
	cfg.engine.words.probe = HP3_PROBE_MODE_OFF; /* hp3d itself sends nothing */
	cfg.probes.keys = HP3_KEYS_OFF;
	cfg.n_rails = 2;
	strcpy(cfg.rails[0].name, "a");
	strcpy(cfg.rails[1].name, "b");
	cfg.n_bonds = 1;
	cfg.bonds[0] = (struct hp3_config_bond){"bond", "a, b", (uint8_t)mode};
	pipe_of_bond = hp3d_pipe_create(&cfg, 0, 0, 1, SOCKET_ID_ANY);
	assert_non_null(pipe_of_bond);
	assert_int_equal(hp3d_keyring_read(&cfg, stderr), 0);
	hp3d_keyring_take();
	assert_int_equal(hp3d_pipe_add_agent(pipe_of_bond, &cfg, SOCKET_ID_ANY), 0);
	assert_int_equal(hp3d_pipe_add_bond(pipe_of_bond, &cfg, SOCKET_ID_ANY), 0);
	n_left[0] = n_left[1] = 0;
	for (unsigned dir = 0; dir < 2; dir++)
		hp3d_pipe_output(pipe_of_bond, (enum hp3_dir)dir, log_packets,
			(void *)(uintptr_t)&dirs[dir]);
	memcpy(up.local, local, 16);
	memcpy(up.remote, remote, 16);
	assert_int_equal(hp3d_pipe_qp(pipe_of_bond, &up, now), 0);
}

static void end(void)
{
	assert_int_equal(hp3d_pipe_unaccounted(pipe_of_bond), 0);
	assert_int_equal(hp3d_pipe_held(pipe_of_bond), 0);
	hp3d_pipe_free(pipe_of_bond);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void expect(enum hp3_dir dir, uint32_t i, uint32_t psn, uint16_t rail)
{
	assert_true(i < n_left[dir]);
	assert_int_equal(left[dir][i].psn, psn);
	assert_int_equal(left[dir][i].rail, rail);
}

/* Requests on rail 0, and replies on rail 1: each packet leaves where it came in. */
static void packets_keep_their_rail(void **state)
{
	begin(HP3_BOND_LACP);
	for (uint32_t i = 0; i < 8; i++) {
		send(HP3_DIR_TX, 0, FIRST + i);
		send(HP3_DIR_RX, 1, FIRST + i);
		expect(HP3_DIR_TX, i, FIRST + i, 0);
		expect(HP3_DIR_RX, i, FIRST + i, 1);
	}
	assert_int_equal(hp3_engine_stats(hp3d_pipe_engine(pipe_of_bond))->rx_replies, 8);
	end();
}

/* Packets that hp3d held take the member that the RNIC's bond uses now, in one order. */
static void held_packets_take_the_new_member(void **state)
{
	for (unsigned mode = HP3_BOND_LACP; mode <= HP3_BOND_ACTIVE_BACKUP; mode++) {
		const struct hp3_ends ends = {false, 0, local, remote};
		struct hp3_cmd move = {.kind = HP3_CMD_MOVE, .port = PORT};
		uint32_t before;

		begin((enum hp3_bond_mode)mode);
		for (uint32_t i = 0; i < 4; i++)
			send(HP3_DIR_TX, 0, FIRST + i);
		move.flow = hp3_flow_find(hp3d_pipe_engine(pipe_of_bond), &ends, RQPN);
		assert_int_equal(hp3d_pipe_command(pipe_of_bond, &move, now), 0);
		for (uint32_t i = 4; i < 8; i++)
			send(HP3_DIR_TX, 0, FIRST + i);
		before = n_left[HP3_DIR_TX];
		for (uint32_t i = 8; i < 12; i++)
			send(HP3_DIR_TX, 1, FIRST + i);
		assert_int_equal(n_left[HP3_DIR_TX], before);
		assert_int_equal(hp3d_pipe_held(pipe_of_bond), 12 - before);
		assert_true(before < 8);
		send(HP3_DIR_RX, 1, FIRST + before - 1); /* the closing packet has arrived */
		assert_int_equal(n_left[HP3_DIR_TX], 12);
		for (uint32_t i = 0; i < 12; i++) {
			expect(HP3_DIR_TX, i, FIRST + i, i >= before);
			assert_true((left[HP3_DIR_TX][i].sport == PORT) == (i >= before));
		}
		end();
	}
}

/* A probe arrives on rail 1, while the RNIC sends on rail 0. */
static void answers_leave_where_the_rnic_sends(void **state)
{
	for (unsigned mode = HP3_BOND_LACP; mode <= HP3_BOND_ACTIVE_BACKUP; mode++) {
		static const struct hp3_probe_key none;
		const struct hp3_peer_probe probe = {.dest_qpn = LQPN,
			.psn = FIRST,
			.id = mode + 1,
			.time = (uint64_t)time(NULL)};
		struct hp3_addressing a = {.ttl = 64, .sport = 50001, .pkey = 0xffff, .tclass = 2};
		struct rte_mbuf *m;

		begin((enum hp3_bond_mode)mode);
		for (unsigned rail = 0; rail < 2; rail++) {
			m = rte_pktmbuf_alloc(pool);
			assert_non_null(m);
			send(HP3_DIR_TX, rail, FIRST + rail);
			memcpy(a.src_ip, remote, 16);
			memcpy(a.dst_ip, local, 16);
			a.sport++;
			enter(HP3_DIR_RX, !rail, m,
				hp3_peer_build(
					rte_pktmbuf_mtod(m, void *), 2048, &a, &probe, &none));
			assert_int_equal(n_left[HP3_DIR_RX], 0);
			assert_int_equal(n_left[HP3_DIR_TX], 2 * rail + 2);
			assert_int_equal(left[HP3_DIR_TX][2 * rail + 1].rail, rail);
		}
		end();
	}
}

int main(void)
{
	char line[] = "test_bond_pipe --no-huge --no-shconf --no-pci --no-telemetry -m 64 --lcores "
		      "0@(0) --log-level 1 --file-prefix hp3-test-bond-pipe";
	char *args[32], *save = NULL;
	int n = 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_keep_their_rail),
		cmocka_unit_test(held_packets_take_the_new_member),
		cmocka_unit_test(answers_leave_where_the_rnic_sends),
	};

	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		args[n++] = word;
	if (rte_eal_init(n, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("test", 255, 0, 0, 2304, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
