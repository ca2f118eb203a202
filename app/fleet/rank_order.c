/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/rank_order.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "fleet/order.h"

#define MASTER_PORT 29500 /* torchrun's default */

static double crossing_share(const struct fleet_rank_order *l, const uint32_t *order)
{
	return (double)hp3_fleet_crossings(l->leaf, l->n, order) / l->n;
}

/* There is one ring for each rank of a host: ring k goes through rank k of every host, if possible
 * by its own spine. A step has no port if ports were not requested, the path is not known, or the
 * step stays below one leaf. */
static void print_json(const struct fleet_rank_order *l, const struct fleet_options *o)
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

static void print_text(const struct fleet_rank_order *l, const struct fleet_options *o)
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

static const char *nth_host(const struct fleet_rank_order *l, uint32_t i)
{
	return l->at[l->order[i]].host;
}

/* A hostfile of Open MPI: mpirun fills the slots of a host before those of the next one. */
static void print_openmpi(const struct fleet_rank_order *l, const struct fleet_options *o)
{
	for (uint32_t i = 0; i < l->n; i++)
		printf("%s slots=%u\n", nth_host(l, i), o->ranks);
}

/* The file that SLURM_HOSTFILE names, for srun --distribution=arbitrary: a line for each task. */
static void print_slurm(const struct fleet_rank_order *l, const struct fleet_options *o)
{
	for (uint32_t i = 0; i < l->n; i++)
		for (unsigned k = 0; k < o->ranks; k++)
			printf("%s\n", nth_host(l, i));
}

/* torchrun reads no list of hosts: a line has a host, and the options of torchrun on this host. */
static void print_torchrun(const struct fleet_rank_order *l, const struct fleet_options *o)
{
	for (uint32_t i = 0; i < l->n; i++)
		printf("%s --nnodes=%u --nproc-per-node=%u --node-rank=%u --master-addr=%s "
		       "--master-port=%u\n",
			nth_host(l, i), l->n, o->ranks, i, nth_host(l, 0), MASTER_PORT);
}

static const struct {
	const char *name;
	void (*print)(const struct fleet_rank_order *l, const struct fleet_options *o);
} formats[] = {[FLEET_ORDER_TEXT] = {"text", print_text},
	{"openmpi", print_openmpi},
	{"slurm", print_slurm},
	{"torchrun", print_torchrun}};

int fleet_order_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			return (int)i;
	return -1;
}

void fleet_rank_order_print(const struct fleet_rank_order *l, const struct fleet_options *o)
{
	(o->json ? print_json : formats[o->format].print)(l, o);
}
