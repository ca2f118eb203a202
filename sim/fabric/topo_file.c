/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topology files of the ns-3 RDMA simulators (topo.h). They differ in the first line, which has
 * these columns:
 *
 *   nodes switches links                              HPCC, MP-RDMA, ConWeave
 *   nodes switches leaves links                       PowerTCP
 *   nodes switches leaves links host_rate core_rate   Reverie
 *   nodes gpus_per_server nvswitches switches links gpu_type   ns-3-alibabacloud, SimAI
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
#include "sim/fabric/topo.h"

#define LINKS_MAX    (16 * SIM_NODES_MAX)
#define BPS_MIN      1000000.0 /* of a rate without a unit */
#define LINK_COLUMNS 5u

/* A number and one of the units, given with their factors, as ns-3 reads them. */
struct unit {
	const char *name;
	double factor;
};

static const struct unit rates[] = {{"Gbps", 1e9}, {"Gb/s", 1e9}, {"Mbps", 1e6}, {"Mb/s", 1e6},
	{"Kbps", 1e3}, {"kbps", 1e3}, {"Kb/s", 1e3}, {"kb/s", 1e3}, {"bps", 1}, {"b/s", 1},
	{"GBps", 8e9}, {"GB/s", 8e9}, {"MBps", 8e6}, {"MB/s", 8e6}, {NULL, 0}};
static const struct unit times[] = {
	{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}, {NULL, 0}};

/* Sets *value and *unit. False: the word does not begin with a number. */
static bool split_quantity(const char *word, double *value, const char **unit)
{
	char *end;
	size_t digits = strspn(word, "0123456789.");

	if (digits == 0)
		return false;
	*value = strtod(word, &end);
	*unit = end;
	return end >= word + digits; /* strtod() reads 0x10 as one number, and not "1.2.3" */
}

static bool in_units(double value, const char *name, const struct unit *u, uint64_t *out)
{
	for (; u->name != NULL; u++) {
		if (strcmp(name, u->name) == 0 && value > 0 && value * u->factor < 1e18) {
			*out = (uint64_t)(value * u->factor + 0.5);
			return *out > 0;
		}
	}
	return false;
}

static bool parse_rate(const char *word, uint64_t *bps)
{
	const char *unit;
	double value;

	if (!split_quantity(word, &value, &unit) || strpbrk(word, "xX") != NULL)
		return false;
	if (*unit == '\0')
		return value >= BPS_MIN && in_units(value, "bps", rates, bps);
	return in_units(value, unit, rates, bps);
}

static bool parse_delay(const char *word, uint64_t *ps)
{
	const char *unit;
	double value;

	if (!split_quantity(word, &value, &unit) || strpbrk(word, "xX") != NULL)
		return false;
	if (*unit == '\0')
		return value < 1 && in_units(value, "s", times, ps);
	return in_units(value, unit, times, ps);
}

static bool parse_loss(const char *word, uint32_t *of_1e9)
{
	const char *rest;
	double loss;

	if (!split_quantity(word, &loss, &rest) || *rest != '\0' || !(loss >= 0 && loss < 1))
		return false;
	*of_1e9 = (uint32_t)(loss * 1e9 + 0.5);
	return true;
}

/* Numbers of the first line. */
struct head {
	uint64_t nodes, switches, nvswitches, links;
};

/* Reads column `at` into *value, which is at most max. */
static int read_count(
	struct sim_words *w, uint32_t at, const char *name, uint64_t max, uint64_t *value)
{
	if (sim_words_number(w->word[at - 1], max, value))
		return 0;
	return sim_words_fail(w, w->line, at, "%s: write a number up to %" PRIu64, name, max);
}

static bool is_name(const char *word)
{
	return isalpha((unsigned char)*word);
}

static int read_head(struct sim_words *w, struct head *h)
{
	uint32_t switches = 2, links;
	uint64_t leaves = 0;
	int ret = 0;

	*h = (struct head){0};
	if (!sim_words_split(w))
		return sim_words_fail(w, 1, 0, "an empty file: write `nodes switches links`");
	if (w->n != 3 && w->n != 4 && w->n != 6)
		return sim_words_fail_columns(w, "nodes switches links");
	links = w->n == 3 ? 3 : 4;
	if (w->n == 6 && is_name(w->word[5])) {
		switches = 4;
		links = 5;
		ret = read_count(w, 3, "NVSwitches", SIM_NODES_MAX, &h->nvswitches);
	} else if (w->n > 3) {
		ret = read_count(w, 3, "leaf switches", SIM_NODES_MAX, &leaves);
	}
	if (ret == 0)
		ret = read_count(w, 1, "nodes", SIM_NODES_MAX, &h->nodes);
	if (ret == 0)
		ret = read_count(w, switches, "switches", SIM_NODES_MAX, &h->switches);
	if (ret == 0)
		ret = read_count(w, links, "links", LINKS_MAX, &h->links);
	for (uint32_t i = links + 1; ret == 0 && switches == 2 && i <= w->n; i++) {
		uint64_t bps;

		if (!parse_rate(w->word[i - 1], &bps))
			ret = sim_words_fail(
				w, w->line, i, "write a rate in bit/s, as 25000000000");
	}
	if (ret == 0 && h->switches + h->nvswitches >= h->nodes)
		ret = sim_words_fail(w, w->line, 1, "nodes: write more nodes than switches");
	if (ret == 0 && h->links == 0)
		ret = sim_words_fail(w, w->line, links, "links: write a number above 0");
	if (ret == 0 && leaves > h->switches)
		ret = sim_words_fail(w, w->line, 3, "leaf switches: more than switches");
	return ret;
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
	if (!parse_rate(w->word[2], &l->bps))
		return sim_words_fail(w, w->line, 3,
			"rate: write a number with unit, as 100Gbps, or at least 1000000 bit/s");
	if (!parse_delay(w->word[3], &l->delay))
		return sim_words_fail(
			w, w->line, 4, "delay: write a number above 0 with unit, as 1000ns");
	if (!parse_loss(w->word[4], &l->loss))
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
	struct head h;
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
