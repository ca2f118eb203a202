/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_FILTER_H
#define HP3_ENGINE_FILTER_H
/*
 * Which flows may be moved. What a filter bars is forwarded in order on the port that its RNIC
 * writes, and nothing is probed for it. A filter that is zero bars none.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_FILTER_MAX 16u /* prefixes; ranges */
#define HP3_DSCPS      64u
#define HP3_NO_DSCP    0x7fu /* no request was seen yet */

struct hp3_prefix {
	bool ipv6;
	uint8_t bits;
	uint8_t addr[16]; /* network order; IPv4: the first four bytes */
};

struct hp3_qpns {
	uint32_t from, to; /* both included */
};

struct hp3_filter {
	struct hp3_prefix peer[HP3_FILTER_MAX]; /* remote addresses */
	struct hp3_qpns qpn[HP3_FILTER_MAX]; /* local QPNs */
	uint64_t dscp; /* bit n: DSCP n, of the first request of a queue pair; 0: all */
	uint8_t peers, qpns; /* so many of them; 0: all */
};

/* Why a flow stays where it is: the first that does not fit. */
enum hp3_bar { HP3_BAR_NONE, HP3_BAR_PEER, HP3_BAR_DSCP, HP3_BAR_QPN };
const char *hp3_bar_name(enum hp3_bar b);

static inline bool hp3_filter_is_set(const struct hp3_filter *f)
{
	return f->peers != 0 || f->dscp != 0 || f->qpns != 0;
}

bool hp3_filter_has_peer(const struct hp3_filter *f, bool ipv6, const uint8_t *addr);
bool hp3_filter_has_dscp(const struct hp3_filter *f, uint8_t dscp);
bool hp3_filter_has_qpn(const struct hp3_filter *f, uint32_t lqpn);

#endif
