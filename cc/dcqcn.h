/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_DCQCN_H
#define HP3_CC_DCQCN_H
/*
 * DCQCN reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015, section 3; IEEE 802.1Qau clause 30 for the increase phases): from the CNPs of one queue
 * pair and the bytes it sends follows the rate that it may send at. For RNICs that have no
 * congestion control of their own.
 *
 *     CNP                  target = rate (see clamp_tgt_rate), rate -= rate * alpha / 2^(rpg_gd -
 *                          10), stages and timers start over; at most once in
 *                          rate_reduce_monitor_period: a CNP that comes earlier takes effect when
 *                          the period ends, several of them once
 *     every rpg_time_reset, every rpg_byte_reset bytes: one increase step, its stage counts up
 *       fast recovery      if max(time stage, byte stage) < F
 *       hyper increase     if min(time stage, byte stage) > F:  target += rpg_hai_rate
 *       additive increase  otherwise:                           target += rpg_ai_rate
 *       then in each                                            rate = (rate + target) / 2
 *     every dce_tcp_rtt    alpha = k * alpha, + (1 - k) if a CNP came; k = dce_tcp_g / 1024
 *
 * Starts at line rate with nothing running; the first CNP starts the timers. ConnectX reduces at
 * the end of the monitor period in which the CNP came; here the first one reduces at once, later
 * ones in the period at its end: as seldom, at most one period sooner.
 *
 * Parameters may change between calls; the next call brings the rates within new bounds.
 *
 * Invariants: min rate <= rate <= target <= line rate; 0 <= alpha <= 1. Time is nanoseconds, an
 * argument, and does not go back; rates are bit/s. Nothing runs by itself: every call first catches
 * up with `now`, however long ago the last one was, in bounded time, and the state depends only on
 * the CNPs and the bytes sent, never on how often one asked: alpha is kept as of the last CNP and
 * its decay is a power computed when wanted; increase steps are taken one by one only until the
 * distance of rate and target has settled, then all at once.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_ALPHA_ONE (1u << 31) /* alpha = 1 */

/* Names, units and ranges are those of ConnectX (ecn/roce_rp), which uses 802.1Qau's. */
struct hp3_dcqcn_params {
	uint32_t clamp_tgt_rate; /* 1: every reduction sets target = rate, as in the paper */
	/* 1: only if the timer raised the rate since the last */
	uint32_t clamp_tgt_rate_after_time_inc;
	uint32_t rpg_time_reset; /* us between increase steps by time */
	/* bytes between increase steps by volume; 0: none, time alone counts */
	uint32_t rpg_byte_reset;
	uint32_t rpg_threshold; /* F, steps of fast recovery; 1 to 31 */
	/* Mb/s, the line rate; presets of NICs leave it 0, to be filled in */
	uint32_t rpg_max_rate;
	uint32_t rpg_ai_rate; /* Mb/s */
	uint32_t rpg_hai_rate; /* Mb/s; equal to rpg_ai_rate: no hyper increase */
	uint32_t rpg_min_rate; /* Mb/s */
	uint32_t rpg_gd; /* 10: a reduction by alpha, 11: by alpha / 2 */
	uint32_t rpg_min_dec_fac; /* %, what one reduction leaves at least */
	uint32_t rate_to_set_on_first_cnp; /* Mb/s; 0: the first CNP reduces like any other */
	/* of 1024: what alpha keeps per period; the paper's g is 1 - this / 1024 */
	uint32_t dce_tcp_g;
	uint32_t dce_tcp_rtt; /* us, the alpha period */
	uint32_t rate_reduce_monitor_period; /* us, the decrease interval */
	uint32_t initial_alpha_value; /* of 1024: alpha at the first CNP */
	/* 1: alpha grows with each CNP and its timer starts over (paper); 0: with the timer
	 * (ConnectX, simulators) */
	uint32_t alpha_per_cnp;
	uint32_t raise; /* %, see hp3_dcqcn_raise(); not a DCQCN parameter */
};

