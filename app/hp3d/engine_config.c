/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/engine_config.h"
#include "engine/trace.h"

#define BASE_AGE_LOG2 30u /* a base round trip that is too small heals within a minute */
#define MS            1000000ull
#define US            1000ull
#define PATH_LOSSES   3u /* rule 13 */
#define TRACE_BURST   4u
#define TELL_NS       1000000u /* a peer gets a report a millisecond at most */
#define PATH_EQUAL    20u /* percent above the best round trip that counts as equally good */

static const uint8_t probe_choice[] = {[HP3_PROBE_MODE_OFF] = HP3_PROBES_AUTO,
	[HP3_PROBE_MODE_AUTO] = HP3_PROBES_AUTO,
	[HP3_PROBE_MODE_PEER] = HP3_PROBES_PEER,
	[HP3_PROBE_MODE_STANDARD] = HP3_PROBES_STANDARD,
	[HP3_PROBE_MODE_NAK] = HP3_PROBES_NAK};
static const uint8_t cc_mode[] = {[HP3_CC_KEY_NATIVE] = HP3_CC_NATIVE,
	[HP3_CC_KEY_DCQCN] = HP3_CC_DCQCN,
	[HP3_CC_KEY_OFF] = HP3_CC_OFF};

static struct hp3_dcqcn_params dcqcn(const struct hp3_config *c)
{
	return (struct hp3_dcqcn_params){.clamp_tgt_rate = c->cc.clamp_tgt_rate,
		.clamp_tgt_rate_after_time_inc = c->cc.clamp_tgt_rate_after_time_inc,
		.rpg_time_reset = c->cc.rpg_time_reset,
		.rpg_byte_reset = c->cc.rpg_byte_reset,
		.rpg_threshold = c->cc.rpg_threshold,
		.rpg_max_rate = c->cc.rpg_max_rate,
		.rpg_ai_rate = c->cc.rpg_ai_rate,
		.rpg_hai_rate = c->cc.rpg_hai_rate,
		.rpg_min_rate = c->cc.rpg_min_rate,
		.rpg_gd = c->cc.rpg_gd,
		.rpg_min_dec_fac = c->cc.rpg_min_dec_fac,
		.rate_to_set_on_first_cnp = c->cc.rate_to_set_on_first_cnp,
		.dce_tcp_g = c->cc.dce_tcp_g,
		.dce_tcp_rtt = c->cc.dce_tcp_rtt,
		.rate_reduce_monitor_period = c->cc.rate_reduce_monitor_period,
		.initial_alpha_value = c->cc.initial_alpha_value,
		.raise = c->cc.raise};
}

static struct hp3_cc_params cc(const struct hp3_config *c)
{
	return (struct hp3_cc_params){.mode = cc_mode[c->cc.mode],
		.notify = c->cc.np == HP3_NP_KEY_ON ||
			  (c->cc.np == HP3_NP_KEY_AUTO && c->cc.mode != HP3_CC_KEY_NATIVE),
		.np = {.min_time_between_cnps = c->cc.min_time_between_cnps,
			.mode = c->cc.np_how == HP3_NP_HOW_CNP ? HP3_NP_CNP : HP3_NP_BECN,
			.scope = HP3_NP_PER_FLOW},
		.rp = dcqcn(c),
		.burst_bytes = c->cc.burst_bytes,
		.rto_ns = c->cc.rto_us * US,
		.max_rtt_ns = c->cc.max_rtt_us * US};
}

static struct hp3_round_params round_of(const struct hp3_config *c)
{
	uint32_t timeout = c->ppp.probe_timeout_us * 1000u;

	return (struct hp3_round_params){.timeout_ns = timeout,
		.guard_ns = timeout,
		.backoff_min_ns = c->ppp.backoff_min_us * 1000u,
		.backoff_max_ns = c->ppp.backoff_max_us * 1000u,
		.probes_per_second = c->ppp.probes_per_second,
		.probe_burst = (uint16_t)c->ppp.probe_burst,
		.improve = (uint16_t)c->ppp.improve,
		.allow_nak = c->ppp.probe == HP3_PROBE_MODE_NAK};
}

