/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IRN (Mittal et al., SIGCOMM 2018), as in the simulator of ConWeave's authors. The responder
 * stores packets that arrive out of order, and answers each by a NAK with its PSN and the echo of
 * congestion. After the first NAK, the requester retransmits from the oldest unacknowledged packet
 * on: all packets that are neither acknowledged nor named in a NAK. This recovery ends when all
 * packets sent before it are acknowledged, or an ACK shows that no packet is missing. (In the
 * paper, only packets below one that was named count as lost, so its requester retransmits less.)
 * At most one bandwidth-delay product of the longest path is in flight. There are two time-outs.
 * With at most three packets in flight, a loss may cause no NAK, so the time-out is rto_low_us;
 * otherwise it is rto_high_us.
 */
#include "sim/host/host.h"

#define FEW_PACKETS 3u

static uint64_t window_of_flow(const struct sim *s, const struct sim_flow *f)
{
	uint64_t bdp = (uint64_t)((unsigned __int128)s->topo.max_rtt * f->port->bps / 8 / SIM_SEC);

	return bdp / s->cfg.rnic.payload_bytes;
}

bool sim_irn_ready(const struct sim *s, struct sim_flow *f)
{
	while (f->nxt < f->top && sim_bits_has(&f->sacked, f->nxt))
		f->nxt++;
	return f->nxt < f->limit && f->nxt - f->cumulative < window_of_flow(s, f);
}

uint64_t sim_irn_rto(const struct sim *s, const struct sim_flow *f)
{
	bool few = f->top <= f->cumulative + FEW_PACKETS + 1; /* the last one is not counted */

	return (few ? s->cfg.rnic.rto_low_us : s->cfg.rnic.rto_high_us) * SIM_US;
}

void sim_irn_timeout(struct sim_flow *f)
{
	f->nxt = f->una;
	f->recovering = true;
}

void sim_irn_reply(struct sim_flow *f, const struct sim_packet *p)
{
	if (p->psn > f->cumulative)
		f->cumulative = p->psn;
	if (p->kind == SIM_NAK && p->arg_psn >= f->una && p->arg_psn < f->top)
		sim_bits_set(&f->sacked, p->arg_psn);
	while (f->una < f->top && sim_bits_has(&f->sacked, f->una))
		f->una++;
	if (f->nxt < f->una)
		f->nxt = f->una;
	if (p->kind != SIM_NAK || f->una >= f->recover)
		f->recovering = false;
	if (p->kind != SIM_NAK || f->recovering)
		return;
	f->recovering = true;
	f->recover = f->nxt;
	f->nxt = f->una;
}

uint8_t sim_irn_answer(const struct sim_flow *f)
{
	return f->kept_end > f->expected ? SIM_NAK : SIM_ACK;
}

bool sim_irn_keep(struct sim *s, struct sim_flow *f, uint32_t psn)
{
	bool known = sim_bits_has(&f->got, psn);

	if (known)
		s->n.duplicates++;
	if (known && s->now < f->nak_until)
		return false;
	f->nak_until = s->now + s->cfg.rnic.nak_us * SIM_US;
	if (known)
		return true;
	sim_bits_set(&f->got, psn);
	s->n.delivered++;
	if (psn >= f->kept_end)
		f->kept_end = psn + 1;
	return true;
}
