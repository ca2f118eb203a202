/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fabric/switch.h"

#define KEPT_PACKETS  8u /* per port, out of the shared part */
#define RESUME_OFFSET 16 /* bytes of pool below the limit where a pause ends */

static uint32_t max_packet_bytes(const struct sim *s)
{
	return s->cfg.rnic.payload_bytes + s->cfg.rnic.header_bytes;
}

void sim_mmu_init(struct sim *s, struct sim_switch *sw, uint32_t node)
{
	const uint32_t *first = &s->topo.first_port[node];
	uint64_t headroom = 0,
		 kept = (uint64_t)(first[1] - first[0]) * KEPT_PACKETS * max_packet_bytes(s);
	uint64_t buffer = s->cfg.fabric.buffer_kib * UINT64_C(1024);

	for (uint32_t p = first[0]; p < first[1]; p++) {
		struct sim_port *port = &s->port[p];

		port->headroom = (uint32_t)(port->bps / 1000000 * port->delay * 2 / 8000000) +
				 2 * max_packet_bytes(s);
		headroom += port->headroom;
	}
	*sw = (struct sim_switch){.node = node,
		.buffer = (uint32_t)buffer,
		.shared = buffer > headroom + kept ? (uint32_t)(buffer - headroom - kept) : 0,
		.out_shared = buffer > kept ? (uint32_t)(buffer - kept) : 0};
}

/* Bytes of a queue beyond the packet that each queue has to itself. */
static uint32_t bytes_beyond_own(const struct sim *s, uint32_t bytes)
{
	uint32_t own = max_packet_bytes(s) + 1;

	return bytes > own ? bytes - own : 0;
}

bool sim_mmu_admit(struct sim *s, struct sim_switch *sw, struct sim_port *in, struct sim_port *out,
	uint32_t bytes, enum sim_drop *reason)
{
	uint32_t before = bytes_beyond_own(s, out->out_bytes),
		 after = bytes_beyond_own(s, out->out_bytes + bytes);
	uint64_t left = sw->out_shared > sw->out_used ? sw->out_shared - sw->out_used : 0;
	bool pool_full = sw->used > sw->shared;

	if (sw->used + bytes > sw->buffer) {
		*reason = SIM_DROP_BUFFER;
		return false;
	}
	if (s->cfg.fabric.pfc == SIM_OFF && after > before &&
		(before + (uint64_t)bytes) * 100 > left * s->cfg.fabric.egress_alpha_percent) {
		*reason = SIM_DROP_THRESHOLD;
		return false;
	}
	if (in->in_bytes + bytes > max_packet_bytes(s) && pool_full &&
		in->in_headroom + bytes > in->headroom) {
		*reason = s->cfg.fabric.pfc == SIM_ON ? SIM_DROP_HEADROOM : SIM_DROP_BUFFER;
		return false;
	}
	sw->used += bytes;
	sw->out_used += after - before;
	in->in_bytes += bytes;
	out->out_bytes += bytes;
	if (sw->used > sw->shared)
		in->in_headroom += bytes;
	return true;
}

void sim_mmu_release(const struct sim *s, struct sim_switch *sw, struct sim_port *in,
	struct sim_port *out, uint32_t bytes)
{
	sw->used -= bytes;
	sw->out_used -=
		bytes_beyond_own(s, out->out_bytes) - bytes_beyond_own(s, out->out_bytes - bytes);
	in->in_bytes -= bytes;
	in->in_headroom -= bytes < in->in_headroom ? bytes : in->in_headroom;
	out->out_bytes -= bytes;
}

/* alpha x what is free of the pool, less `offset`; may be negative. */
static int64_t ingress_limit(const struct sim *s, const struct sim_switch *sw, int64_t offset)
{
	int64_t left = (int64_t)sw->shared - (int64_t)sw->used - offset;

	return left * (int64_t)s->cfg.fabric.ingress_alpha_permyriad / 10000;
}

bool sim_mmu_must_pause(const struct sim *s, const struct sim_switch *sw, const struct sim_port *in)
{
	int64_t over = (int64_t)in->in_bytes - 2 * (int64_t)max_packet_bytes(s);

	return over > 0 && (over > ingress_limit(s, sw, 0) || in->in_headroom != 0);
}

bool sim_mmu_may_resume(const struct sim *s, const struct sim_switch *sw, const struct sim_port *in)
{
	int64_t over = (int64_t)in->in_bytes - 2 * (int64_t)max_packet_bytes(s);

	return over < ingress_limit(s, sw, RESUME_OFFSET) && in->in_headroom == 0;
}

bool sim_mmu_marks(struct sim *s, const struct sim_port *out)
{
	uint32_t queue = bytes_beyond_own(s, out->out_bytes);
	uint32_t kmin = s->cfg.fabric.kmin_bytes, kmax = s->cfg.fabric.kmax_bytes;
	uint64_t share; /* of 2^32 */

	if (kmax == 0 || queue <= kmin)
		return false;
	if (queue > kmax || kmin == kmax)
		return true;
	share = ((uint64_t)(queue - kmin) << 32) / (kmax - kmin) * s->cfg.fabric.pmax_percent / 100;
	return (hp3_random(&s->rng) >> 32) < share;
}
