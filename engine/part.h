/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A part of the engine: a feature with memory, deadlines or settings of its own. The files of a new
 * part define `const struct hp3_part hp3_NAME_part`. The part has a line in HP3_PARTS, a pointer in
 * struct hp3_engine (both in state.h), and keys in policy.def.
 */
#include "engine/common.h"

/*
 * Memory of an engine. Each block begins at a cache line. If `memory` is NULL, hp3_arena_take()
 * only counts the bytes in `used`.
 */
struct hp3_arena {
	uint8_t *memory;
	size_t used;
};

/* Memory for `n` records of `size` bytes, not initialised; NULL if the arena only counts. */
void *hp3_arena_take(struct hp3_arena *a, size_t n, size_t size);
#define HP3_TAKE(arena, pointer, n) ((pointer) = hp3_arena_take(arena, n, sizeof(*(pointer))))

/* Each function may be NULL. */
struct hp3_part {
	/* Does this configuration have the part? NULL: always. If not, the engine calls no other
	 * function of the part. */
	bool (*is_on)(const struct hp3_engine_config *cfg);
	/*
	 * Sets the part's pointers to memory of the arena. To count the bytes, the engine passes an
	 * arena without memory.
	 */
	void (*take)(struct hp3_engine *e, struct hp3_arena *a);
	/* Sets up the part. Precondition: e->cfg, e->seed and the memory of all parts are set. */
	void (*init)(struct hp3_engine *e);
	/*
	 * Does the work that is due at t->now. If the work is too much for one call, the part sets
	 * t->acts->more.
	 */
	void (*tick)(struct hp3_turn *t);
	/* Time of the next call of `tick` (ns); UINT64_MAX: none. */
	uint64_t (*due)(const struct hp3_engine *e);
	/* e->cfg has changed. */
	void (*reconfigured)(struct hp3_engine *e);
};

#define X(name) extern const struct hp3_part hp3_##name##_part;
HP3_PARTS(X)
#undef X

/* `is_on` of several parts. */
static inline bool hp3_is_probing(const struct hp3_engine_config *cfg)
{
	return cfg->probing;
}
static inline bool hp3_is_spraying(const struct hp3_engine_config *cfg)
{
	return cfg->spray.mode != HP3_SPRAY_MOVE;
}
