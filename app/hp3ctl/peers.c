/* SPDX-License-Identifier: BSD-3-Clause */
/* peers: hosts with which this host's RNIC communicates, and the keys that authenticate them. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define CELL 64u

enum kind { TEXT, COUNT, FLAG, TENTHS };

static const struct column {
	const char *head, *key;
	enum kind kind;
	double unit; /* TENTHS: nanoseconds */
} columns[] = {
	{"RAIL", "rail", TEXT, 0},
	{"LOCAL", "local", TEXT, 0},
	{"PEER", "peer", TEXT, 0},
	{"VLAN", "vlan", COUNT, 0},
	{"HP3D", "hp3d", TEXT, 0},
	{"VER", "version", COUNT, 0},
	{"KEY", "key", TEXT, 0},
	{"IDENTITY", "identity", TEXT, 0},
	{"KEYED s", "keyed_ns", TENTHS, 1e9},
	{"PROBES", "probes", FLAG, 0},
	{"REPORTS", "reports", FLAG, 0},
	{"PRESUMED", "presumed", TEXT, 0},
	{"SPRAYED", "sprayed", COUNT, 0},
	{"(READS)", "sprayed_reads", COUNT, 0},
	{"RESEQUENCED", "resequenced", COUNT, 0},
	{"(READS)", "resequenced_reads", COUNT, 0},
	{"RTT us", "rtt_ns", TENTHS, 1e3},
	{"SEEN s", "seen_ns", TENTHS, 1e9},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* "-": not known. */
static void write_cell(const struct column *c, json_t *peer, char cell[CELL])
{
	json_t *value = json_object_get(peer, c->key);

	if (c->kind == TEXT && json_is_string(value))
		snprintf(cell, CELL, "%s", json_string_value(value));
	else if (c->kind == FLAG)
		snprintf(cell, CELL, "%s", json_is_true(value) ? "yes" : "no");
	else if (c->kind == COUNT && json_is_integer(value))
		snprintf(cell, CELL, "%lld", json_integer_value(value));
	else if (c->kind == TENTHS && json_is_integer(value))
		snprintf(cell, CELL, "%.1f", (double)json_integer_value(value) / c->unit);
	else
		snprintf(cell, CELL, "-");
}

static void print_cell(const char *cell, enum kind kind, size_t width, bool is_last)
{
	bool is_left = kind == TEXT || kind == FLAG;

	printf("%*s%s", is_left ? -(int)width : (int)width, cell, is_last ? "\n" : " ");
}

/* Columns are as wide as their values: with IPv4 addresses, a line is half as long. */
static void print_peer_table(json_t *peers)
{
	size_t width[COLUMNS], i;
	char cell[CELL];
	json_t *peer;

	for (unsigned c = 0; c < COLUMNS; c++) {
		width[c] = strlen(columns[c].head);
		json_array_foreach (peers, i, peer) {
			write_cell(&columns[c], peer, cell);
			width[c] = strlen(cell) > width[c] ? strlen(cell) : width[c];
		}
	}
	for (unsigned c = 0; c < COLUMNS; c++)
		print_cell(columns[c].head, columns[c].kind, width[c], c == COLUMNS - 1);
	json_array_foreach (peers, i, peer) {
		for (unsigned c = 0; c < COLUMNS; c++) {
			write_cell(&columns[c], peer, cell);
			print_cell(cell, columns[c].kind, width[c], c == COLUMNS - 1);
		}
	}
}

int hp3ctl_peers(struct hp3ctl *ctl)
{
	json_t *request = json_pack("{s:s}", "cmd", "peers"), *peers;
	int rc;

	if (ctl->json)
		return hp3ctl_print_list(ctl, request, NULL);
	peers = json_array();
	rc = hp3ctl_each_page(ctl, request, hp3ctl_append_page, peers);
	if (rc == HP3CTL_DONE)
		print_peer_table(peers);
	json_decref(peers);
	return rc;
}