/* A published set: the reaction point, and what belongs to it at the receiver and the switches. */
struct hp3_dcqcn_preset {
	const char *name;
	struct hp3_dcqcn_params rp;
	uint32_t min_time_between_cnps; /* us; 0: with every ACK */
	uint32_t kmin,
		kmax; /* bytes of queue where ECN marking begins, and where it reaches pmax */
	uint32_t pmax; /* % of packets marked at kmax; kmax = 0: left to the switch */
};

/* "paper", "connectx", "hpcc", "conweave"; the last two are the ns-3 simulators of these papers. */
extern const struct hp3_dcqcn_preset hp3_dcqcn_presets[];
extern const unsigned hp3_dcqcn_presets_n;
/* NULL if there is none of that name. */
const struct hp3_dcqcn_preset *hp3_dcqcn_preset(const char *name);

/* NULL if the parameters are sound, else what is wrong and what would be right. */
const char *hp3_dcqcn_check(const struct hp3_dcqcn_params *p);

struct hp3_dcqcn {
	uint64_t rate, target;
	uint64_t inc_at; /* next increase step by time */
	uint64_t reduce_at; /* no reduction before */
	uint64_t alpha_at; /* alpha is as of here: start of an alpha period */
	uint32_t alpha; /* of HP3_ALPHA_ONE */
	uint32_t bytes; /* sent since the last increase step by volume */
	uint8_t time_stage, byte_stage; /* steps since the last reduction, up to 255 */
	uint8_t flags;
};

_Static_assert(sizeof(struct hp3_dcqcn) <= 64, "one cache line");

void hp3_dcqcn_init(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p);
/* Timers up to and including `now`. */
void hp3_dcqcn_advance(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);
/* A CNP, or an ACK with BECN, of this queue pair. */
void hp3_dcqcn_cnp(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);
/* A packet of `bytes` left. */
void hp3_dcqcn_sent(
	struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint32_t bytes, uint64_t now);
/* alpha at `now`, which is not before the last call that changed the state. */
uint32_t hp3_dcqcn_alpha(
	const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now);

/* As of the last call with a time: advance first. */
static inline uint64_t hp3_dcqcn_rate(const struct hp3_dcqcn *rp)
{
	return rp->rate;
}

/* What a move keeps from the moment when sending was suspended. */
struct hp3_dcqcn_snapshot {
	struct hp3_dcqcn rp;
	uint64_t at;
};

void hp3_dcqcn_take(struct hp3_dcqcn_snapshot *s, struct hp3_dcqcn *rp,
	const struct hp3_dcqcn_params *p, uint64_t now);

/*
 * Fast recovery (HP3, section "Fast Recovery"): sending resumes on the old path with the rate from
 * before the suspension. All is as it was, every timer with the time that it had left: for DCQCN
 * the suspension did not take place.
 */
void hp3_dcqcn_rollback(struct hp3_dcqcn *rp, const struct hp3_dcqcn_snapshot *s, uint64_t now);

/*
 * After a switch: the rate of the snapshot plus `raise` % of what it lacks to line rate; the target
 * is line rate. So CNPs that came during the drain, which spoke of the old path, count no more, and
 * the alpha of the old path is forgotten: the first CNP on the new path finds initial_alpha_value,
 * like that of a new queue pair, and takes back up to half.
 *
 * The presets raise by 50 %. The probe that chose the path proves that its queues are short, not
 * that it is idle: one flow at line rate alone leaves them short too. Half of what is missing is
 * the step that fast recovery itself takes, here with line rate as its goal; the next steps follow
 * by the timer unless a CNP objects. 100 starts like a new queue pair, 0 leaves it to the timers.
 */
void hp3_dcqcn_raise(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p,
	const struct hp3_dcqcn_snapshot *s, uint64_t now);

/*
 * What is known of the path says that it would give `rate` (share.h): if the rate is below it, it
 * goes there, up to line rate. The first CNP afterwards takes back what that gave, or more: alpha
 * is as the last CNP left it, or larger. What it lost since then belongs to the slow climb that a
 * lift leaves out; with what is left the flow would hardly answer. All else goes on as it was.
 */
void hp3_dcqcn_lift(
	struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t rate, uint64_t now);

#endif