static struct hp3_paths_params paths(const struct hp3_config *c)
{
	return (struct hp3_paths_params){.fresh_ns = c->ppp.path_fresh_ms * MS,
		.recheck_ns = c->ppp.trace_recheck_ms * MS,
		.retry_ns = c->ppp.path_retry_ms * MS,
		.window_ns = c->ppp.probe_timeout_us * US,
		.rtt_factor = (uint16_t)c->ppp.rtt_factor,
		.ecn_fraction = (uint8_t)c->ppp.ecn_fraction,
		.losses = PATH_LOSSES,
		.equal = PATH_EQUAL};
}

struct hp3_engine_config hp3d_engine_config(const struct hp3_config *c, uint64_t seed)
{
	bool placing = c->ppp.identity == HP3_IDENTITY_KEY_TRACE && c->ppp.placement == HP3_ON;

	return (struct hp3_engine_config){
		.seed = seed,
		.max_flows = c->flows.max_flows,
		.max_pairs = c->flows.max_pairs,
		.max_moves = c->rfr.max_moves,
		.idle_age_ns = c->flows.idle_age_ms * MS,
		.dead_age_ns = c->flows.dead_age_ms * MS,
		.max_hold_ns = c->rfr.max_hold_us * US,
		.close_timeout_ns = c->rfr.close_timeout_us * US,
		.hold_bytes = c->rfr.hold_bytes,
		.hold_bytes_total = c->rfr.hold_bytes_total,
		.hold_packets = c->rfr.hold_packets,
		.challenge_timeout_ns = c->pairing.challenge_timeout_ms * MS,
		.challenge_hits = c->pairing.challenge_hits,
		.challenge_spread = c->pairing.challenge_spread,
		.challenge_quiet_ns = c->pairing.challenge_quiet_ms * MS,
		.monitor = {.cycle_ns = c->ppp.watch == HP3_ON ? c->ppp.cycle_us * 1000u : 0,
			.rtt_factor = (uint16_t)c->ppp.rtt_factor,
			.ecn_fraction = (uint8_t)c->ppp.ecn_fraction,
			.congestion_tolerance = (uint8_t)c->ppp.congestion_tolerance,
			.base_age_log2 = BASE_AGE_LOG2},
		.probing = c->ppp.probe != HP3_PROBE_MODE_OFF,
		.probes = probe_choice[c->ppp.probe],
		.candidates = (uint8_t)c->ppp.candidates,
		.max_concurrent = (uint16_t)c->ppp.max_concurrent,
		.cooldown_ns = c->rfr.cooldown_us * US,
		.move_wait_ns = c->rfr.move_wait_us * US,
		.verify_ns = c->rfr.verify_us * US,
		.stall_ns = c->rfr.stall_us * US,
		.peer_ns = c->ppp.peer_retry_ms * MS,
		.setup_probing = c->ppp.setup == HP3_ON,
		.setup_rounds = (uint8_t)c->ppp.setup_rounds,
		.wake_percent = (uint16_t)c->ppp.wake,
		.observe = c->policy.mode == HP3_POLICY_OBSERVE,
		.round = round_of(c),
		.paths = paths(c),
		.trace = c->ppp.identity == HP3_IDENTITY_KEY_TRACE,
		.traces = {c->ppp.traces_per_second, TRACE_BURST},
		.trace_timeout_ns = c->ppp.probe_timeout_us * US,
		.load_paths = placing ? HP3_HOPS : 0,
		.load_age_ns = c->ppp.path_fresh_ms * MS,
		.tell_ns = TELL_NS,
		.cc = cc(c),
		.pair_by_cm = c->pairing.cm == HP3_ON,
		.pair_by_challenge = c->pairing.challenge == HP3_ON,
		.moves_allowed = c->policy.mode == HP3_POLICY_ON,
	};
}
