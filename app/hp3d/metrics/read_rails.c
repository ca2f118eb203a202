/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of rails and their engines, summed over lcores, except tables, which are per lcore. */
#include <stdio.h>
#include <rte_common.h>
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"
#include "roce/parse.h"

typedef const void *part_fn(struct hp3d_pipe *p);

static const void *counters_of(struct hp3d_pipe *p)
{
	return hp3d_pipe_counters(p);
}

static const void *tally_of(struct hp3d_pipe *p)
{
	return hp3d_pipe_tally(p);
}

static const void *stats_of(struct hp3d_pipe *p)
{
	return hp3_engine_stats(hp3d_pipe_engine(p));
}

static const void *responder_of(struct hp3d_pipe *p)
{
	return hp3d_pipe_agent(p) != NULL ? hp3d_agent_stats(hp3d_pipe_agent(p)) : NULL;
}

static const void *agent_of(struct hp3d_pipe *p)
{
	return hp3d_pipe_agent(p) != NULL ? hp3d_agent_counters(hp3d_pipe_agent(p)) : NULL;
}

static const void *keys_of(struct hp3d_pipe *p)
{
	return hp3d_pipe_agent(p) != NULL ? hp3d_agent_keying_stats(hp3d_pipe_agent(p)) : NULL;
}

static uint64_t sum_of_workers(unsigned rail, part_fn *part, size_t offset)
{
	uint64_t all = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		const void *counters = part(hp3d_worker_pipe(hp3d_worker(w), rail));

		if (counters != NULL)
			all += hp3d_read_counter(counters, offset);
	}
	return all;
}

/* One sample per rail, with no other label. */
static void each_rail(
	struct hp3d_page *page, const struct hp3d_source *from, part_fn *part, size_t offset)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++)
		hp3d_page_count(page, (struct hp3d_labels){{from->cfg->rails[r].name}},
			sum_of_workers(r, part, offset));
}

void hp3d_read_engine(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, stats_of, which);
}

void hp3d_read_pipe(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, counters_of, which);
}

void hp3d_read_responder(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, responder_of, which);
}

void hp3d_read_agent(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, agent_of, which);
}

void hp3d_read_keys(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, keys_of, which);
}

/* A family with a second label: each of its values is a part with the counter at `offset`. */
struct member {
	const char *value;
	size_t offset;
};

static void put_members(struct hp3d_page *page, const struct hp3d_source *from, part_fn *part,
	const struct member *m, size_t n)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++)
		for (size_t i = 0; i < n; i++)
			hp3d_page_count(page,
				(struct hp3d_labels){{from->cfg->rails[r].name, m[i].value}},
				sum_of_workers(r, part, m[i].offset));
}

#define COUNTER(value, field)                                                                      \
	{                                                                                          \
		value, offsetof(struct hp3d_pipe_counters, field)                                  \
	}

void hp3d_read_packets(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct member m[] = {COUNTER("tx", packets_tx), COUNTER("rx", packets_rx)};

	put_members(page, from, counters_of, m, RTE_DIM(m));
}

void hp3d_read_bytes(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct member m[] = {COUNTER("tx", bytes_tx), COUNTER("rx", bytes_rx)};

	put_members(page, from, counters_of, m, RTE_DIM(m));
}

void hp3d_read_drops(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct member m[] = {COUNTER("discarded", drop_discarded),
		COUNTER("engine", drop_engine), COUNTER("handover", drop_handover),
		COUNTER("host", drop_host), COUNTER("tx_full", drop_tx_full),
		COUNTER("consumed", consumed)};

	put_members(page, from, counters_of, m, RTE_DIM(m));
}

void hp3d_read_fruitless(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct member m[] = {COUNTER("cnp", fruitless_cnp),
		COUNTER("ecn", fruitless_ecn), COUNTER("rtt", fruitless_rtt),
		COUNTER("dead", fruitless_dead), COUNTER("setup", fruitless_setup),
		COUNTER("message_start", fruitless_message_start),
		COUNTER("advice", fruitless_advice)};

	put_members(page, from, counters_of, m, RTE_DIM(m));
}

void hp3d_read_classes(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct member m[] = {COUNTER("other", class[HP3_CLASS_OTHER]),
		COUNTER("rc_request", class[HP3_CLASS_RC_REQUEST]),
		COUNTER("rc_reply", class[HP3_CLASS_RC_REPLY]),
		COUNTER("cnp", class[HP3_CLASS_CNP]), COUNTER("cm", class[HP3_CLASS_CM]),
		COUNTER("ud", class[HP3_CLASS_UD]), COUNTER("uc", class[HP3_CLASS_UC]),
		COUNTER("roce_other", class[HP3_CLASS_ROCE_OTHER])};

	_Static_assert(RTE_DIM(m) == HP3_CLASS_MAX, "a class without a name");
	put_members(page, from, counters_of, m, RTE_DIM(m));
}

void hp3d_read_reasons(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const char *const names[] = {
#define X(sym, text) text,
		HP3_PARSE_REASONS(X)
#undef X
	};

	for (size_t i = 0; i < HP3_PARSE_REASON_MAX; i++) {
		const struct member m = {names[i],
			offsetof(struct hp3d_pipe_counters, reason) + i * sizeof(uint64_t)};

		put_members(page, from, counters_of, &m, 1);
	}
}

