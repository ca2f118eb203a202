/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: test_whole MODULE [SEEDS [FIRST]]
 *
 * Runs so many worlds (200), from that seed on (1); odd seeds are safety, even ones liveness. With
 * HP3_SEED_BASE set and FIRST not, half of them are counted from there.
 * HP3_WHOLE_LOG=1 prints what the hp3d say.
 */
#include <jansson.h>
#include <rte_eal.h>
#include <stdlib.h>
#include <string.h>
#include "tests/whole/sim.h"

#define AGAIN 25u /* of so many seeds one runs twice */

/* Memory that jansson takes for a process belongs to it. */
static void *get(size_t n)
{
	struct process *p = fiber_process();

	return p != NULL ? p->alloc(n) : malloc(n);
}

static void put(void *mem)
{
	struct process *p = fiber_process();

	if (p != NULL)
		p->free(mem);
	else
		free(mem);
}

static void add(struct sim_result *sum, const struct sim_result *r)
{
	sum->hash = (sum->hash ^ r->hash) * 1099511628211ull;
#define X(field) sum->field += r->field;
	SIM_SUMS(X)
#undef X
}

static int run(unsigned n, uint64_t first, const char *module, struct sim_result *sum)
{
	for (uint64_t seed = first; seed < first + n; seed++) {
		struct sim_result r, again;

		if (sim_run(seed, module, &r) < 0) {
			printf("again: HP3_WHOLE_LOG=1 test_whole %s 1 %llu\n", module,
				(unsigned long long)seed);
			return -1;
		}
		add(sum, &r);
		if (seed % AGAIN != 0)
			continue;
		if (sim_run(seed, module, &again) < 0 || again.hash != r.hash) {
			printf("seed %llu is not the same twice: %llx, %llx\n",
				(unsigned long long)seed, (unsigned long long)r.hash,
				(unsigned long long)again.hash);
			return -1;
		}
	}
	return 0;
}

static int start_dpdk(void)
{
	static const char *const args[] = {"test_whole", "--no-huge", "--no-shconf", "--no-pci",
		"--no-telemetry", "-m", "128", "--log-level=1", "--lcores", "0"};
	char *argv[RTE_DIM(args) + 1] = {NULL};

	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = strdup(args[i]);
	return rte_eal_init(RTE_DIM(args), argv);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 200;
	uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	const char *base = getenv("HP3_SEED_BASE");
	bool fresh = argc <= 3 && base != NULL && *base != '\0';
	struct sim_result r = {0};
	int rc;

	if (argc < 2 || start_dpdk() < 0)
		return 2;
	json_set_alloc_funcs(get, put);
	json_object_seed(1);
	rc = fresh ? run(n / 2, strtoull(base, NULL, 0), argv[1], &r) : 0;
	if (rc == 0)
		rc = run(fresh ? n - n / 2 : n, first, argv[1], &r);
	printf("%u seeds:", n);
#define X(field) printf(" " #field " %llu", (unsigned long long)r.field);
	SIM_SUMS(X)
#undef X
	printf("; hash %llx\n", (unsigned long long)r.hash);
	fiber_free_stacks();
	rte_eal_cleanup();
	return rc == 0 ? 0 : 1;
}
