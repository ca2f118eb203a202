/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * DCQCN reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015, section 3; IEEE 802.1Qau clause 30 for the increase phases). The reaction point computes
 * the sending rate of one queue pair from its CNPs and from the bytes that it sends. hp3 uses the
 * reaction point for RNICs without congestion control of their own.
 *
 *     CNP                  target = rate (see clamp_tgt_rate), rate -= rate * alpha / 2^(rpg_gd -
 *                          10), stages and increase timers restart. At most once in
 *                          rate_reduce_monitor_period: all CNPs that arrive earlier cause one
 *                          reduction at the end of the period
 *     every rpg_time_reset, every rpg_byte_reset bytes: one increase step, its stage counts up
 *       fast recovery      if max(time stage, byte stage) < F
 *       hyper increase     if min(time stage, byte stage) > F:  target += rpg_hai_rate
 *       additive increase  otherwise:                           target += rpg_ai_rate
 *       then in each                                            rate = (rate + target) / 2
 *     every dce_tcp_rtt    alpha = k * alpha, + (1 - k) if a CNP arrived; k = dce_tcp_g / 1024
 *
 * The rate starts at line rate, and no timer runs. The first CNP starts the timers.
 *
 * Difference from ConnectX: ConnectX reduces the rate at the end of the monitor period in which the
 * CNP arrived. In hp3, the first reduction is immediate, and a further reduction within the period
 * happens at the end of the period. Reductions are as rare as in ConnectX, and at most one period
 * earlier.
 *
 * Parameters may change between calls. The next call brings the rates within the new bounds.
 *
 * Invariants: min rate <= rate <= target <= line rate; 0 <= alpha <= 1. Time is in ns, an argument,
 * and never goes back. Rates are bit/s.
 *
 * No timer runs outside of calls. Each call first processes all timers up to `now`, in bounded
 * time. The state depends only on the CNPs and on the bytes sent, not on the number of calls. The
 * state has alpha as of the last CNP. When a function needs alpha, it computes the decay since then
 * as a power. Each increase step is computed separately until the distance of rate and target is
 * constant. All remaining steps are then computed at once.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_ALPHA_ONE (1u << 31) /* alpha = 1 */

/* Names, units and ranges are those of ConnectX (ecn/roce_rp), which uses those of 802.1Qau. */
struct hp3_dcqcn_params {
	uint32_t clamp_tgt_rate; /* 1: every reduction sets target = rate (paper) */
	/* 1: a reduction sets target = rate only if the timer raised the rate since the last
	 * reduction */
	uint32_t clamp_tgt_rate_after_time_inc;
	uint32_t rpg_time_reset; /* us between increase steps by time */
	/* bytes between increase steps by volume; 0: steps by time only */
	uint32_t rpg_byte_reset;
	uint32_t rpg_threshold; /* F: steps of fast recovery, 1 to 31 */
	/* Mb/s, the line rate; 0 in the preset "connectx": the caller sets it */
	uint32_t rpg_max_rate;
	uint32_t rpg_ai_rate; /* Mb/s */
	uint32_t rpg_hai_rate; /* Mb/s; if equal to rpg_ai_rate, there is no hyper increase */
	uint32_t rpg_min_rate; /* Mb/s */
	uint32_t rpg_gd; /* 10: a CNP reduces the rate by alpha, 11: by alpha / 2 */
	uint32_t rpg_min_dec_fac; /* %: a reduction leaves at least this part of the rate */
	/* Mb/s; 0, or above the rate: the first CNP reduces like any other */
	uint32_t rate_to_set_on_first_cnp;
	/* k, of 1024: factor of alpha per period; the paper's g is 1 - dce_tcp_g / 1024 */
	uint32_t dce_tcp_g;
	uint32_t dce_tcp_rtt; /* us, the alpha period */
	uint32_t rate_reduce_monitor_period; /* us, the decrease interval */
	uint32_t initial_alpha_value; /* of 1024: alpha before the first CNP */
	/*
	 * 1: alpha grows with each CNP, and its timer restarts (paper); 0: alpha grows when its
	 * timer ends (ConnectX, simulators)
	 */
	uint32_t alpha_per_cnp;
	uint32_t raise; /* %, see hp3_dcqcn_raise(); not a DCQCN parameter */
};

