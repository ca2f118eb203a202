/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/internal.h"
#include <jansson.h>
#include <stdio.h>
#include <rte_common.h>
#include "roce/icrc.h"

void hp3d_replay_count_icrc(const void *frame, uint32_t len, uint64_t *good, uint64_t *bad)
{
	struct hp3_view v;

	hp3_parse(frame, len, &v);
	if (v.class == HP3_CLASS_OTHER)
		return;
	if (hp3_icrc_ok(frame, &v))
		(*good)++;
	else
		(*bad)++;
}

void hp3d_replay_count_event(struct hp3d_replay_summary *s, const struct hp3d_event *event)
{
	s->pairings += event->event.type == HP3_EVENT_PAIR;
	s->switched += event->event.type == HP3_EVENT_SWITCH;
	s->idle_switched += event->event.type == HP3_EVENT_IDLE_SWITCH;
	s->recovered += event->event.type == HP3_EVENT_RECOVER;
	s->epochs += event->event.type == HP3_EVENT_EPOCH;
}

void hp3d_replay_count_pipe(struct hp3d_replay_summary *s, struct hp3d_pipe *p)
{
	const struct hp3d_pipe_counters *c = hp3d_pipe_counters(p);
	struct hp3_engine *e = hp3d_pipe_engine(p);
	const struct hp3_stats *st = hp3_engine_stats(e);
	struct hp3_flow_info info;

	for (unsigned i = 0; i < HP3_CLASS_MAX; i++)
		s->class[i] += c->class[i];
	for (unsigned i = 0; i < HP3_PARSE_REASON_MAX; i++)
		s->reason[i] += c->reason[i];
	s->changed += c->changed;
	s->discarded += c->drop_discarded;
	s->consumed += c->consumed;
	s->held += st->held_packets;
	s->retransmits += st->retransmits;
	s->naks += st->naks;
	s->rnrs += st->rnrs;
	if (hp3d_pipe_held_peak(p) > s->held_peak)
		s->held_peak = hp3d_pipe_held_peak(p);
	for (uint32_t f = hp3_flow_next(e, 0); f != HP3_NO_FLOW; f = hp3_flow_next(e, f + 1)) {
		if (hp3_flow_info(e, f, 0, &info) == 0) {
			s->flows++;
			s->paired += info.paired;
		}
	}
}

/* Halved, because each packet passed two pipes. */
static json_t *halves_json(const uint64_t *v, unsigned n, const char *(*name)(unsigned))
{
	json_t *j = json_object();

	for (unsigned i = 0; i < n; i++) {
		if (v[i] > 0)
			json_object_set_new(j, name(i), json_integer((json_int_t)(v[i] / 2)));
	}
	return j;
}

static const char *class_name(unsigned i)
{
	return hp3_class_name((enum hp3_class)i);
}

static const char *reason_name(unsigned i)
{
	return hp3_parse_reason_name((enum hp3_parse_reason)i);
}

static json_t *to_json(const struct hp3d_replay_summary *s)
{
	json_t *j = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "v",
		1, "packets_in", (json_int_t)s->packets_in, "packets_out",
		(json_int_t)s->packets_out, "truncated", (json_int_t)s->truncated, "changed",
		(json_int_t)s->changed, "held", (json_int_t)s->held, "held_peak",
		(json_int_t)s->held_peak, "discarded", (json_int_t)s->discarded, "consumed",
		(json_int_t)s->consumed, "flows", (json_int_t)s->flows, "paired",
		(json_int_t)s->paired, "pairings", (json_int_t)s->pairings);

	json_object_set_new(j, "classes", halves_json(s->class, HP3_CLASS_MAX, class_name));
	json_object_set_new(
		j, "reasons", halves_json(s->reason, HP3_PARSE_REASON_MAX, reason_name));
	json_object_set_new(j, "icrc",
		json_pack("{s:I, s:I, s:I, s:I}", "good_in", (json_int_t)s->icrc_good_in, "bad_in",
			(json_int_t)s->icrc_bad_in, "good_out", (json_int_t)s->icrc_good_out,
			"bad_out", (json_int_t)s->icrc_bad_out));
	json_object_set_new(j, "moves",
		json_pack("{s:I, s:I, s:I, s:I}", "switch", (json_int_t)s->switched, "idle_switch",
			(json_int_t)s->idle_switched, "recover", (json_int_t)s->recovered, "epoch",
			(json_int_t)s->epochs));
	json_object_set_new(j, "seen",
		json_pack("{s:I, s:I, s:I}", "retransmits", (json_int_t)s->retransmits, "naks",
			(json_int_t)s->naks, "rnr_naks", (json_int_t)s->rnrs));
	return j;
}

static void print_object(const char *title, json_t *o)
{
	const char *key;
	json_t *v;

	printf("%-9s", title);
	json_object_foreach (o, key, v)
		printf(" %s %lld", key, (long long)json_integer_value(v));
	putchar('\n');
}

void hp3d_replay_print(const struct hp3d_replay_summary *s, bool json)
{
	static const char *const parts[] = {"classes", "reasons", "icrc", "moves", "seen"};
	json_t *j = to_json(s);

	if (json) {
		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		printf("%-9s in %llu out %llu truncated %llu changed %llu held %llu (most at a "
		       "time %llu) discarded %llu consumed %llu\n",
			"packets", (unsigned long long)s->packets_in,
			(unsigned long long)s->packets_out, (unsigned long long)s->truncated,
			(unsigned long long)s->changed, (unsigned long long)s->held,
			(unsigned long long)s->held_peak, (unsigned long long)s->discarded,
			(unsigned long long)s->consumed);
		printf("%-9s %llu paired %llu (pairings %llu)\n", "flows",
			(unsigned long long)s->flows, (unsigned long long)s->paired,
			(unsigned long long)s->pairings);
		for (unsigned i = 0; i < RTE_DIM(parts); i++)
			print_object(parts[i], json_object_get(j, parts[i]));
	}
	json_decref(j);
}
