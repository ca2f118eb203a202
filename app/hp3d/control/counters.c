/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/counters.h"
#include <stddef.h>
#include <rte_common.h>
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"

/* The location of a counter, in one of five structs, each with its own list. */
struct place {
	const char *name, *help;
	const void *base; /* of a pipe; NULL: the pipe has none */
	size_t offset;
	bool drop;
};

struct named {
	const char *name, *help;
	size_t offset;
	bool drop;
};

static const struct named agent_counters[] = {
#define X(field, help) {#field, help, offsetof(struct hp3d_agent_counters, field), false},
	HP3D_AGENT_COUNTERS(X)
#undef X
};

static const struct named keys_counters[] = {
#define X(field, help) {"keys_" #field, help, offsetof(struct hp3_keying_stats, field), false},
	HP3_KEYING_STATS(X)
#undef X
};

static const struct named pipe_counters[] = {
#define X(field, help, drop) {#field, help, offsetof(struct hp3d_pipe_counters, field), drop},
	HP3D_PIPE_COUNTERS(X)
#undef X
};

static const char *const reason_names[] = {
#define X(sym, text) "reason_" text,
	HP3_PARSE_REASONS(X)
#undef X
};

static const char *const class_names[HP3_CLASS_MAX] = {
	[HP3_CLASS_OTHER] = "class_other",
	[HP3_CLASS_RC_REQUEST] = "class_rc_request",
	[HP3_CLASS_RC_REPLY] = "class_rc_reply",
	[HP3_CLASS_CNP] = "class_cnp",
	[HP3_CLASS_CM] = "class_cm",
	[HP3_CLASS_UD] = "class_ud",
	[HP3_CLASS_UC] = "class_uc",
	[HP3_CLASS_ROCE_OTHER] = "class_roce_other",
};

static struct place place_of_named(const struct named *n, const void *base)
{
	return (struct place){n->name, n->help, base, n->offset, n->drop};
}

/* Counters of the pipe: the named ones, then class_NAME and reason_NAME. */
static struct place place_in_pipe(unsigned i, const struct hp3d_pipe_counters *c)
{
	if (i < RTE_DIM(pipe_counters))
		return place_of_named(&pipe_counters[i], c);
	i -= RTE_DIM(pipe_counters);
	if (i < HP3_CLASS_MAX)
		return (struct place){class_names[i], "packets of this class", c,
			offsetof(struct hp3d_pipe_counters, class[i]), false};
	i -= HP3_CLASS_MAX;
	return (struct place){reason_names[i], "packets with this result of the parser; forwarded",
		c, offsetof(struct hp3d_pipe_counters, reason[i]), false};
}

static struct place place_of_counter(unsigned i, struct hp3d_pipe *p)
{
	struct hp3d_agent *a = p ? hp3d_pipe_agent(p) : NULL;

	if (i < hp3_stat_count)
		return (struct place){hp3_stat_info[i].name, hp3_stat_info[i].help,
			p ? hp3_engine_stats(hp3d_pipe_engine(p)) : NULL, hp3_stat_info[i].offset,
			false};
	i -= hp3_stat_count;
	if (i < hp3_probe_stat_count)
		return (struct place){hp3_probe_stat_info[i].name, hp3_probe_stat_info[i].help,
			a ? hp3d_agent_stats(a) : NULL, hp3_probe_stat_info[i].offset, false};
	i -= hp3_probe_stat_count;
	if (i < RTE_DIM(agent_counters))
		return place_of_named(&agent_counters[i], a ? hp3d_agent_counters(a) : NULL);
	i -= RTE_DIM(agent_counters);
	if (i < RTE_DIM(keys_counters))
		return place_of_named(&keys_counters[i], a ? hp3d_agent_keying_stats(a) : NULL);
	return place_in_pipe(i - RTE_DIM(keys_counters), p ? hp3d_pipe_counters(p) : NULL);
}

unsigned hp3d_counter_count(void)
{
	return hp3_stat_count + hp3_probe_stat_count + RTE_DIM(agent_counters) +
	       RTE_DIM(keys_counters) + RTE_DIM(pipe_counters) + HP3_CLASS_MAX +
	       HP3_PARSE_REASON_MAX;
}

struct hp3d_counter hp3d_counter(unsigned i)
{
	struct place x = place_of_counter(i, NULL);

	return (struct hp3d_counter){x.name, x.help, x.drop};
}

static uint64_t read_value(unsigned i, struct hp3d_pipe *p)
{
	struct place x = place_of_counter(i, p);

	return x.base != NULL ? hp3d_read_counter(x.base, x.offset) : 0;
}

uint64_t hp3d_counter_sum(unsigned i, unsigned rails, unsigned rail, unsigned worker)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		for (unsigned r = 0; r < rails; r++)
			if ((rail == HP3D_ALL || rail == r) && (worker == HP3D_ALL || worker == w))
				sum += read_value(i, hp3d_worker_pipe(hp3d_worker(w), r));
	return sum;
}
