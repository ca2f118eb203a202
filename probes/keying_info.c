/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: events, and the list of peers for operators. */
#include "base/minmax.h"
#include "base/names.h"
#include "probes/keying_internal.h"

void hp3_keying_report(struct hp3_keying *k, const struct hp3_keying_event *event)
{
	if (k->n_events == HP3_KEYING_EVENTS_KEPT) {
		k->stats->events_lost++;
		return;
	}
	k->event[(k->first_event + k->n_events++) % HP3_KEYING_EVENTS_KEPT] = *event;
}

bool hp3_keying_event(struct hp3_keying *k, struct hp3_keying_event *event)
{
	if (k->n_events == 0)
		return false;
	*event = k->event[k->first_event];
	k->first_event = (k->first_event + 1) % HP3_KEYING_EVENTS_KEPT;
	k->n_events--;
	return true;
}

const char *hp3_keying_state_name(enum hp3_keying_state s)
{
	static const char *const name[] = {HP3_KEYING_STATES(HP3_NAME_TEXT)};

	return HP3_NAME(name, s);
}

static struct hp3_keying_info info_of(const struct hp3_keying_peer *p)
{
	struct hp3_keying_info info = {.ends = p->ends, .vlan = p->vlan, .state = HP3_KEYING_ASKED};

	info.since = p->since;
	if (p->keyed) {
		info.state = HP3_KEYING_HAS_KEY;
		info.we_began = p->we_began;
		info.doubted = p->doubted != 0;
		info.heard = p->heard;
		memcpy(info.public, p->public, sizeof(info.public));
		return info;
	}
	info.cloned = p->cloned != 0;
	if (p->trial.state == HP3_TRIAL_WANTED || p->trial.state == HP3_TRIAL_AWAY) {
		info.state = HP3_KEYING_COMPUTING;
		info.since = p->trial.since;
	}
	return info;
}

uint32_t hp3_keying_list(
	const struct hp3_keying *k, uint32_t *at, struct hp3_keying_info *info, uint32_t n)
{
	uint32_t found = 0;
	uint64_t end = hp3_min_u64(k->cfg.peers, (uint64_t)*at + HP3_KEYING_LISTED);

	for (; *at < end && found < n; ++*at)
		if (k->peer[*at].used)
			info[found++] = info_of(&k->peer[*at]);
	if (*at >= k->cfg.peers)
		*at = HP3_KEYING_LAST;
	return found;
}
