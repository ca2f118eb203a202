/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/missing.h"
#include <string.h>

#define FIRST_PART 64u /* the first wait is 1/64 of the longest wait */
#define ASK_LEVELS 2u /* doublings */

static uint64_t first_ns(const struct hp3_missing *m, uint64_t wait_ns)
{
	return wait_ns / FIRST_PART << m->level;
}

void hp3_missing_init(struct hp3_missing *m, uint16_t base)
{
	memset(m, 0, sizeof(*m));
	m->psn = HP3_NO_PSN;
	m->base = base;
}

/*
 * A new first gap begins. Adapts the first wait: was the missing packet of the previous gap lost,
 * or late?
 */
static void begin_gap(struct hp3_missing *m, uint32_t psn, uint64_t gap_at, uint64_t wait_ns)
{
	if (m->lost)
		m->level = 0;
	else if (m->asked != 0 && m->level < ASK_LEVELS)
		m->level++;
	m->psn = psn;
	m->came = 0;
	m->other = m->port = 0;
	m->asked = 0;
	m->lost = false;
	m->due = gap_at + first_ns(m, wait_ns);
}

void hp3_missing_behind(
	struct hp3_missing *m, uint32_t psn, uint64_t gap_at, uint64_t wait_ns, uint16_t port)
{
	uint32_t ev = (uint32_t)(port ^ m->base);

	if (m->psn != psn)
		begin_gap(m, psn, gap_at, wait_ns);
	if (ev < 64)
		m->came |= 1ull << ev;
	else
		m->other = port;
}

bool hp3_missing_asks(struct hp3_missing *m, uint32_t psn, uint64_t wait_ns, uint64_t now)
{
	if (now < hp3_missing_due(m, psn))
		return false;
	m->asked++;
	m->due = now + (first_ns(m, wait_ns) << m->asked);
	return true;
}

void hp3_missing_answered(struct hp3_missing *m, uint32_t psn, uint16_t port)
{
	if (m->psn != psn || m->asked == 0)
		return;
	m->asked = HP3_MISSING_ASKS;
	m->port = port;
}

static bool has_come(const struct hp3_missing *m, uint16_t port)
{
	uint32_t ev = (uint32_t)(port ^ m->base);

	return ev < 64 ? (m->came >> ev & 1) != 0 : port == m->other;
}

bool hp3_missing_lost(struct hp3_missing *m, uint32_t psn)
{
	if (m->psn != psn || m->lost || m->port == 0 || !has_come(m, m->port))
		return false;
	m->lost = true;
	return true;
}
