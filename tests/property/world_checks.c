/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks at every probe, NAK and packet, and at the end. */
#include "world_internal.h"
#include "world_inside.h"

/* True if a READ or ATOMIC below `end` still waits for its response. */
static bool reads_wait(const struct world *w, uint32_t i, uint64_t end)
{
	const struct qp *q = &w->qps[i];

	for (uint64_t l = q->done; l < end && l < q->made; l = w->ring[i][l % RING].end) {
		if (is_read(w->ring[i][l % RING].opcode))
			return true;
	}
	return false;
}

/* Sent, and known to the engine: what waits to be polled cannot have been answered in part. */
static uint64_t outstanding(const struct qp *q)
{
	return q->nxt < q->shown ? q->nxt : q->shown;
}

/* Rules 1 and 2. */
void world_check_probe(struct world *w, uint32_t i, const struct hp3_act *a)
{
	struct qp *q = &w->qps[i];
	uint64_t lin = linear(q, a->psn, q->una);
	struct hp3_flow_info info = {0};
	bool asked_for = w->p.probes == HP3_PROBES_STANDARD ? a->op == HP3_PROBE_STANDARD
			 : w->p.probes == HP3_PROBES_PEER   ? a->op == HP3_PROBE_PEER
							    : true;

	if (!asked_for)
		VIOLATION(w, "a probe of kind %s", hp3_probe_kind_name(a->op));
	if (a->op == HP3_PROBE_STANDARD && lin >= q->exp && lin >= q->old_end)
		VIOLATION(w, "a probe that is no duplicate, qp %u: PSN %llu, expected %llu", i,
			(unsigned long long)lin, (unsigned long long)q->exp);
	hp3_flow_info(w->e, a->flow, w->now, &info);
	if (a->port != info.port && world_is_failed(w, a->flow, a->port))
		VIOLATION(w, "port %u is a candidate, but its path has failed", a->port);
	if (a->op == HP3_PROBE_PEER)
		return;
	if (q->in_net != 0 && w->r.crashes == 0)
		VIOLATION(w, "a probe like data while %u packets are on their way", q->in_net);
	if (w->p.loss_ppm + w->p.damage_ppm + w->p.behind_ppm == 0 && reads_wait(w, i, q->contig))
		VIOLATION(w, "a probe like data while a READ waits for its response");
	/* the ring has this queue pair's PSNs, and none of the previous one */
	if (lin >= RING && lin < q->made && is_read(w->ring[i][lin % RING].opcode))
		VIOLATION(w, "a probe with the PSN of a READ");
	if (w->now < q->probe_until)
		VIOLATION(w, "two probes like data in the air");
	q->probe_until = w->now + MAX_RTT;
	q->asked_until = w->now + 2ull * w->cfg.round.timeout_ns;
}

/* Rule 2, but that data may be on its way, lost or not. */
void world_check_ack_solicit(struct world *w, uint32_t i, const struct hp3_act *a)
{
	struct qp *q = &w->qps[i];
	uint64_t lin = linear(q, a->psn, q->una);

	if (lin >= q->exp && lin >= q->old_end)
		VIOLATION(w,
			"an ACK solicitation that is no duplicate, qp %u: PSN %llu, expected %llu",
			i, (unsigned long long)lin, (unsigned long long)q->exp);
	if (reads_wait(w, i, outstanding(q)))
		VIOLATION(w, "an ACK solicitation while a READ waits for its response, qp %u", i);
	if (w->p.observe)
		VIOLATION(w, "an ACK solicitation while only observing");
	q->asked_until = w->now + 2ull * w->cfg.round.timeout_ns;
}

/* Rule 4. */
void world_check_nak(struct world *w, uint32_t i, const struct hp3_act *a)
{
	struct qp *q = &w->qps[i];
	uint64_t lin = linear(q, a->psn, q->una);

	if (q->rnr_wait)
		VIOLATION(w, "a NAK cuts a running RNR timer short, queue pair %u", i);
	if (reads_wait(w, i, outstanding(q)))
		VIOLATION(w, "a NAK ends a READ half done, queue pair %u", i);
	if (lin == q->nak_psn)
		VIOLATION(w, "a second NAK for PSN %llu", (unsigned long long)lin);
	q->nak_psn = lin;
}

