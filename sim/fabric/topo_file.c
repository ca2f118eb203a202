/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topology files of the ns-3 RDMA simulators (topo.h). They differ in the first line, which has
 * these columns:
 *
 *   nodes switches links                              HPCC, MP-RDMA, ConWeave
 *   nodes switches leaves links                       PowerTCP
 *   nodes switches leaves links host_rate core_rate   Reverie
 *   nodes gpus_per_server nvswitches switches links gpu_type   SimAI, ns-3-alibabacloud
 *   nodes gpus_per_server nvswitches switches links gpu_type gpus_per_node   ns-3-alibabacloud
 *
 * Links have rates of their own, so the rates of the first line are not used.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "sim/core/memory.h"
#include "sim/core/words.h"
#include "sim/fabric/quantity.h"
#include "sim/fabric/topo.h"

#define LINKS_MAX    (16 * SIM_NODES_MAX)
#define LINK_COLUMNS 5u

/* Columns of the first line. */
enum column {
	NO_COLUMN,
	NODES,
	SWITCHES,
	LEAVES,
	NVSWITCHES,
	LINKS,
	RATE,
	GPU_TYPE,
	GPUS,
	COLUMNS
};

static const char *const column_names[COLUMNS] = {[NODES] = "nodes",
	[SWITCHES] = "switches",
	[LEAVES] = "leaf switches",
	[NVSWITCHES] = "NVSwitches",
	[LINKS] = "links",
	[GPUS] = "GPUs"};

static const enum column forms[][SIM_WORDS_MAX] = {{NODES, SWITCHES, LINKS},
	{NODES, SWITCHES, LEAVES, LINKS}, {NODES, SWITCHES, LEAVES, LINKS, RATE, RATE},
	{NODES, GPUS, NVSWITCHES, SWITCHES, LINKS, GPU_TYPE},
	{NODES, GPUS, NVSWITCHES, SWITCHES, LINKS, GPU_TYPE, GPUS}};
#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static bool is_name(const char *word)
{
	return isalpha((unsigned char)*word);
}

/* The sixth column decides between forms with as many columns. NULL: there is no such form. */
static const enum column *find_form(const struct sim_words *w)
{
	for (size_t i = 0; i < N_FORMS; i++) {
		uint32_t n = 0;

		while (n < SIM_WORDS_MAX && forms[i][n] != NO_COLUMN)
			n++;
		if (n == w->n && (n < 6 || is_name(w->word[5]) == (forms[i][5] == GPU_TYPE)))
			return forms[i];
	}
	return NULL;
}

/* Reads column `at` of the first line, which counts from 1. */
static int read_column(struct sim_words *w, uint32_t at, enum column c, uint64_t value[COLUMNS])
{
	const char *word = w->word[at - 1];
	uint64_t max = c == LINKS ? LINKS_MAX : SIM_NODES_MAX, bps;

	if (c == GPU_TYPE)
		return 0;
	if (c == RATE)
		return sim_parse_rate(word, &bps)
			       ? 0
			       : sim_words_fail(
					 w, w->line, at, "write a rate in bit/s, as 25000000000");
	if (sim_words_number(word, max, &value[c]))
		return 0;
	return sim_words_fail(
		w, w->line, at, "%s: write a number up to %" PRIu64, column_names[c], max);
}

/* Numbers of the first line. */
struct head {
	uint64_t nodes, switches, nvswitches, links;
};

static int read_head(struct sim_words *w, struct head *h)
{
	const enum column *form;
	uint64_t value[COLUMNS] = {0};
	uint32_t at[COLUMNS] = {0};
	int ret = 0;

	if (!sim_words_split(w))
		return sim_words_fail(w, 1, 0, "an empty file: write `nodes switches links`");
	form = find_form(w);
	if (form == NULL)
		return sim_words_fail_columns(w, "nodes switches links");
	for (uint32_t i = 0; i < w->n && ret == 0; i++) {
		at[form[i]] = i + 1;
		ret = read_column(w, i + 1, form[i], value);
	}
	if (ret != 0)
		return ret;
	*h = (struct head){value[NODES], value[SWITCHES], value[NVSWITCHES], value[LINKS]};
	if (h->switches + h->nvswitches >= h->nodes)
		return sim_words_fail(
			w, w->line, at[NODES], "nodes: write more nodes than switches");
	if (h->links == 0)
		return sim_words_fail(w, w->line, at[LINKS], "links: write a number above 0");
	if (value[LEAVES] > h->switches)
		return sim_words_fail(w, w->line, at[LEAVES], "leaf switches: more than switches");
	return 0;
}

enum kind { HOST, SWITCH, NVSWITCH, KINDS };

