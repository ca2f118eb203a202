/* SPDX-License-Identifier: BSD-3-Clause */
/* The command order: a rank order for collectives, from a file of hosts and their leaves. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/fleet/commands.h"
#include "app/fleet/process.h"
#include "fleet/names.h"
#include "fleet/order.h"

#define HOSTS_MAX 65536u

struct listed {
	char host[HP3_FLEET_NAME];
	char leaf[HP3_FLEET_LEAF];
};

struct list {
	struct listed *at;
	uint32_t *leaf, *order; /* leaf[i]: the first host below the leaf of host i */
	uint32_t n;
	struct fleet_spine_path
		*spine_path; /* of ring k from the i-th host in order: [i * ranks + k] */
	uint64_t steps, known; /* steps between leaves, in all rings; with a known port */
};

static int report_bad_line(const char *file, unsigned line, const char *what)
{
	fprintf(stderr, "hp3-fleet: %s:%u: %s; a line is: HOST LEAF\n", file, line, what);
	return -EINVAL;
}

/* Host names with domains, and addresses. */
static bool is_host(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "-_.:")] == '\0';
}

static int add_host(struct list *l, const char *file, unsigned line, const char *text)
{
	struct listed *x = &l->at[l->n];
	char rest[2];
	int n = sscanf(text, "%63s %31s %1s", x->host, x->leaf, rest);

	if (n <= 0 || x->host[0] == '#')
		return 0;
	if (n != 2)
		return report_bad_line(
			file, line, n == 1 ? "a leaf is missing" : "there is more behind the leaf");
	if (!is_host(x->host))
		return report_bad_line(
			file, line, "a host has letters, digits, '-', '_', '.' and ':'");
	if (!hp3_fleet_is_name(x->leaf))
		return report_bad_line(file, line, "a leaf has letters, digits, '-' and '_'");
	for (l->leaf[l->n] = 0; strcmp(l->at[l->leaf[l->n]].leaf, x->leaf) != 0; l->leaf[l->n]++)
		;
	for (uint32_t i = 0; i < l->n; i++)
		if (strcmp(l->at[i].host, x->host) == 0)
			return report_bad_line(file, line, "this host was there before");
	l->n++;
	return 0;
}

static int read_hosts(struct list *l, const char *file)
{
	FILE *f = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
	char text[256];
	int ret = 0;

	if (f == NULL) {
		fprintf(stderr, "hp3-fleet: %s: %s\n", file, strerror(errno));
		return -errno;
	}
	for (unsigned line = 1; ret == 0 && fgets(text, sizeof(text), f) != NULL; line++)
		ret = l->n == HOSTS_MAX ? report_bad_line(file, line, "more than 65536 hosts")
					: add_host(l, file, line, text);
	if (f != stdin)
		fclose(f);
	if (ret == 0 && l->n == 0)
		ret = report_bad_line(file, 0, "no host in it");
	return ret;
}

static double crossing_share(const struct list *l, const uint32_t *order)
{
	return (double)hp3_fleet_crossings(l->leaf, l->n, order) / l->n;
}

/* There is one ring for each rank of a host: ring k goes through rank k of every host, if possible
 * by its own spine. A step has no port if ports were not requested, the path is not known, or the
 * step stays below one leaf. */
