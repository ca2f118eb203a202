/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/silence.h"

#define NEW_NS       3000000000ull
#define SILENT_NS    10000000000ull
#define FORGET_NS    60000000000ull
#define REQUESTS_MIN 16u

bool hp3d_silence_forget(struct hp3d_silence *s, uint64_t arrived, uint64_t requests)
{
	bool was = s->silent;

	*s = (struct hp3d_silence){.arrived = arrived, .requests = requests, .times = s->times};
	return was;
}

static bool has_lasted(const struct hp3d_silence *s, uint64_t now_ns)
{
	if (s->unanswered < REQUESTS_MIN)
		return false;
	return s->arrived == 0 ? now_ns - s->since_ns >= NEW_NS
			       : s->last_ns - s->since_ns >= SILENT_NS;
}

bool hp3d_silence_note(struct hp3d_silence *s, uint64_t arrived, uint64_t requests, uint64_t now_ns)
{
	bool given_up = s->arrived != 0 && s->unanswered != 0 && requests == s->requests &&
			now_ns - s->last_ns >= FORGET_NS;

	if (arrived != s->arrived || given_up)
		return hp3d_silence_forget(s, arrived, requests);
	if (requests != s->requests) {
		if (s->unanswered == 0)
			s->since_ns = now_ns;
		s->last_ns = now_ns;
		s->unanswered += requests - s->requests;
		s->requests = requests;
	}
	if (s->silent || !has_lasted(s, now_ns))
		return false;
	s->silent = true;
	s->times++;
	return true;
}
