/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>
#include "cc/dcqcn.h"

/*
 * "paper": the testbed of SIGCOMM 2015: 40 Gb/s, byte counter 10 MB, no hyper increase (its value
 * is that of additive increase). The paper names no minimum rate, so the preset has that of
 * ConnectX. "connectx": firmware defaults of ConnectX-4 and later. "hpcc" and "conweave": ns-3
 * models at 100 Gb/s, with increases by time only. A reduction sets target = rate only if the timer
 * has raised the rate since the last one. CONNECTX_VALUES: what these three presets share.
 */
#define CONNECTX_VALUES                                                                            \
	.clamp_tgt_rate_after_time_inc = 1, .rpg_time_reset = 300, .rpg_threshold = 1,             \
	.rpg_gd = 11, .rpg_min_dec_fac = 50, .dce_tcp_rtt = 1, .rate_reduce_monitor_period = 4,    \
	.raise = 50
const struct hp3_dcqcn_preset hp3_dcqcn_presets[] = {
	{.name = "paper",
		.rp = {.clamp_tgt_rate = 1,
			.rpg_time_reset = 55,
			.rpg_byte_reset = 10000000,
			.rpg_threshold = 5,
			.rpg_max_rate = 40000,
			.rpg_ai_rate = 40,
			.rpg_hai_rate = 40,
			.rpg_min_rate = 1,
			.rpg_gd = 11,
			.rpg_min_dec_fac = 50,
			.dce_tcp_g = 1020,
			.dce_tcp_rtt = 55,
			.rate_reduce_monitor_period = 50,
			.initial_alpha_value = 1024,
			.alpha_per_cnp = 1,
			.raise = 50},
		.min_time_between_cnps = 50,
		.kmin = 5000,
		.kmax = 200000,
		.pmax = 1},
	{.name = "connectx",
		.rp = {CONNECTX_VALUES, .rpg_byte_reset = 32767, .rpg_ai_rate = 5,
			.rpg_hai_rate = 50, .rpg_min_rate = 1, .dce_tcp_g = 1019,
			.initial_alpha_value = 1023},
		.min_time_between_cnps = 4},
	{.name = "hpcc",
		.rp = {CONNECTX_VALUES, .rpg_max_rate = 100000, .rpg_ai_rate = 20,
			.rpg_hai_rate = 200, .rpg_min_rate = 1000, .dce_tcp_g = 1020,
			.initial_alpha_value = 1024},
		.kmin = 400000,
		.kmax = 1600000,
		.pmax = 20},
	{.name = "conweave",
		.rp = {CONNECTX_VALUES, .rpg_max_rate = 100000, .rpg_ai_rate = 40,
			.rpg_hai_rate = 100, .rpg_min_rate = 100, .dce_tcp_g = 1020,
			.initial_alpha_value = 1024},
		.min_time_between_cnps = 4,
		.kmin = 100000,
		.kmax = 400000,
		.pmax = 20},
};

const unsigned hp3_dcqcn_presets_n = sizeof(hp3_dcqcn_presets) / sizeof(hp3_dcqcn_presets[0]);

const struct hp3_dcqcn_preset *hp3_dcqcn_preset(const char *name)
{
	for (unsigned i = 0; i < hp3_dcqcn_presets_n; i++)
		if (strcmp(hp3_dcqcn_presets[i].name, name) == 0)
			return &hp3_dcqcn_presets[i];
	return NULL;
}

const char *hp3_dcqcn_check(const struct hp3_dcqcn_params *p)
{
	if (p->rpg_max_rate == 0 || p->rpg_max_rate > 1000000)
		return "rpg_max_rate: set it to the line rate, 1 to 1000000 Mb/s";
	if (p->rpg_min_rate == 0 || p->rpg_min_rate > p->rpg_max_rate)
		return "rpg_min_rate: must be 1 Mb/s to rpg_max_rate";
	if (p->rpg_ai_rate > p->rpg_max_rate)
		return "rpg_ai_rate: must not exceed rpg_max_rate";
	if (p->rpg_hai_rate > p->rpg_max_rate)
		return "rpg_hai_rate: must not exceed rpg_max_rate";
	if (p->rate_to_set_on_first_cnp != 0 &&
		(p->rate_to_set_on_first_cnp < p->rpg_min_rate ||
			p->rate_to_set_on_first_cnp > p->rpg_max_rate))
		return "rate_to_set_on_first_cnp: must be 0 or rpg_min_rate to rpg_max_rate";
	if (p->rpg_threshold == 0 || p->rpg_threshold > 31)
		return "rpg_threshold: must be 1 to 31";
	if (p->rpg_time_reset == 0)
		return "rpg_time_reset: must be 1 us or more";
	if (p->dce_tcp_rtt == 0)
		return "dce_tcp_rtt: must be 1 us or more";
	if (p->rate_reduce_monitor_period == 0)
		return "rate_reduce_monitor_period: must be 1 us or more";
	if (p->dce_tcp_g > 1023)
		return "dce_tcp_g: must be 0 to 1023";
	if (p->initial_alpha_value == 0 || p->initial_alpha_value > 1024)
		return "initial_alpha_value: must be 1 to 1024";
	if (p->rpg_gd < 10 || p->rpg_gd > 11)
		return "rpg_gd: must be 10 or 11";
	if (p->rpg_min_dec_fac > 100)
		return "rpg_min_dec_fac: must be 0 to 100 %";
	if (p->raise > 100)
		return "raise: must be 0 to 100 %";
	return NULL;
}
