/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of rails and their engines, summed over lcores, except tables, which are per lcore. */
#include <stdio.h>
#include <string.h>
#include <rte_common.h>
#include "app/hp3d/control/counters.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"

/* The first lead from `rail` on: rails of a bond have one pipe. n_rails: there are no more. */
static unsigned lead_from(const struct hp3_config *cfg, unsigned rail)
{
	while (rail < cfg->n_rails && !hp3_config_is_lead(cfg, rail))
		rail++;
	return rail;
}

/* One sample per rail, with no other label. */
static void each_rail(
	struct hp3d_page *page, const struct hp3d_source *from, enum hp3d_part part, size_t offset)
{
	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1))
		hp3d_page_count(page, (struct hp3d_labels){{hp3_config_flows_name(from->cfg, r)}},
			hp3d_part_sum(r, part, offset));
}

void hp3d_read_engine(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, HP3D_PART_ENGINE, which);
}

void hp3d_read_pipe(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, HP3D_PART_PIPE, which);
}

void hp3d_read_responder(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, HP3D_PART_PROBES, which);
}

void hp3d_read_agent(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, HP3D_PART_AGENT, which);
}

void hp3d_read_keys(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_rail(page, from, HP3D_PART_KEYS, which);
}

/* A sample for each counter of hp3ctl stats that has this prefix; the rest of its name is the
 * label. */
static void put_prefixed(struct hp3d_page *page, const struct hp3d_source *from, const char *prefix)
{
	const unsigned rails = from->cfg->n_rails;

	for (unsigned i = 0; i < hp3d_counter_count(); i++) {
		const char *name = hp3d_counter(i).name;

		if (strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		for (unsigned r = lead_from(from->cfg, 0); r < rails;
			r = lead_from(from->cfg, r + 1))
			hp3d_page_count(page,
				(struct hp3d_labels){{hp3_config_flows_name(from->cfg, r),
					name + strlen(prefix)}},
				hp3d_counter_sum(i, rails, r, HP3D_ALL));
	}
}

void hp3d_read_packets(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_prefixed(page, from, "packets_");
}

void hp3d_read_bytes(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_prefixed(page, from, "bytes_");
}

void hp3d_read_fruitless(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_prefixed(page, from, "fruitless_");
}

void hp3d_read_classes(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_prefixed(page, from, "class_");
}

void hp3d_read_reasons(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_prefixed(page, from, "reason_");
}

/* A sample per rail, with `value` as the second label. */
static void put_value(struct hp3d_page *page, const struct hp3d_source *from, enum hp3d_part part,
	const char *value, size_t offset)
{
	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1))
		hp3d_page_count(page,
			(struct hp3d_labels){{hp3_config_flows_name(from->cfg, r), value}},
			hp3d_part_sum(r, part, offset));
}

void hp3d_read_drops(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const struct {
		const char *reason;
		size_t offset;
	} drops[] = {
		{"discarded", offsetof(struct hp3d_pipe_counters, drop_discarded)},
		{"engine", offsetof(struct hp3d_pipe_counters, drop_engine)},
		{"handover", offsetof(struct hp3d_pipe_counters, drop_handover)},
		{"host", offsetof(struct hp3d_pipe_counters, drop_host)},
		{"too_long", offsetof(struct hp3d_pipe_counters, drop_too_long)},
		{"tx_full", offsetof(struct hp3d_pipe_counters, drop_tx_full)},
		{"consumed", offsetof(struct hp3d_pipe_counters, consumed)},
	};

	for (size_t i = 0; i < RTE_DIM(drops); i++)
		put_value(page, from, HP3D_PART_PIPE, drops[i].reason, drops[i].offset);
}

void hp3d_read_events(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_EVENT_MAX; i++)
		put_value(page, from, HP3D_PART_TALLY, hp3_event_name((enum hp3_event_type)i),
			offsetof(struct hp3d_tally, events[i]));
}

