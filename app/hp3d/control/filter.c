/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/filter.h"
#include <stdlib.h>
#include <string.h>
#include "app/control/reply.h"
#include "base/nearest.h"

enum word { MOVED, HOME, PAIRED, UNPAIRED, SEVERE, BARRED };
enum key { RTT, MARKED, MOVES, BYTES, IDLE, IN_FLIGHT, PORT, HOME_PORT };

const char *const hp3d_filter_words[] = {[MOVED] = "moved",
	[HOME] = "home",
	[PAIRED] = "paired",
	[UNPAIRED] = "unpaired",
	[SEVERE] = "severe",
	[BARRED] = "barred",
	NULL};
const char *const hp3d_filter_keys[] = {[RTT] = "rtt",
	[MARKED] = "marked",
	[MOVES] = "moves",
	[BYTES] = "bytes",
	[IDLE] = "idle",
	[IN_FLIGHT] = "in_flight",
	[PORT] = "port",
	[HOME_PORT] = "home",
	NULL};

static bool word_fits(enum word w, const struct hp3_flow_info *f)
{
	switch (w) {
	case MOVED:
		return f->moved;
	case HOME:
		return !f->moved;
	case PAIRED:
		return f->paired;
	case UNPAIRED:
		return !f->paired;
	case SEVERE:
		return f->severe;
	case BARRED:
		return f->barred != HP3_BAR_NONE;
	}
	return false;
}

/* In the units that hp3ctl prints. */
static double value_of_key(enum key k, const struct hp3_flow_info *f)
{
	switch (k) {
	case RTT:
		return f->path.rtt_ns / 1e3;
	case MARKED:
		return f->path.marked_permille;
	case MOVES:
		return f->moves;
	case BYTES:
		return (double)f->bytes;
	case IDLE:
		return (double)f->idle_ns / 1e6;
	case IN_FLIGHT:
		return f->inflight;
	case PORT:
		return f->port;
	case HOME_PORT:
		return f->home;
	}
	return 0;
}

static bool find_name(const char *const *list, const char *name, unsigned *which)
{
	for (*which = 0; list[*which]; (*which)++)
		if (strcmp(list[*which], name) == 0)
			return true;
	return false;
}

static bool is_state(const char *name, unsigned *which)
{
	for (*which = 0; *which < HP3_RFR_STATE_MAX; (*which)++)
		if (strcmp(hp3_rfr_state_name((enum hp3_rfr_state) * which), name) == 0)
			return true;
	return false;
}

/* Parses KEY<N, KEY=N or KEY>N; cuts the text at `op`. NULL: success. */
static json_t *read_number(struct hp3d_term *t, char *text, char *op)
{
	struct hp3_nearest near = {.asked = text};
	char *end;

	t->kind = HP3D_TERM_NUMBER;
	t->op = *op;
	*op = '\0';
	t->number = strtod(op + 1, &end);
	if (end == op + 1 || *end != '\0')
		return hp3d_json_error("bad-request",
			"compare with a number, such as rtt>100 (us), marked>50 (of 1000), idle<5 "
			"(ms)",
			"filter: %s is not a number", op + 1);
	if (find_name(hp3d_filter_keys, text, &t->which))
		return NULL;
	for (const char *const *k = hp3d_filter_keys; *k; k++)
		hp3_nearest_offer(&near, *k);
	return hp3d_json_error("bad-request",
		"numbers of a flow are rtt, marked, moves, bytes, idle, in_flight, port, home",
		"filter: a flow has no number \"%s\"%s%s%s", text,
		near.best ? "; did you mean " : "", near.best ? near.best : "",
		near.best ? "?" : "");
}

static json_t *read_term(struct hp3d_term *t, char *text)
{
	char *op;

	t->not = *text == '!';
	text += t->not ;
	t->text = text;
	op = strpbrk(text, "<=>");
	if (op)
		return read_number(t, text, op);
	if (find_name(hp3d_filter_words, text, &t->which))
		t->kind = HP3D_TERM_WORD;
	else if (is_state(text, &t->which))
		t->kind = HP3D_TERM_STATE;
	else
		t->kind = HP3D_TERM_TEXT;
	return NULL;
}

json_t *hp3d_filter_read(json_t *req, struct hp3d_filter *f)
{
	json_t *j = json_object_get(req, "filter"), *error = NULL;
	const char *text = json_string_value(j);
	char *rest = NULL;

	f->n = 0;
	if (!j)
		return NULL;
	if (!text || strlen(text) >= sizeof(f->buf))
		return hp3d_json_error("bad-request", "give up to 127 characters",
			"\"filter\" is not a text, or too long");
	strcpy(f->buf, text);
	for (char *t = strtok_r(f->buf, " ", &rest); t && !error; t = strtok_r(NULL, " ", &rest)) {
		if (f->n == HP3D_FILTER_TERMS)
			return hp3d_json_error(
				"bad-request", "give up to 8 terms", "\"filter\" has too many");
		error = read_term(&f->term[f->n++], t);
	}
	return error;
}

static bool term_fits(const struct hp3d_term *t, const char *id, const struct hp3_flow_info *f)
{
	double v;

	switch (t->kind) {
	case HP3D_TERM_TEXT:
		return strstr(id, t->text) != NULL;
	case HP3D_TERM_WORD:
		return word_fits((enum word)t->which, f);
	case HP3D_TERM_STATE:
		return f->state == t->which;
	case HP3D_TERM_NUMBER:
		v = value_of_key((enum key)t->which, f);
		return t->op == '<' ? v < t->number : t->op == '>' ? v > t->number : v == t->number;
	}
	return false;
}

bool hp3d_filter_fits(const struct hp3d_filter *f, const char *id, const struct hp3_flow_info *info)
{
	for (unsigned i = 0; i < f->n; i++)
		if (term_fits(&f->term[i], id, info) == f->term[i].not )
			return false;
	return true;
}
