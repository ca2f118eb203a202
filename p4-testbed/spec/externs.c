/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/spec/externs.h"
#include <errno.h>
#include <stdlib.h>
#include <rte_common.h>
#include "base/crc.h"

static struct hp3_queue_view *views[HP3_EXTERN_SWITCHES];

uint32_t hp3_crc32(const void *key, uint32_t len, uint32_t seed)
{
	return ~hp3_crc_reflected(hp3_crc_table_32, ~seed, key, len);
}

uint32_t hp3_crc16(const void *key, uint32_t len, uint32_t seed)
{
	return hp3_crc_reflected(hp3_crc_table_16, seed & 0xffff, key, len);
}

void hp3_extern_bind(unsigned index, struct hp3_queue_view *view)
{
	if (index < HP3_EXTERN_SWITCHES)
		views[index] = view;
}

static void *tm_create(const char *args)
{
	unsigned long index = args != NULL ? strtoul(args, NULL, 10) : HP3_EXTERN_SWITCHES;

	return index < HP3_EXTERN_SWITCHES ? views[index] : NULL;
}

static void tm_free(void *object)
{
	/* It is part of the switch. */
}

static uint32_t draw_random(uint64_t *rng, uint32_t width)
{
	uint64_t x = *rng;

	x ^= x << 13; /* xorshift64 */
	x ^= x >> 7;
	x ^= x << 17;
	*rng = x;
	return width > 0 ? (uint32_t)(((x >> 32) * width) >> 32) : UINT32_MAX;
}

static int tm_queue_state(void *object, void *mailbox)
{
	struct hp3_queue_view *view = object;
	struct hp3_queue_mailbox *m = mailbox;

	m->depth = view->depth(view->arg, m->port, m->priority);
	m->random = draw_random(&view->rng, m->width);
	return 1;
}

int hp3_extern_register(struct rte_swx_pipeline *p)
{
	int ret = rte_swx_pipeline_hash_func_register(p, "hp3_crc32", hp3_crc32);

	if (ret == 0)
		ret = rte_swx_pipeline_hash_func_register(p, "hp3_crc16", hp3_crc16);
	if (ret == 0)
		ret = rte_swx_pipeline_extern_type_register(
			p, "tm_t", "queue_state_t", tm_create, tm_free);
	if (ret == 0)
		ret = rte_swx_pipeline_extern_type_member_func_register(
			p, "tm_t", "queue_state", tm_queue_state);
	return ret;
}