/* Rule 8: until the closing packet is acknowledged. */
static bool asks_still(const struct world *w, const struct qp *q)
{
	struct hp3_flow_info info;

	return !w->p.rnr && hp3_flow_info(w->e, q->flow, w->now, &info) == 0 &&
	       linear(q, info.una, q->closing) <= q->closing;
}

/* A packet leaves hp3d. */
void world_check_entry(struct world *w, struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];

	if (w->p.observe && k->port != HOME_PORT + k->qp)
		VIOLATION(w, "port %u while only observing", k->port);
	if (k->epoch != q->epoch || q->gone)
		return; /* its peer refuses all that comes, whether the RNIC knows or not */
	if (k->lin == q->closing && !k->ackreq && !is_read(k->opcode) && asks_still(w, q))
		VIOLATION(w, "closing PSN %llu without AckReq", (unsigned long long)k->lin);
	if (q->contig < q->exp)
		q->contig = q->exp;
	while (w->p.selective && q->contig < q->got_high && w->got[k->qp][q->contig % RING])
		q->contig++; /* arrived, behind a gap */
	if (k->lin > q->contig && !q->resync)
		VIOLATION(w, "gap: queue pair %u sends %llu, the receiver can go on with %llu%s",
			k->qp, (unsigned long long)k->lin, (unsigned long long)q->contig,
			q->resuming ? " (resuming)" : "");
	if (k->lin + k->span > q->contig)
		q->contig = k->lin + k->span;
	q->resync = false;
}

/* Every hold ends: behind a drain, behind a failover, at the pacer's rate (rule 14). */
void world_check_holds(struct world *w)
{
	uint64_t bound = w->cfg.max_hold_ns;

	if (w->p.stall_us != 0 && bound < w->cfg.close_timeout_ns)
		bound = w->cfg.close_timeout_ns;
	if (w->p.cc == HP3_CC_DCQCN)
		bound += w->rto_ns / 2;
	bound += 1000 * US;
	for (uint32_t s = 0; s < w->cfg.max_flows && w->nheld != 0; s++) {
		const struct pkt *k = w->hold[s].head;

		if (k != NULL && w->now - k->held_at > bound)
			VIOLATION(w, "queue pair %u held for %llu ns", k->qp,
				(unsigned long long)(w->now - k->held_at));
	}
}

/* Every packet is accounted for, once. Frees what is left. */
void world_check_sum(struct world *w)
{
	uint64_t inside = 0;

	for (uint32_t i = 0; i < w->heap.n; i++) {
		const struct event *event = heap_item(&w->heap, i, sizeof(*event));

		if (event->kind != EVENT_ARRIVE)
			continue;
		inside += !event->pkt->probe;
		free(event->pkt);
	}
	for (uint32_t i = w->ports[HP3_DIR_TX].head; i < w->ports[HP3_DIR_TX].tail; i++) {
		inside++;
		free(w->ports[HP3_DIR_TX].event[i].pkt);
	}
	for (uint32_t s = 0; s < w->cfg.max_flows; s++) {
		for (struct pkt *k = w->hold[s].head, *next; k != NULL; k = next) {
			next = k->next;
			inside++;
			free(k);
		}
	}
	if (w->r.emitted != w->r.arrived + w->r.lost + w->r.discarded + inside)
		VIOLATION(w,
			"packets do not add up: %llu out, %llu arrived, %llu lost, %llu discarded, "
			"%llu inside",
			(unsigned long long)w->r.emitted, (unsigned long long)w->r.arrived,
			(unsigned long long)w->r.lost, (unsigned long long)w->r.discarded,
			(unsigned long long)inside);
}
