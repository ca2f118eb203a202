/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for failed calls of DPDK: they name memory as the cause only if memory was short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/pipe/memory.h"

#define MEMORY "raise the memory"

static void an_error_names_its_own_fix(void **state)
{
	assert_string_equal(hp3_dpdk_failure(ENOMEM, MEMORY, "look elsewhere"),
		"Cannot allocate memory; " MEMORY);
	assert_string_equal(hp3_dpdk_failure(EIO, MEMORY, "look elsewhere"),
		"Input/output error; look elsewhere");
	assert_non_null(strstr(hp3_dpdk_failure(EMFILE, MEMORY, "look elsewhere"), "ulimit -n"));
	assert_non_null(strstr(hp3_dpdk_failure(ENOSPC, MEMORY, "look elsewhere"), "fewer lcores"));
	/* One of DPDK's own. */
	assert_null(strstr(hp3_dpdk_failure(E_RTE_NO_CONFIG, MEMORY, "look"), "Unknown error"));
}

static struct rte_mempool *make(uint32_t n)
{
	struct hp3_config cfg;

	hp3_config_defaults(&cfg);
	return hp3d_packet_pool(&cfg, "buffers", n, 0, SOCKET_ID_ANY);
}

static void a_pool_fails_for_want_of_memory(void **state)
{
	assert_null(make(1u << 24));
	assert_int_equal(rte_errno, ENOMEM);
	assert_non_null(strstr(hp3_pool_failure(rte_errno, MEMORY), MEMORY));
}

static void a_pool_fails_for_want_of_a_driver(void **state)
{
	uint32_t n = rte_mempool_ops_table.num_ops;
	struct rte_mempool *good;
	const char *said;

	rte_mempool_ops_table.num_ops = 0; /* as without librte_mempool_ring */
	assert_null(make(64));
	assert_int_equal(rte_errno, EINVAL);
	said = hp3_pool_failure(rte_errno, MEMORY);
	assert_non_null(strstr(said, "no mempool driver \"ring_mp_mc\""));
	assert_null(strstr(said, MEMORY));
	rte_mempool_ops_table.num_ops = n;
	good = make(64);
	assert_non_null(good);
	rte_mempool_free(good);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_names_its_own_fix),
		cmocka_unit_test(a_pool_fails_for_want_of_memory),
		cmocka_unit_test(a_pool_fails_for_want_of_a_driver),
	};
	static char args[][16] = {"test_failure", "--no-huge", "--no-pci", "--no-shconf", "-m",
		"64", "-l", "0", "--log-level=1", "--no-telemetry"};
	char *argv[RTE_DIM(args) + 1] = {NULL};

	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
