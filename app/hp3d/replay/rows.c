/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flows: a row for each stream, and what helps those that are not paired. */
#include "app/hp3d/replay/internal.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <rte_common.h>

struct row_text {
	char src[64], dst[96], ops[64]; /* dst: with VLAN ids */
};

static void format_address(char *to, size_t cap, const struct hp3d_replay_row *row, bool src)
{
	inet_ntop(row->key.ipv6 ? AF_INET6 : AF_INET, src ? row->key.src : row->key.dst, to,
		(socklen_t)cap);
}

/* VLAN ids behind the destination, as in names of flows (app/flowid.h). */
static void format_vlan(char *to, size_t cap, uint32_t vlan)
{
	size_t n = strlen(to);
	uint32_t inner = vlan >> HP3_VLAN_INNER_SHIFT & HP3_VLAN_ID;

	if (vlan == 0)
		return;
	n += (size_t)snprintf(
		to + n, cap - n, " vlan %s%u", vlan & HP3_VLAN_AD ? "s" : "", vlan & HP3_VLAN_ID);
	if (inner != 0 || (vlan & HP3_VLAN_INNER_AD))
		snprintf(to + n, cap - n, ".%s%u", vlan & HP3_VLAN_INNER_AD ? "s" : "", inner);
}

static void format_row(const struct hp3d_replay_row *row, struct row_text *t)
{
	static const char *const names[] = {
		"SEND", "WRITE", "READ", "ATOMIC", "FLUSH", "ATOMIC-WRITE", "other"};

	format_address(t->src, sizeof(t->src), row, true);
	format_address(t->dst, sizeof(t->dst), row, false);
	format_vlan(t->dst, sizeof(t->dst), row->key.vlan);
	t->ops[0] = '\0';
	for (unsigned i = 0; i < RTE_DIM(names); i++) {
		size_t n = strlen(t->ops);

		if (row->ops & 1u << i)
			snprintf(
				t->ops + n, sizeof(t->ops) - n, "%s%s", n > 0 ? "," : "", names[i]);
	}
	if (row->ops == 0)
		snprintf(t->ops, sizeof(t->ops), "-");
}

static json_t *row_json(const struct hp3d_replay_row *row)
{
	struct row_text t;
	json_t *j;

	format_row(row, &t);
	format_address(t.dst, sizeof(t.dst), row, false); /* "vlan" has the VLAN */
	j = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		      "s:I, s:b}",
		"src", t.src, "dst", t.dst, "vlan", (json_int_t)row->key.vlan, "qpn",
		(json_int_t)row->key.qpn, "sport", (json_int_t)row->sport, "operations", t.ops,
		"requests", (json_int_t)row->requests, "bytes", (json_int_t)row->bytes, "replies",
		(json_int_t)row->replies, "first_psn", (json_int_t)row->first_psn, "last_psn",
		(json_int_t)row->last_psn, "retransmits", (json_int_t)row->retransmits, "reordered",
		(json_int_t)row->reordered, "copies", (json_int_t)row->copies, "naks",
		(json_int_t)row->naks, "rnr_naks", (json_int_t)row->rnrs, "paired", row->paired);
	if (row->paired)
		json_object_set_new(j, "peer_qpn", json_integer((json_int_t)row->peer_qpn));
	else
		json_object_update_new(
			j, json_pack("{s:s, s:s, s:s}", "reason", hp3_unpaired_text(row->reason),
				   "reason_code", hp3_unpaired_name(row->reason), "help",
				   hp3_unpaired_capture_help(row->reason)));
	return j;
}

json_t *hp3d_replay_rows_json(const struct hp3d_replay_flows *flows)
{
	json_t *j = json_array();
	struct hp3d_replay_row row;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(flows, &at, &row))
		json_array_append_new(j, row_json(&row));
	return j;
}

struct widths {
	int src, dst, ops;
};

static struct widths widths_of(const struct hp3d_replay_flows *flows)
{
	struct widths w = {4, 2, 10};
	struct hp3d_replay_row row;
	struct row_text t;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(flows, &at, &row)) {
		format_row(&row, &t);
		w.src = RTE_MAX(w.src, (int)strlen(t.src));
		w.dst = RTE_MAX(w.dst, (int)strlen(t.dst));
		w.ops = RTE_MAX(w.ops, (int)strlen(t.ops));
	}
	return w;
}

static void print_row(const struct hp3d_replay_row *row, const struct widths *w)
{
	struct row_text t;
	char psns[24] = "-", peer[16] = "-";

	format_row(row, &t);
	if (row->requests > 0)
		snprintf(psns, sizeof(psns), "%u-%u", row->first_psn, row->last_psn);
	if (row->paired)
		snprintf(peer, sizeof(peer), "0x%06x", row->peer_qpn);
	printf("%-*s %-*s 0x%06x %-8s %5u %8llu %-*s %-17s %7llu %7llu %9llu %6llu %s\n", w->src,
		t.src, w->dst, t.dst, row->key.qpn, peer, row->sport,
		(unsigned long long)row->requests, w->ops, t.ops, psns,
		(unsigned long long)row->replies, (unsigned long long)row->retransmits,
		(unsigned long long)row->reordered, (unsigned long long)row->copies,
		row->paired ? "yes" : hp3_unpaired_text(row->reason));
}

/* What helps against each reason in the table. */
static void print_help(const bool found[HP3_UNPAIRED_MAX])
{
	bool any = false;

	for (unsigned i = 0; i < HP3_UNPAIRED_MAX; i++) {
		enum hp3_unpaired_reason r = (enum hp3_unpaired_reason)i;

		if (!found[i] || hp3_unpaired_capture_help(r) == NULL)
			continue;
		if (!any)
			printf("\nWhat helps:\n");
		any = true;
		printf("  %s: %s\n", hp3_unpaired_text(r), hp3_unpaired_capture_help(r));
	}
}

void hp3d_replay_print_rows(const struct hp3d_replay_flows *flows)
{
	const struct widths w = widths_of(flows);
	bool found[HP3_UNPAIRED_MAX] = {false};
	struct hp3d_replay_row row;
	uint32_t at = 0;

	if (!hp3d_replay_flows_next(flows, &at, &row))
		return;
	at = 0;
	printf("\n%-*s %-*s %-8s %-8s %5s %8s %-*s %-17s %7s %7s %9s %6s %s\n", w.src, "FROM",
		w.dst, "TO", "TO QPN", "FROM QPN", "PORT", "REQUESTS", w.ops, "OPERATIONS", "PSN",
		"REPLIES", "RETRANS", "REORDERED", "COPIES", "PAIRED");
	while (hp3d_replay_flows_next(flows, &at, &row)) {
		print_row(&row, &w);
		found[row.reason] = true;
	}
	print_help(found);
}