void hp3d_read_verdicts(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_PAYOFF_MAX; i++)
		put_value(page, from, HP3D_PART_TALLY, hp3_payoff_name((enum hp3_payoff)i),
			offsetof(struct hp3d_tally, verdicts[i]));
}

void hp3d_read_observed(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (size_t i = 0; i < HP3_CAUSE_MAX; i++)
		put_value(page, from, HP3D_PART_TALLY, hp3_cause_name((enum hp3_cause)i),
			offsetof(struct hp3d_tally, observed[i]));
}

void hp3d_read_moves(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	static const enum hp3_event_type ends[] = {HP3_EVENT_SWITCH, HP3_EVENT_IDLE_SWITCH,
		HP3_EVENT_FAILOVER, HP3_EVENT_RECOVER, HP3_EVENT_EPOCH};

	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1))
		for (size_t e = 0; e < RTE_DIM(ends); e++)
			for (size_t c = 0; c < HP3_CAUSE_MAX; c++)
				hp3d_page_count(page,
					(struct hp3d_labels){{hp3_config_flows_name(from->cfg, r),
						hp3_cause_name((enum hp3_cause)c),
						hp3_event_name(ends[e])}},
					hp3d_part_sum(r, HP3D_PART_TALLY,
						offsetof(struct hp3d_tally, moves[ends[e]][c])));
}

void hp3d_read_times(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1)) {
		struct hp3d_histogram all;

		for (size_t k = 0; k <= HP3D_BUCKETS; k++)
			all.bucket[k] = hp3d_part_sum(r, HP3D_PART_TALLY,
				which + offsetof(struct hp3d_histogram, bucket[k]));
		all.sum_ns = hp3d_part_sum(
			r, HP3D_PART_TALLY, which + offsetof(struct hp3d_histogram, sum_ns));
		hp3d_page_histogram(
			page, (struct hp3d_labels){{hp3_config_flows_name(from->cfg, r)}}, &all);
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
	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1)) {
		uint64_t n[RTE_DIM(longer)], above = 0;
		double waited;

		for (size_t k = RTE_DIM(longer); k-- > 0;) {
			n[k] = hp3d_part_sum(r, HP3D_PART_ENGINE, longer[k]) - above;
			above += n[k];
		}
		waited = (double)hp3d_part_sum(
				 r, HP3D_PART_ENGINE, offsetof(struct hp3_stats, reseq_waited)) /
			 1e9;
		hp3d_page_buckets(page, (struct hp3d_labels){{hp3_config_flows_name(from->cfg, r)}},
			le, n, RTE_DIM(le), waited);
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
	for (unsigned r = lead_from(from->cfg, 0); r < from->cfg->n_rails;
		r = lead_from(from->cfg, r + 1)) {
		for (unsigned w = 0; w < hp3d_worker_count(); w++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);
			char lcore[16];

			snprintf(lcore, sizeof(lcore), "%u", w);
			hp3d_page_count(page,
				(struct hp3d_labels){{hp3_config_flows_name(from->cfg, r), lcore}},
				table_value(hp3d_pipe_engine(p), from->cfg,
					(enum hp3d_table_value)which));
		}
	}
}

void hp3d_read_unpaired(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++) {
		for (unsigned w = 0; w < hp3d_worker_count(); w++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);
			char lcore[16];

			snprintf(lcore, sizeof(lcore), "%u", w);
			for (unsigned i = 0; i < HP3_UNPAIRED_MAX; i++) {
				enum hp3_unpaired_reason why = (enum hp3_unpaired_reason)i;

				if (hp3_unpaired_help(why) == NULL)
					continue; /* captures only */
				hp3d_page_count(page,
					(struct hp3d_labels){{from->cfg->rails[r].name, lcore,
						hp3_unpaired_name(why)}},
					hp3_engine_unpaired_by(hp3d_pipe_engine(p), why));
			}
		}
	}
}
