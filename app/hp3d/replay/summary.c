/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/internal.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>
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

static void count_found(struct hp3d_replay_summary *s, const char *name)
{
	unsigned i = 0;

	while (i < s->n_found && strcmp(s->found[i].name, name) != 0)
		i++;
	if (i == s->n_found && i < HP3D_REPLAY_FOUND) {
		snprintf(s->found[i].name, sizeof(s->found[i].name), "%s", name);
		s->n_found++;
	} else if (i == s->n_found) {
		snprintf(s->found[i].name, sizeof(s->found[i].name), "others");
	}
	s->found[i].packets++;
}

void hp3d_replay_count_frame(struct hp3d_replay_summary *s, const struct hp3d_replay_record *r,
	const struct hp3d_replay_frame *f)
{
	s->truncated += r->h.caplen < r->h.len;
	if (f->name[0] != '\0')
		count_found(s, f->name);
	if (f->recorded < f->len)
		s->icrc_missing++;
	else
		hp3d_replay_count_icrc(f->data, f->len, &s->icrc_good_in, &s->icrc_bad_in);
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
	const struct hp3_stats *st = hp3_engine_stats(hp3d_pipe_engine(p));

	for (unsigned i = 0; i < HP3_CLASS_MAX; i++)
		s->class[i] += c->class[i];
	for (unsigned i = 0; i < HP3_PARSE_REASON_MAX; i++)
		s->reason[i] += c->reason[i];
	s->changed += c->changed;
	s->discarded += c->drop_discarded;
	s->consumed += c->consumed;
	s->held += st->held_packets;
	if (hp3d_pipe_held_peak(p) > s->held_peak)
		s->held_peak = hp3d_pipe_held_peak(p);
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

static json_t *found_json(const struct hp3d_replay_summary *s)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < RTE_DIM(s->found); i++) {
		if (s->found[i].packets > 0)
			json_object_set_new(
				j, s->found[i].name, json_integer((json_int_t)s->found[i].packets));
	}
	return j;
}

static json_t *to_json(const struct hp3d_replay_summary *s, const struct hp3d_replay_totals *t)
{
	json_t *j = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"v", 1, "packets_in", (json_int_t)s->packets_in, "packets_out",
		(json_int_t)s->packets_out, "truncated", (json_int_t)s->truncated, "copies",
		(json_int_t)s->copies, "changed", (json_int_t)s->changed, "held",
		(json_int_t)s->held, "held_peak", (json_int_t)s->held_peak, "discarded",
		(json_int_t)s->discarded, "consumed", (json_int_t)s->consumed, "flows",
		(json_int_t)t->flows, "paired", (json_int_t)t->paired, "pairings",
		(json_int_t)s->pairings);

	json_object_set_new(j, "classes", halves_json(s->class, HP3_CLASS_MAX, class_name));
	json_object_set_new(
		j, "reasons", halves_json(s->reason, HP3_PARSE_REASON_MAX, reason_name));
	json_object_set_new(j, "found", found_json(s));
	json_object_set_new(j, "icrc",
		json_pack("{s:I, s:I, s:I, s:I, s:I}", "good_in", (json_int_t)s->icrc_good_in,
			"bad_in", (json_int_t)s->icrc_bad_in, "good_out",
			(json_int_t)s->icrc_good_out, "bad_out", (json_int_t)s->icrc_bad_out,
			"not_recorded", (json_int_t)s->icrc_missing));
	json_object_set_new(j, "moves",
		json_pack("{s:I, s:I, s:I, s:I}", "switch", (json_int_t)s->switched, "idle_switch",
			(json_int_t)s->idle_switched, "recover", (json_int_t)s->recovered, "epoch",
			(json_int_t)s->epochs));
	json_object_set_new(j, "seen",
		json_pack("{s:I, s:I, s:I, s:I}", "retransmits", (json_int_t)t->retransmits,
			"reordered", (json_int_t)t->reordered, "naks", (json_int_t)t->naks,
			"rnr_naks", (json_int_t)t->rnrs));
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

static void print_found(const struct hp3d_replay_summary *s)
{
	for (unsigned i = 0; i < RTE_DIM(s->found); i++) {
		if (s->found[i].packets > 0)
			printf("%-9s %s: %llu packets\n", "found", s->found[i].name,
				(unsigned long long)s->found[i].packets);
	}
	if (s->icrc_missing > 0)
		printf("%-9s %llu packets are cut, and have no ICRC; record with -s 0\n", "cut",
			(unsigned long long)s->icrc_missing);
	if (s->copies > 0)
		printf("%-9s %llu packets are recorded twice; the second ones are left out\n",
			"copies", (unsigned long long)s->copies);
}

void hp3d_replay_print(
	const struct hp3d_replay_summary *s, const struct hp3d_replay_flows *flows, bool json)
{
	static const char *const parts[] = {"classes", "reasons", "icrc", "moves", "seen"};
	const struct hp3d_replay_totals totals = hp3d_replay_flows_totals(flows);
	json_t *j = to_json(s, &totals);

	if (json) {
		json_object_set_new(j, "streams", hp3d_replay_rows_json(flows));
		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(j);
		return;
	}
	printf("%-9s in %llu out %llu truncated %llu changed %llu held %llu (most at a "
	       "time %llu) discarded %llu consumed %llu\n",
		"packets", (unsigned long long)s->packets_in, (unsigned long long)s->packets_out,
		(unsigned long long)s->truncated, (unsigned long long)s->changed,
		(unsigned long long)s->held, (unsigned long long)s->held_peak,
		(unsigned long long)s->discarded, (unsigned long long)s->consumed);
	printf("%-9s %llu paired %llu (pairings %llu)\n", "flows", (unsigned long long)totals.flows,
		(unsigned long long)totals.paired, (unsigned long long)s->pairings);
	for (unsigned i = 0; i < RTE_DIM(parts); i++)
		print_object(parts[i], json_object_get(j, parts[i]));
	print_found(s);
	hp3d_replay_print_rows(flows);
	json_decref(j);
}