/* Second line: first the numbers of NVSwitches, then those of other switches. */
static int read_switches(struct sim_words *w, const struct head *h, uint8_t *kind)
{
	uint64_t n = h->switches + h->nvswitches, id;

	if (n == 0)
		return 0;
	if (!sim_words_line(w))
		return sim_words_fail(
			w, w->line + 1, 0, "write the numbers of %" PRIu64 " switches", n);
	for (uint64_t i = 0; i < n; i++) {
		const char *word = sim_words_next(w);

		if (word == NULL)
			return sim_words_fail(w, w->line, 0,
				"%" PRIu64 " numbers of switches, and %" PRIu64
				" switches in the first line",
				i, n);
		if (!sim_words_number(word, h->nodes - 1, &id))
			return sim_words_fail(w, w->line, w->column,
				"write the number of a switch, below %" PRIu64, h->nodes);
		if (kind[id] != HOST)
			return sim_words_fail(w, w->line, w->column,
				"switch %" PRIu64 " is in this line twice", id);
		kind[id] = i < h->nvswitches ? NVSWITCH : SWITCH;
	}
	if (sim_words_next(w) != NULL)
		return sim_words_fail(w, w->line, w->column,
			"more numbers than the first line has switches (%" PRIu64 ")", n);
	return 0;
}

/* Hosts get the lowest numbers of the model, then switches, then NVSwitches. */
static void number_nodes(struct sim_topo *t, const struct head *h, const uint8_t *kind)
{
	uint32_t next = 0;

	t->nodes = (uint32_t)h->nodes;
	t->nvswitches = (uint32_t)h->nvswitches;
	t->hosts = (uint32_t)(h->nodes - h->switches - h->nvswitches);
	t->n_links = (uint32_t)h->links;
	t->link = sim_alloc(t->n_links, sizeof(*t->link));
	t->number = sim_alloc(t->nodes, sizeof(*t->number));
	t->node_of = sim_alloc(t->nodes, sizeof(*t->node_of));
	for (unsigned k = 0; k < KINDS; k++) {
		for (uint32_t i = 0; i < t->nodes; i++) {
			if (kind[i] != k)
				continue;
			t->node_of[i] = next;
			t->number[next++] = i;
		}
	}
}

static int read_link(struct sim_words *w, const struct sim_topo *t, struct sim_link *l)
{
	uint64_t end[2];

	if (w->n != LINK_COLUMNS)
		return sim_words_fail_columns(w, "a b rate delay loss");
	for (uint32_t i = 0; i < 2; i++)
		if (!sim_words_number(w->word[i], t->nodes - 1, &end[i]))
			return sim_words_fail(w, w->line, i + 1,
				"ends of the link: write a node number below %u", t->nodes);
	if (end[0] == end[1])
		return sim_words_fail(
			w, w->line, 2, "ends of the link: write two different node numbers");
	if (!sim_parse_rate(w->word[2], &l->bps))
		return sim_words_fail(w, w->line, 3,
			"rate: write a number with unit, as 100Gbps, or at least 1000000 bit/s");
	if (!sim_parse_delay(w->word[3], &l->delay))
		return sim_words_fail(
			w, w->line, 4, "delay: write a number above 0 with unit, as 1000ns");
	if (!sim_parse_loss(w->word[4], &l->loss))
		return sim_words_fail(w, w->line, 5, "loss: a share from 0 to below 1");
	l->a = t->node_of[end[0]];
	l->b = t->node_of[end[1]];
	return 0;
}

static int read_links(struct sim_words *w, struct sim_topo *t)
{
	int ret;

	for (uint32_t i = 0; i < t->n_links; i++) {
		if (!sim_words_split(w))
			return sim_words_fail(w, w->line + 1, 0,
				"%u links, and %u links in the first line", i, t->n_links);
		ret = read_link(w, t, &t->link[i]);
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* To the end of the list: the first port of a host is then that of an RNIC. */
static void move_nvlinks(struct sim_topo *t)
{
	struct sim_link *moved = sim_alloc(t->n_links, sizeof(*moved));
	uint32_t n = 0;

	for (unsigned nvlinks = 0; nvlinks < 2; nvlinks++)
		for (uint32_t i = 0; i < t->n_links; i++)
			if ((sim_topo_is_nvswitch(t, t->link[i].a) ||
				    sim_topo_is_nvswitch(t, t->link[i].b)) == (nvlinks == 1))
				moved[n++] = t->link[i];
	free(t->link);
	t->link = moved;
}

int sim_topo_load(struct sim_topo *t, const char *path, char *err, uint32_t err_size)
{
	struct sim_words w;
	struct head h = {0};
	uint8_t *kind = NULL;
	int ret;
	FILE *f;

	*t = (struct sim_topo){0};
	f = sim_input_open(&t->file, path, NULL);
	if (f == NULL) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(errno));
		return ret;
	}
	w = sim_words_of(f, path, err, err_size);
	ret = read_head(&w, &h);
	if (ret == 0) {
		kind = sim_alloc(h.nodes, sizeof(*kind));
		ret = read_switches(&w, &h, kind);
	}
	if (ret == 0) {
		number_nodes(t, &h, kind);
		ret = read_links(&w, t);
	}
	if (ret == 0 && t->nvswitches > 0)
		move_nvlinks(t);
	free(kind);
	sim_words_free(&w);
	fclose(f);
	if (ret != 0)
		sim_topo_free(t);
	return ret;
}
