/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The command line. One table (options.c) has the options' names, ranges, defaults and help texts.
 * Numbers are decimal integers, in the unit with which the option's name ends.
 */
#include "route.h"
#include "workload.h"

#define GEN_PEERS_MAX  64u
#define GEN_SPORTS_MAX 1024u
#define GEN_SETS_MAX   32u

/* Exit codes. */
enum gen_exit {
	GEN_EXIT_OK = 0,
	GEN_EXIT_FAILED = 1, /* roce-gen could not start, or lost a peer */
	GEN_EXIT_USAGE = 2,
	GEN_EXIT_INCOMPLETE = 3, /* a queue pair ended in error, or messages did not complete */
	GEN_EXIT_CONTENT = 4 /* received content differs from that sent */
};

extern const char *const gen_op_names[GEN_OPS];

struct gen_options {
	const char *interface, *listen, *peers[GEN_PEERS_MAX];
	const char *fixed[GEN_PEERS_MAX]; /* --static: queue pairs without a control connection */
	const char *cdf, *ops, *dcqcn, *sets[GEN_SETS_MAX], *messages_out, *output, *name;
	const char *dst_mac_text, *address_text;
	uint32_t n_peers, n_fixed, n_sets, n_sports;
	uint16_t sports[GEN_SPORTS_MAX];
	uint64_t expect, qps, load, size, depth, messages, load_mbps, gap_us, ranks, duration_ms;
	uint64_t mtu, window, ack_every, max_reads, timeout, retry_count, rnr_retry;
	uint64_t rnr_every, rnr_timer, read_service_us, ack_delay_us;
	uint64_t link_mbps, qp_mbps, burst_us, catch_up_us, cnp_interval_us;
	uint64_t dscp, cnp_dscp, priority, cnp_priority, vlan, ttl;
	uint64_t first_qpn, first_psn, seed, setup_ms, drain_ms, interval_ms, start_at_ms;
	bool bidirectional, no_ect, no_np, no_check, live, ipv6, have_qpn, have_psn, have_seed;
	bool have_address, have_dst_mac;
	struct gen_address address;
	uint8_t dst_mac[6];
	uint32_t weight[GEN_OPS];
};

/*
 * Sets *o from the command line. Returns -1 if the run may start; otherwise the exit code (after
 * --help, --version or an error).
 */
int gen_options_parse(struct gen_options *o, int argc, char **argv);
/*
 * Checks combinations of options, and parses options that are texts. gen_options_parse() calls this
 * function. Returns -1 or an exit code.
 */
int gen_options_check(struct gen_options *o);
/* Sets *ep from the options. Returns -1 or an exit code. */
int gen_options_endpoint(const struct gen_options *o, struct gen_endpoint_params *ep);
