/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is registered on all rails. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "xfer/verbs/verbs.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

void hp3x_verbs_memory_remove(struct hp3x_rails *rails, struct hp3x_memory *memory)
{
	(void)rails;
	for (uint32_t i = 0; i < memory->n; i++)
		ibv_dereg_mr(memory->mr[i]);
	free(memory);
}

/* Registers on one rail after the other, by `base` or by `dmabuf`. */
static int memory_register(struct hp3x_rails *rails, void *base, size_t length,
	const struct hp3x_dmabuf *dmabuf, struct hp3x_memory *memory)
{
	for (; memory->n < rails->n; memory->n++) {
		struct ibv_pd *pd = rails->rail[memory->n].pd;
		struct ibv_mr *mr;

		if (dmabuf != NULL)
			mr = ibv_reg_dmabuf_mr(pd, dmabuf->offset, dmabuf->length, dmabuf->iova,
				dmabuf->fd, ACCESS);
		else
			mr = ibv_reg_mr(pd, base, length, ACCESS);
		if (mr == NULL)
			return -errno;
		memory->mr[memory->n] = mr;
	}
	return 0;
}

static int memory_begin(struct hp3x_rails *rails, void *base, size_t length,
	const struct hp3x_dmabuf *dmabuf, struct hp3x_memory **result)
{
	struct hp3x_memory *m = calloc(1, sizeof(*m));
	int rc;

	if (m == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for a registration");
	rc = memory_register(rails, base, length, dmabuf, m);
	if (rc < 0) {
		hp3x_error_set(rc,
			"%s: registering %zu bytes: %s; raise \"ulimit -l\" if it is too "
			"low for them",
			rails->rail[m->n].name, length, strerror(-rc));
		hp3x_verbs_memory_remove(rails, m);
		return rc;
	}
	*result = m;
	return 0;
}

static void keys_write(
	const struct hp3x_rails *rails, const struct hp3x_memory *memory, uint32_t *key)
{
	for (uint32_t i = 0; i < rails->n; i++)
		key[i] = memory->mr[i]->rkey;
}

int hp3x_verbs_memory_add(struct hp3x_rails *rails, void *base, size_t length,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS])
{
	int rc = memory_begin(rails, base, length, NULL, memory);

	if (rc == 0)
		keys_write(rails, *memory, key);
	return rc;
}

int hp3x_verbs_memory_add_dmabuf(struct hp3x_rails *rails, const struct hp3x_dmabuf *dmabuf,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS])
{
	int rc = memory_begin(rails, NULL, dmabuf->length, dmabuf, memory);

	if (rc == 0)
		keys_write(rails, *memory, key);
	return rc;
}
