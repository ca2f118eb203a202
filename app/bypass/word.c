/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of a port (state and number of frames), and the owner's keep-alive. */
#include "app/bypass/bypass.h"
#include "app/clock.h"

/* After so many stale_ns without a heartbeat, the owner counts as gone. */
#define ALIVE_PERIODS 2u

uint64_t hp3_bypass_now(void)
{
	return hp3_clock_ns(CLOCK_MONOTONIC);
}

bool hp3_bypass_change(
	struct hp3_bypass_port *p, enum hp3_bypass_state from, enum hp3_bypass_state to)
{
	__u64 word = __atomic_load_n(&p->word, __ATOMIC_ACQUIRE);

	do {
		if ((word & HP3_BYPASS_STATE) != from)
			return false;
	} while (!__atomic_compare_exchange_n(&p->word, &word,
		(word & ~(uint64_t)HP3_BYPASS_STATE) | to, false, __ATOMIC_ACQ_REL,
		__ATOMIC_ACQUIRE));
	return true;
}

bool hp3_bypass_gone(struct hp3_bypass_port *p)
{
	__u64 word = __atomic_load_n(&p->word, __ATOMIC_ACQUIRE);

	if ((word & HP3_BYPASS_STATE) != HP3_BYPASS_LEAVING)
		return (word & HP3_BYPASS_STATE) == HP3_BYPASS_DIRECT;
	return word / HP3_BYPASS_FRAME == p->done + p->lost &&
	       __atomic_compare_exchange_n(&p->word, &word,
		       word - HP3_BYPASS_LEAVING + HP3_BYPASS_DIRECT, false, __ATOMIC_ACQ_REL,
		       __ATOMIC_ACQUIRE);
}

bool hp3_bypass_is_used(const struct hp3_bypass_port *p, uint64_t owner, uint64_t now)
{
	return p->owner != 0 && p->owner != owner &&
	       (int64_t)(now - p->heartbeat_at) < (int64_t)(ALIVE_PERIODS * p->stale_ns);
}
