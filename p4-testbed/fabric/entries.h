/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Table entries of one switch. The entries are made from the topology and the links that are up,
 * for two targets. SWX reads one line of text per entry (rte_swx_ctl_pipeline_table_entry_read()).
 * The target bmv2 reads one line of simple_switch_CLI per entry. The ECN thresholds of the queue
 * depth are in bytes for SWX, and in packets of MTU size for bmv2.
 */
#include "p4-testbed/fabric/net.h"

struct hp3_entry_value {
	const char *name; /* args: name of the action's parameter */
	uint32_t bits;
	uint8_t bytes[16]; /* the first bits / 8 bytes count; network order */
	int prefix; /* prefix length of an LPM key; -1: exact */
};

struct hp3_entry {
	const char *table, *action;
	unsigned n_keys, n_args; /* n_keys 0: the table's default action */
	struct hp3_entry_value key[2], arg[4];
};

/*
 * Calls fn for each entry of switch s, until fn returns a value other than 0. Returns the last
 * value of fn.
 */
int hp3_entries_each(const struct hp3_net *net, uint32_t s,
	int (*fn)(void *arg, const struct hp3_entry *e), void *arg);
/*
 * As hp3_entries_each(), but only for the table `ecmp_group`, whose entries change when links go
 * down or up.
 */
int hp3_entries_groups(const struct hp3_net *net, uint32_t s,
	int (*fn)(void *arg, const struct hp3_entry *e), void *arg);

/* Makes the entry of one route, for tests; `text` is ADDRESS/LENGTH. Returns 0 or -EINVAL. */
int hp3_entry_route(const char *text, uint32_t group, struct hp3_entry *e);

/* The largest burst of ICMP messages that a switch sends. */
#define HP3_ENTRY_ICMP_BURST(rate_pps) ((rate_pps) > 1000 ? (rate_pps) / 100 : 10)

#define HP3_ENTRY_TEXT 512u
void hp3_entry_swx(const struct hp3_entry *e, char *buf, size_t cap);
void hp3_entry_bmv2(const struct hp3_entry *e, uint32_t mtu, char *buf, size_t cap);
/* Writes the command that sets the meter of ICMP messages. */
void hp3_entry_bmv2_meter(uint32_t rate_pps, char *buf, size_t cap);
