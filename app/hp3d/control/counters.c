/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/counters.h"
#include <rte_common.h>
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"

static const struct {
	struct hp3d_counter info;
	enum hp3d_part part;
	size_t offset;
} counters[] = {
#define X(field, help) {{#field, help, false}, HP3D_PART_ENGINE, offsetof(struct hp3_stats, field)},
	HP3_STATS(X)
#undef X
#define X(field, help)                                                                             \
	{{#field, help, false}, HP3D_PART_PROBES, offsetof(struct hp3_probe_stats, field)},
		HP3_PROBE_STATS(X)
#undef X
#define X(field, help)                                                                             \
	{{#field, help, false}, HP3D_PART_AGENT, offsetof(struct hp3d_agent_counters, field)},
			HP3D_AGENT_COUNTERS(X)
#undef X
#define X(field, help)                                                                             \
	{{"keys_" #field, help, false}, HP3D_PART_KEYS, offsetof(struct hp3_keying_stats, field)},
				HP3_KEYING_STATS(X)
#undef X
#define X(field, help, drop)                                                                       \
	{{#field, help, drop}, HP3D_PART_PIPE, offsetof(struct hp3d_pipe_counters, field)},
					HP3D_PIPE_COUNTERS(X)
#undef X
#define CLASS(sym, name)                                                                           \
	{                                                                                          \
		{"class_" name, "packets of this class", false}, HP3D_PART_PIPE,                   \
			offsetof(struct hp3d_pipe_counters, class[HP3_CLASS_##sym])                \
	}
						CLASS(OTHER, "other"),
	CLASS(RC_REQUEST, "rc_request"), CLASS(RC_REPLY, "rc_reply"), CLASS(CNP, "cnp"),
	CLASS(CM, "cm"), CLASS(UD, "ud"), CLASS(UC, "uc"), CLASS(ROCE_OTHER, "roce_other"),
#define X(sym, text)                                                                               \
	{{"reason_" text, "packets with this result of the parser; forwarded", false},             \
		HP3D_PART_PIPE, offsetof(struct hp3d_pipe_counters, reason[HP3_PARSE_##sym])},
	HP3_PARSE_REASONS(X)
#undef X
};

_Static_assert(HP3_CLASS_MAX == 8, "each class has a row in counters[]");

/* NULL: the pipe has no such part. */
static const void *part_of_pipe(struct hp3d_pipe *p, enum hp3d_part part)
{
	struct hp3d_agent *a = hp3d_pipe_agent(p);

	switch (part) {
	case HP3D_PART_ENGINE:
		return hp3_engine_stats(hp3d_pipe_engine(p));
	case HP3D_PART_PROBES:
		return a != NULL ? hp3d_agent_stats(a) : NULL;
	case HP3D_PART_AGENT:
		return a != NULL ? hp3d_agent_counters(a) : NULL;
	case HP3D_PART_KEYS:
		return a != NULL ? hp3d_agent_keying_stats(a) : NULL;
	case HP3D_PART_PIPE:
		return hp3d_pipe_counters(p);
	case HP3D_PART_TALLY:
		return hp3d_pipe_tally(p);
	}
	return NULL;
}

static uint64_t read_part(unsigned worker, unsigned rail, enum hp3d_part part, size_t offset)
{
	const void *at = part_of_pipe(hp3d_worker_pipe(hp3d_worker(worker), rail), part);

	return at != NULL ? hp3d_read_counter(at, offset) : 0;
}

uint64_t hp3d_part_sum(unsigned rail, enum hp3d_part part, size_t offset)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		sum += read_part(w, rail, part, offset);
	return sum;
}

unsigned hp3d_counter_count(void)
{
	return RTE_DIM(counters);
}

struct hp3d_counter hp3d_counter(unsigned i)
{
	return counters[i].info;
}

uint64_t hp3d_counter_sum(unsigned i, unsigned rails, unsigned rail, unsigned worker)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		for (unsigned r = 0; r < rails; r++)
			if ((rail == HP3D_ALL ? hp3d_rail_is_lead(r) : rail == r) &&
				(worker == HP3D_ALL || worker == w))
				sum += read_part(w, r, counters[i].part, counters[i].offset);
	return sum;
}
