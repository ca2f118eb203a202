/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the counters, all from the lists that define them. */
#include <stddef.h>
#include "app/hp3d/pipe/pipe.h"

static const struct hp3d_pipe_counter_info named[] = {
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

unsigned hp3d_pipe_counter_count(void)
{
	return RTE_DIM(named) + HP3_CLASS_MAX + HP3_PARSE_REASON_MAX;
}

struct hp3d_pipe_counter_info hp3d_pipe_counter(unsigned i)
{
	if (i < RTE_DIM(named))
		return named[i];
	i -= RTE_DIM(named);
	if (i < HP3_CLASS_MAX)
		return (struct hp3d_pipe_counter_info){class_names[i], "packets of this class",
			(uint16_t)(offsetof(struct hp3d_pipe_counters, class) +
				   i * sizeof(uint64_t)),
			false};
	i -= HP3_CLASS_MAX;
	return (struct hp3d_pipe_counter_info){reason_names[i],
		"packets that the parser judged so; forwarded",
		(uint16_t)(offsetof(struct hp3d_pipe_counters, reason) + i * sizeof(uint64_t)),
		false};
}
