/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/list.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "base/minmax.h"
#include "config/bonds.h"

json_t *hp3d_json_timed_out(void)
{
	return hp3d_json_error("timeout",
		"try again; if it stays, the core is overloaded or hung: see hp3ctl health and "
		"cpus= in [eal]",
		"a data lcore did not answer within a second");
}

struct list_step {
	const struct hp3d_list *list;
	unsigned rail, want, n;
	uint32_t index; /* in: first record; out: next record */
	uint32_t looked; /* records that were read */
};

static void take_list_step(struct hp3d_worker *w, void *arg)
{
	struct list_step *s = arg;
	const struct hp3d_list *l = s->list;
	const struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, s->rail));
	uint32_t from = s->index, end = from + hp3_min_u32(HP3D_STRETCH, l->records - from);
	uint64_t now = hp3d_now();

	if (l->step != NULL) {
		s->n = l->step(w, s->rail, &s->index, l->items, s->want);
		s->looked = HP3D_STRETCH;
		return;
	}
	for (s->n = 0; s->index < end && s->n < s->want; s->index++)
		s->n += l->take(e, s->index, now, (char *)l->items + s->n * l->size, l->arg);
	s->looked = s->index - from;
}

/* Goes to the next pipe if this one has no more records. False: no more pipes. */
static bool skip_finished_pipes(
	const struct hp3_config *cfg, const struct hp3d_list *l, struct hp3d_place *at)
{
	while (at->rail < cfg->n_rails) {
		if (at->worker >= hp3d_worker_count() || !hp3_config_is_lead(cfg, at->rail))
			*at = (struct hp3d_place){.rail = at->rail + 1};
		else if (at->index >= l->records)
			*at = (struct hp3d_place){.rail = at->rail, .worker = at->worker + 1};
		else
			return true;
	}
	return false;
}

int hp3d_list_step(const struct hp3_config *cfg, const struct hp3d_list *l, struct hp3d_place *at,
	unsigned want, struct hp3d_place *from, unsigned *n)
{
	struct list_step s = {.list = l, .want = hp3_min_u32(want, l->room)};

	*n = 0;
	if (!skip_finished_pipes(cfg, l, at))
		return 0;
	*from = *at;
	s.rail = at->rail;
	s.index = at->index;
	if (hp3d_worker_call(hp3d_worker(at->worker), take_list_step, &s) < 0)
		return -ETIMEDOUT;
	*n = s.n;
	at->index = s.index;
	return (int)s.looked;
}

/* NULL: success. */
static json_t *read_list_after(json_t *req, const char *part, struct hp3d_place *at)
{
	const char *after = json_string_value(json_object_get(req, "after"));
	size_t n = strlen(part);
	int used = 0;

	if (!after || (strncmp(after, part, n) == 0 &&
			      sscanf(after + n, "@%u.%u.%u%n", &at->rail, &at->worker, &at->index,
				      &used) == 3 &&
			      after[n + (size_t)used] == '\0'))
		return NULL;
	return hp3d_json_error("bad-request", "pass the value of \"next\"",
		"\"after\" is not a position in this list: %s", after);
}

json_t *hp3d_list_page(const struct hp3_config *cfg, json_t *req, const struct hp3d_list *l)
{
	uint64_t left = HP3D_PAGE_DEFAULT, looked = 0;
	const char *part = l->part != NULL ? l->part : "";
	struct hp3d_place at = {0}, from;
	json_t *error, *answer, *list;
	char next[48];
	int rc = 1;

	if (!hp3d_json_number(req, "limit", 1, HP3D_PAGE_MAX, &left, &error) ||
		(error = read_list_after(req, part, &at)))
		return error;
	list = json_array();
	while (left && looked < HP3D_LOOKED) {
		unsigned n;

		rc = hp3d_list_step(cfg, l, &at, (unsigned)left, &from, &n);
		if (rc <= 0)
			break;
		for (unsigned i = 0; i < n; i++) {
			json_t *j = l->json(cfg, &from, (char *)l->items + i * l->size, l->arg);

			left -= j != NULL;
			if (j)
				json_array_append_new(list, j);
		}
		looked += (unsigned)rc;
	}
	if (rc < 0) {
		json_decref(list);
		return hp3d_json_timed_out();
	}
	answer = hp3d_json_ok(list);
	snprintf(next, sizeof(next), "%s@%u.%u.%u", part, at.rail, at.worker, at.index);
	if (answer && skip_finished_pipes(cfg, l, &at))
		json_object_set_new(answer, "next", json_string(next));
	return answer;
}
