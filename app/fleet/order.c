/* SPDX-License-Identifier: BSD-3-Clause */
/* The command order: reads hosts and their leaves from a file, and orders them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/fleet/commands.h"
#include "app/fleet/process.h"
#include "app/fleet/rank_order.h"
#include "fleet/order.h"

#define HOSTS_MAX 65536u

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

static int add_host(struct fleet_rank_order *l, const char *file, unsigned line, const char *text)
{
	struct fleet_listed_host *x = &l->at[l->n];
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

static int read_hosts(struct fleet_rank_order *l, const char *file)
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

/* Reads the ports for the steps of this order from a running hp3-fleet. Returns an exit code. */
static int find_spine_paths(
	struct fleet_rank_order *l, const struct fleet_config *cfg, const struct fleet_options *o)
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
	struct fleet_rank_order *l, const struct fleet_config *cfg, const struct fleet_options *o)
{
	int ret = FLEET_DONE;

	hp3_fleet_order(l->leaf, l->n, l->order);
	l->spine_path = calloc((size_t)l->n * o->ranks, sizeof(*l->spine_path));
	if (l->spine_path == NULL)
		return FLEET_FAILED;
	if (o->ports)
		ret = find_spine_paths(l, cfg, o);
	if (ret == FLEET_DONE)
		fleet_rank_order_print(l, o);
	free(l->spine_path);
	return ret;
}

int fleet_order(const struct fleet_config *cfg, const struct fleet_options *o)
{
	struct fleet_rank_order l = {.at = calloc(HOSTS_MAX + 1, sizeof(*l.at)),
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
