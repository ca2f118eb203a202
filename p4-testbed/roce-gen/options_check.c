/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks across options: rules between them, mixes of operations, DCQCN's parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include "base/minmax.h"
#include "base/plain.h"
#include "config/message.h"
#include "options.h"

#define RKEY_DEFAULT 0x68703301u
#define SEED_DRAWN   ((UINT64_C(1) << 48) - 1) /* survives readers of JSON that know doubles only */

static int reject_usage(const char *text)
{
	hp3_message("roce-gen: %s; see roce-gen --help", text);
	return GEN_EXIT_USAGE;
}

const char *const gen_op_names[GEN_OPS] = {[GEN_WRITE] = "write",
	[GEN_WRITE_IMM] = "write-imm",
	[GEN_SEND] = "send",
	[GEN_READ] = "read"};

/* "write" or "read:70,write:30". */
static bool parse_ops(struct gen_options *o)
{
	const char *at = o->ops;

	memset(o->weight, 0, sizeof(o->weight));
	for (;;) {
		size_t len = strcspn(at, ":,");
		unsigned long weight = 1;
		unsigned op = 0;

		while (op < GEN_OPS && (strlen(gen_op_names[op]) != len ||
					       strncmp(gen_op_names[op], at, len) != 0))
			op++;
		if (op == GEN_OPS)
			return false;
		at += len;
		if (*at == ':') {
			char *end;

			weight = strtoul(at + 1, &end, 10);
			if (end == at + 1 || weight == 0 || weight > 1000000)
				return false;
			at = end;
		}
		o->weight[op] += (uint32_t)weight;
		if (*at == '\0')
			return true;
		if (*at++ != ',')
			return false;
	}
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
	char rest;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2],
		       &mac[3], &mac[4], &mac[5], &rest) == 6;
}

static int check_load(const struct gen_options *o)
{
	if (o->load == GEN_LOAD_POISSON && o->load_mbps == 0)
		return reject_usage("--load poisson needs --load-mbps");
	if (o->load == GEN_LOAD_ALLREDUCE && o->ranks < 2)
		return reject_usage("--load allreduce needs --ranks, 2 or more");
	if (o->load == GEN_LOAD_ALLREDUCE &&
		(o->listen == NULL || o->n_peers != 1 || o->expect != 1))
		return reject_usage("--load allreduce needs --listen and one --connect: a ring");
	if (o->load == GEN_LOAD_ALLREDUCE && (o->cdf != NULL || o->size == 0))
		return reject_usage("--load allreduce needs --size, not --cdf");
	if (o->load == GEN_LOAD_POISSON && o->cdf == NULL && o->size == 0)
		return reject_usage("--load poisson needs --size above 0, or --cdf");
	return -1;
}

int gen_options_check(struct gen_options *o)
{
	if (o->interface == NULL)
		return reject_usage("--interface is missing");
	if (o->listen == NULL && o->n_peers == 0 && o->n_fixed == 0)
		return reject_usage("no peer: give --listen, --connect or --static");
	if (o->mtu & (o->mtu - 1))
		return reject_usage("--mtu is 256, 512, 1024, 2048 or 4096");
	if (!parse_ops(o))
		return reject_usage("--op is write, write-imm, send or read, or a mix such as "
				    "read:70,write:30");
	o->have_address = o->address_text != NULL;
	if (o->have_address && !gen_address_parse(o->address_text, &o->address))
		return reject_usage("--address is an IPv4 or IPv6 address");
	if (o->have_address)
		o->ipv6 = o->address.ipv6;
	o->have_dst_mac = o->dst_mac_text != NULL;
	if (o->have_dst_mac && !parse_mac(o->dst_mac_text, o->dst_mac))
		return reject_usage("--dst-mac is six bytes: 02:00:00:00:00:01");
	if ((o->n_peers + o->n_fixed) * o->qps > GEN_QPS_MAX)
		return reject_usage("--qps times the number of peers is at most 65536");
	if (!o->have_seed && getrandom(&o->seed, sizeof(o->seed), 0) != sizeof(o->seed))
		return reject_usage("no random numbers from the kernel: give --seed");
	if (!o->have_seed)
		o->seed &= SEED_DRAWN;
	if (o->name == NULL)
		o->name = o->interface;
	if (!hp3_is_plain(o->name))
		return reject_usage(
			"--name, by default that of the interface, is printable ASCII: give "
			"another");
	return check_load(o);
}

#define DCQCN_KEYS(X)                                                                              \
	X(clamp_tgt_rate)                                                                          \
	X(clamp_tgt_rate_after_time_inc)                                                           \
	X(rpg_time_reset)                                                                          \
	X(rpg_byte_reset)                                                                          \
	X(rpg_threshold)                                                                           \
	X(rpg_max_rate)                                                                            \
	X(rpg_ai_rate)                                                                             \
	X(rpg_hai_rate)                                                                            \
	X(rpg_min_rate)                                                                            \
	X(rpg_gd)                                                                                  \
	X(rpg_min_dec_fac)                                                                         \
	X(rate_to_set_on_first_cnp)                                                                \
	X(dce_tcp_g)                                                                               \
	X(dce_tcp_rtt)                                                                             \
	X(rate_reduce_monitor_period)                                                              \
	X(initial_alpha_value)                                                                     \
	X(alpha_per_cnp)

