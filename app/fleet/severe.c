/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/gather.h"
#include <string.h>

#define SEVERE_PAGE 500

static bool is_severe(const json_t *event)
{
	const char *type = json_string_value(json_object_get(event, "type"));

	return type != NULL && (strcmp(type, "severe") == 0 || strcmp(type, "failover") == 0);
}

/* A page of events; false: there is no more. */
static bool read_event_page(struct fleet_severe *s, struct fleet_hp3d *h, bool *found)
{
	json_t *events =
		fleet_hp3d_ask(h, json_pack("{s:s, s:I, s:i, s:b}", "cmd", "events", "since",
					  s->since, "limit", SEVERE_PAGE, "all", 1));
	size_t i, n = json_array_size(events);
	json_t *event;

	json_array_foreach (events, i, event) {
		json_int_t seq = json_integer_value(json_object_get(event, "seq"));

		*found |= is_severe(event);
		s->since = seq > s->since ? seq : s->since;
	}
	json_decref(events);
	return n == SEVERE_PAGE;
}

bool fleet_severe(struct fleet_severe *s, struct fleet_hp3d *h, uint64_t now_ms)
{
	bool found = false, known;

	if (s->every_ms == 0 || now_ms < s->due_ms)
		return false;
	s->due_ms = now_ms + s->every_ms;
	known = s->run == h->run && h->line.fd >= 0;
	if (!known)
		s->since = 0;
	while (read_event_page(s, h, &found))
		;
	known = known && s->run == h->run;
	s->run = h->run;
	return known && found;
}