/* Arrays of the tally: by event type, by verdict, by cause. */
static size_t offset_of_entry(size_t array, size_t i)
{
	return array + i * sizeof(uint64_t);
}

void hp3d_read_events(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_EVENT_MAX; i++) {
		const struct member m = {hp3_event_name((enum hp3_event_type)i),
			offset_of_entry(offsetof(struct hp3d_tally, events), i)};

		put_members(page, from, tally_of, &m, 1);
	}
}

void hp3d_read_verdicts(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_PAYOFF_MAX; i++) {
		const struct member m = {hp3_payoff_name((enum hp3_payoff)i),
			offset_of_entry(offsetof(struct hp3d_tally, verdicts), i)};

		put_members(page, from, tally_of, &m, 1);
	}
}

void hp3d_read_observed(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_CAUSE_MAX; i++) {
		const struct member m = {hp3_cause_name((enum hp3_cause)i),
			offset_of_entry(offsetof(struct hp3d_tally, observed), i)};

		put_members(page, from, tally_of, &m, 1);
	}
}

void hp3d_read_moves(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const enum hp3_event_type ends[] = {HP3_EVENT_SWITCH, HP3_EVENT_IDLE_SWITCH,
		HP3_EVENT_FAILOVER, HP3_EVENT_RECOVER, HP3_EVENT_EPOCH};

	for (unsigned r = 0; r < from->cfg->n_rails; r++)
		for (size_t e = 0; e < RTE_DIM(ends); e++)
			for (size_t c = 0; c < HP3_CAUSE_MAX; c++)
				hp3d_page_count(page,
					(struct hp3d_labels){{from->cfg->rails[r].name,
						hp3_cause_name((enum hp3_cause)c),
						hp3_event_name(ends[e])}},
					sum_of_workers(r, tally_of,
						offset_of_entry(offsetof(struct hp3d_tally, moves),
							ends[e] * HP3_CAUSE_MAX + c)));
}

void hp3d_read_times(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++) {
		struct hp3d_histogram all;

		for (size_t k = 0; k <= HP3D_BUCKETS; k++)
			all.bucket[k] = sum_of_workers(r, tally_of,
				offset_of_entry(
					which + offsetof(struct hp3d_histogram, bucket), k));
		all.sum_ns = sum_of_workers(
			r, tally_of, which + offsetof(struct hp3d_histogram, sum_ns));
		hp3d_page_histogram(page, (struct hp3d_labels){{from->cfg->rails[r].name}}, &all);
	}
}

/* Reads the longest gaps first: a counter that is read later includes them. */
void hp3d_read_gaps(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const double le[] = {1e-5, 1e-4, 1e-3, 1e-2};
	static const size_t longer[] = {offsetof(struct hp3_stats, reseq_gaps),
		offsetof(struct hp3_stats, reseq_gaps_10us),
		offsetof(struct hp3_stats, reseq_gaps_100us),
		offsetof(struct hp3_stats, reseq_gaps_1ms),
		offsetof(struct hp3_stats, reseq_gaps_10ms)};

	_Static_assert(RTE_DIM(longer) == RTE_DIM(le) + 1, "a bound without a counter");
	for (unsigned r = 0; r < from->cfg->n_rails; r++) {
		uint64_t n[RTE_DIM(longer)], above = 0;
		double waited;

		for (size_t k = RTE_DIM(longer); k-- > 0;) {
			n[k] = sum_of_workers(r, stats_of, longer[k]) - above;
			above += n[k];
		}
		waited = (double)sum_of_workers(
				 r, stats_of, offsetof(struct hp3_stats, reseq_waited)) /
			 1e9;
		hp3d_page_buckets(page, (struct hp3d_labels){{from->cfg->rails[r].name}}, le, n,
			RTE_DIM(le), waited);
	}
}

static uint32_t table_value(
	const struct hp3_engine *e, const struct hp3_config *cfg, enum hp3d_table_value which)
{
	switch (which) {
	case HP3D_TABLE_FLOWS:
		return hp3_engine_flows(e);
	case HP3D_TABLE_FLOWS_MAX:
		return cfg->engine.max_flows;
	case HP3D_TABLE_MOVED:
		return hp3_engine_moved(e);
	case HP3D_TABLE_MOVING:
		return hp3_engine_moves(e);
	case HP3D_TABLE_PAIRS:
		return hp3_engine_pairs(e);
	case HP3D_TABLE_PAIRS_MAX:
		return cfg->engine.max_pairs;
	}
	return 0;
}

void hp3d_read_table(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++) {
		for (unsigned w = 0; w < hp3d_worker_count(); w++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);
			char lcore[16];

			snprintf(lcore, sizeof(lcore), "%u", w);
			hp3d_page_count(page,
				(struct hp3d_labels){{from->cfg->rails[r].name, lcore}},
				table_value(hp3d_pipe_engine(p), from->cfg,
					(enum hp3d_table_value)which));
		}
	}
}