static bool set_dcqcn(struct hp3_dcqcn_params *p, const char *text)
{
	const struct {
		const char *name;
		uint32_t *value;
	} keys[] = {
#define X(name) {#name, &p->name},
		DCQCN_KEYS(X)
#undef X
	};
	size_t len = strcspn(text, "=");
	char *end;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		unsigned long value;

		if (strlen(keys[i].name) != len || strncmp(keys[i].name, text, len) != 0)
			continue;
		if (text[len] != '=')
			return false;
		value = strtoul(text + len + 1, &end, 10);
		*keys[i].value = (uint32_t)value;
		return end != text + len + 1 && *end == '\0' && value <= UINT32_MAX;
	}
	return false;
}

/* The preset's rates are those of the network it was published for: the link's bounds them. */
static int use_dcqcn(const struct gen_options *o, struct gen_endpoint_params *ep)
{
	const struct hp3_dcqcn_preset *preset = hp3_dcqcn_preset(o->dcqcn);
	const char *bad;

	if (preset == NULL)
		return reject_usage("--dcqcn is paper, connectx, hpcc or conweave");
	ep->dcqcn = true;
	ep->rp_params = preset->rp;
	if (o->link_mbps > 0) {
		uint32_t line = (uint32_t)o->link_mbps;

		ep->rp_params.rpg_max_rate = line;
		if (ep->rp_params.rpg_min_rate > line)
			ep->rp_params.rpg_min_rate = 1;
		ep->rp_params.rpg_ai_rate = hp3_min_u32(ep->rp_params.rpg_ai_rate, line);
		ep->rp_params.rpg_hai_rate = hp3_min_u32(ep->rp_params.rpg_hai_rate, line);
	}
	for (uint32_t i = 0; i < o->n_sets; i++) {
		if (!set_dcqcn(&ep->rp_params, o->sets[i])) {
			hp3_message(
				"roce-gen: --dcqcn-set %s: no such parameter, or no number: write "
				"rpg_ai_rate=5",
				o->sets[i]);
			return GEN_EXIT_USAGE;
		}
	}
	bad = hp3_dcqcn_check(&ep->rp_params);
	if (bad == NULL)
		return -1;
	hp3_message("roce-gen: --dcqcn: %s (--link-mbps sets the line rate)", bad);
	return GEN_EXIT_USAGE;
}

int gen_options_endpoint(const struct gen_options *o, struct gen_endpoint_params *ep)
{
	/* Who connects decides how many queue pairs there are; what is not used costs nothing. */
	uint64_t qps = o->listen != NULL ? GEN_QPS_MAX : (o->n_peers + o->n_fixed) * o->qps;

	*ep = (struct gen_endpoint_params){
		.requester = {.mtu = (uint32_t)o->mtu,
			.window = (uint32_t)o->window,
			.ack_every = (uint32_t)o->ack_every,
			.max_reads = (uint32_t)o->max_reads,
			.timeout = (uint8_t)o->timeout,
			.retry_count = (uint8_t)o->retry_count,
			.rnr_retry = (uint8_t)o->rnr_retry},
		.responder = {.mtu = (uint32_t)o->mtu,
			.rkey = RKEY_DEFAULT,
			.rnr_every = (uint32_t)o->rnr_every,
			.rnr_timer = (uint8_t)o->rnr_timer,
			.check = !o->no_check,
			.read_service_ns = o->read_service_us * 1000,
			.ack_delay_ns = o->ack_delay_us * 1000},
		.first_qpn = (uint32_t)o->first_qpn,
		.max_qps = (uint32_t)qps,
		.link_bps = o->link_mbps * 1000000,
		.qp_bps = o->qp_mbps * 1000000,
		.burst_ns = o->burst_us * 1000,
		.catch_up_ns = hp3_max_u64(o->catch_up_us, o->burst_us) * 1000,
		.np = !o->no_np,
		.np_params = {.min_time_between_cnps = (uint32_t)o->cnp_interval_us,
			.mode = HP3_NP_CNP},
		.cnp_tclass = (uint8_t)(o->cnp_dscp << 2),
		.priority = (uint8_t)o->priority,
		.cnp_priority = (uint8_t)o->cnp_priority,
	};
	if (!o->have_qpn)
		ep->first_qpn = 0x100 + (uint32_t)((o->seed * UINT64_C(0x9e3779b97f4a7c15)) >> 41);
	if (o->dcqcn == NULL)
		return o->n_sets == 0 ? -1 : reject_usage("--dcqcn-set needs --dcqcn");
	return use_dcqcn(o, ep);
}