static void print_json(const struct list *l, const struct fleet_options *o)
{
	json_t *ranks = json_array(), *all;

	for (uint32_t i = 0; i < l->n; i++)
		for (unsigned k = 0; k < o->ranks; k++) {
			const struct fleet_spine_path *w = &l->spine_path[(size_t)i * o->ranks + k];
			json_t *rank = json_pack("{s:i, s:s, s:s, s:i, s:i}", "rank",
				(int)(i * o->ranks + k), "host", l->at[l->order[i]].host, "leaf",
				l->at[l->order[i]].leaf, "local_rank", (int)k, "ring", (int)k);

			if (w->port != 0) {
				json_object_set_new(rank, "port", json_integer(w->port));
				json_object_set_new(rank, "switch", json_string(w->by));
			}
			json_array_append_new(ranks, rank);
		}
	all = json_pack("{s:b, s:o, s:i, s:f, s:f}", "ok", 1, "ranks", ranks, "rings",
		(int)o->ranks, "crossing_before", crossing_share(l, NULL), "crossing_after",
		crossing_share(l, l->order));
	if (o->ports) {
		json_object_set_new(all, "steps", json_integer((json_int_t)l->steps));
		json_object_set_new(all, "steps_known", json_integer((json_int_t)l->known));
	}
	json_dumpf(all, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct list *l, const struct fleet_options *o)
{
	printf("# steps of a ring that cross leaves: %.1f %% as listed, %.1f %% in this order; %u "
	       "rings\n",
		100 * crossing_share(l, NULL), 100 * crossing_share(l, l->order), o->ranks);
	if (o->ports)
		printf("# ports are known for %" PRIu64 " of %" PRIu64 " steps across leaves\n",
			l->known, l->steps);
	for (uint32_t i = 0; i < l->n; i++)
		for (unsigned k = 0; k < o->ranks; k++) {
			const struct fleet_spine_path *w = &l->spine_path[(size_t)i * o->ranks + k];

			printf("rank %u=%s slot=%u # %s, ring %u", i * o->ranks + k,
				l->at[l->order[i]].host, k, l->at[l->order[i]].leaf, k);
			if (w->port != 0)
				printf(", port %u to the next host, by %s", w->port, w->by);
			putchar('\n');
		}
}

/* Reads the ports for the steps of this order from a running hp3-fleet. Returns an exit code. */
static int find_spine_paths(
	struct list *l, const struct fleet_config *cfg, const struct fleet_options *o)
{
	const char **hosts = calloc(l->n, sizeof(*hosts));
	bool *crosses = calloc(l->n, sizeof(*crosses));
	int ret = FLEET_FAILED;

	if (hosts != NULL && crosses != NULL) {
		for (uint32_t i = 0; i < l->n; i++) {
			hosts[i] = l->at[l->order[i]].host;
			crosses[i] = l->leaf[l->order[i]] != l->leaf[l->order[(i + 1) % l->n]];
			l->steps += crosses[i] ? o->ranks : 0;
		}
		ret = fleet_rings(cfg, hosts, crosses, l->n, o->ranks, l->spine_path);
	}
	for (size_t i = 0; i < (size_t)l->n * o->ranks; i++)
		l->known += l->spine_path[i].port != 0;
	free(hosts);
	free(crosses);
	return ret;
}

/* Returns an exit code. */
static int print_order(
	struct list *l, const struct fleet_config *cfg, const struct fleet_options *o)
{
	int ret = FLEET_DONE;

	hp3_fleet_order(l->leaf, l->n, l->order);
	l->spine_path = calloc((size_t)l->n * o->ranks, sizeof(*l->spine_path));
	if (l->spine_path == NULL)
		return FLEET_FAILED;
	if (o->ports)
		ret = find_spine_paths(l, cfg, o);
	if (ret == FLEET_DONE)
		(o->json ? print_json : print_text)(l, o);
	free(l->spine_path);
	return ret;
}

int fleet_order(const struct fleet_config *cfg, const struct fleet_options *o)
{
	struct list l = {.at = calloc(HOSTS_MAX + 1, sizeof(*l.at)),
		.leaf = calloc(HOSTS_MAX + 1, sizeof(*l.leaf)),
		.order = calloc(HOSTS_MAX + 1, sizeof(*l.order))};
	int ret = FLEET_FAILED;

	if (l.at == NULL || l.leaf == NULL || l.order == NULL) {
		fputs("hp3-fleet: no memory\n", stderr);
	} else if (read_hosts(&l, o->hosts) == 0) {
		ret = print_order(&l, cfg, o);
	}
	free(l.at);
	free(l.leaf);
	free(l.order);
	return ret;
}
