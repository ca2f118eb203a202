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
	/* Does this configuration have the part? NULL: always. If not, nothing below is called. */
	bool (*is_on)(const struct hp3_engine_config *cfg);
	/*
	 * Sets the part's pointers to memory of the arena. To count, the function is called with an
	 * arena that has no memory.
	 */
	void (*take)(struct hp3_engine *e, struct hp3_arena *a);
	/* Sets up the part: e->cfg, e->seed and the memory of all parts are there. */
	void (*init)(struct hp3_engine *e);
	/*
	 * Does what is due at t->now. A part with more to do than one call may take sets
	 * t->acts->more.
	 */
	void (*tick)(struct hp3_turn *t);
	/* When `tick` has to be called next (ns); UINT64_MAX: never. */
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
