/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Selects the flows that may move. The engine forwards other flows in order on the RNIC's port, and
 * sends no probes for them. An all-zero filter selects all flows.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_FILTER_MAX 16u /* most prefixes; also the most QPN ranges */
#define HP3_DSCPS      64u
#define HP3_NO_DSCP    0x7fu /* no request has been seen yet */

struct hp3_prefix {
	bool ipv6;
	uint8_t bits;
	uint8_t addr[16]; /* network order; IPv4: the first four bytes */
};

struct hp3_qpns {
	uint32_t from, to; /* both inclusive */
};

struct hp3_filter {
	struct hp3_prefix peer[HP3_FILTER_MAX]; /* remote addresses */
	struct hp3_qpns qpn[HP3_FILTER_MAX]; /* local QPNs */
	uint64_t dscp; /* bit n: DSCP n in the first request of a queue pair; 0: all */
	uint8_t peers, qpns; /* number of prefixes; number of ranges; 0: all peers, all QPNs */
};

/* The first condition of the filter that a flow does not meet; NONE: the flow may move. */
enum hp3_bar { HP3_BAR_NONE, HP3_BAR_PEER, HP3_BAR_DSCP, HP3_BAR_QPN };
const char *hp3_bar_name(enum hp3_bar b);

static inline bool hp3_filter_is_set(const struct hp3_filter *f)
{
	return f->peers != 0 || f->dscp != 0 || f->qpns != 0;
}

bool hp3_filter_has_peer(const struct hp3_filter *f, bool ipv6, const uint8_t *addr);
bool hp3_filter_has_dscp(const struct hp3_filter *f, uint8_t dscp);
bool hp3_filter_has_qpn(const struct hp3_filter *f, uint32_t lqpn);