/*
 * A published set of parameters: of the reaction point, of the notification point, and of ECN
 * marking in switches.
 */
struct hp3_dcqcn_preset {
	const char *name;
	struct hp3_dcqcn_params rp;
	uint32_t min_time_between_cnps; /* us, of the notification point; 0: no minimum */
	uint32_t kmin,
		kmax; /* bytes of queue: marking starts at kmin, and has probability pmax at kmax */
	uint32_t pmax; /* %, of packets at kmax; kmax = 0: the preset has no values for switches */
};

/*
 * "paper", "connectx", "hpcc", "conweave". The last two have the values of the ns-3 simulators of
 * the papers HPCC and ConWeave.
 */
extern const struct hp3_dcqcn_preset hp3_dcqcn_presets[];
extern const unsigned hp3_dcqcn_presets_n;
/* NULL if there is no preset of that name. */
const struct hp3_dcqcn_preset *hp3_dcqcn_preset(const char *name);

/* NULL if the parameters are valid; otherwise a message with the error and the fix. */
const char *hp3_dcqcn_check(const struct hp3_dcqcn_params *p);

struct hp3_dcqcn {
	uint64_t rate, target;
	uint64_t inc_at; /* time of the next increase step by time */
	uint64_t reduce_at; /* no reduction before this time */
	uint64_t alpha_at; /* `alpha` is as of this time, the start of an alpha period */
	uint32_t alpha; /* fraction of HP3_ALPHA_ONE */
	uint32_t bytes; /* sent since the last increase step by volume */
	uint8_t time_stage, byte_stage; /* steps since the last reduction, up to 255 */
	uint8_t flags;
};

_Static_assert(sizeof(struct hp3_dcqcn) <= 64, "one cache line");

void hp3_dcqcn_init(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p);
/* Processes all timers up to and including `now`. */
void hp3_dcqcn_advance(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);
/* A CNP, or an ACK with BECN, arrived for this queue pair. */
void hp3_dcqcn_cnp(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);
/* The queue pair sent a packet of `bytes`. */
void hp3_dcqcn_sent(
	struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint32_t bytes, uint64_t now);
/* alpha at `now`. `now` must not be before the last call that changed the state. */
uint32_t hp3_dcqcn_alpha(
	const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);

/* The rate as of the last call with a time; call hp3_dcqcn_advance() first. */
static inline uint64_t hp3_dcqcn_rate(const struct hp3_dcqcn *rp)
{
	return rp->rate;
}

/* The state at the time at which a move suspended sending. */
struct hp3_dcqcn_snapshot {
	struct hp3_dcqcn rp;
	uint64_t at;
};

void hp3_dcqcn_take(struct hp3_dcqcn_snapshot *s, struct hp3_dcqcn *rp,
	const struct hp3_dcqcn_params *p, uint64_t now);

/*
 * Fast recovery (HP3, section "Fast Recovery"): sending resumes on the old path with the rate from
 * before the suspension. All timers have the remaining time that they had at the suspension. So the
 * suspension has no effect on DCQCN.
 */
void hp3_dcqcn_rollback(struct hp3_dcqcn *rp, const struct hp3_dcqcn_snapshot *s, uint64_t now);

/*
 * After a move to another path: the rate is the snapshot's rate plus `raise` % of the difference to
 * line rate. The target is line rate. CNPs that arrived during the drain were about the old path,
 * so they have no effect. alpha becomes initial_alpha_value again, as for a new queue pair, because
 * its value was about the old path. So the first CNP on the new path reduces the rate by up to
 * half.
 *
 * The presets raise by 50 %. The probe that chose the path proves that the queues of the path are
 * short. It does not prove that the path is idle: a single flow at line rate also leaves queues
 * short. A step of fast recovery with line rate as its target also adds half of the difference. If
 * no CNP arrives, the timer makes the next steps. With `raise` 100, the queue pair starts like a
 * new one. With 0, only the timers raise the rate.
 */
void hp3_dcqcn_raise(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p,
	const struct hp3_dcqcn_snapshot *s, uint64_t now);
