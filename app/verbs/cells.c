/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/cells.h"
#include "app/verbs/table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (HP3_VERBS_CELLS * sizeof(struct hp3_verbs_cell))

static struct hp3_verbs_cell *cells;
static struct hp3v_qp *owners[HP3_VERBS_CELLS];
static uint32_t used, hint;
static struct hp3v_shared fds = {-1, -1};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static struct hp3_verbs_cell *map_cells(int memory)
{
	void *at;

	if (memory < 0 || ftruncate(memory, BYTES) != 0 ||
		fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return NULL;
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	return at == MAP_FAILED ? NULL : at;
}

bool hp3v_cells_open(struct hp3v_shared *shared)
{
	hp3v_lock();
	if (cells == NULL) {
		fds.memory = memfd_create("hp3-verbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		fds.hp3d_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fds.hp3d_bell >= 0)
			cells = map_cells(fds.memory);
		if (cells == NULL) {
			close_fd(&fds.memory);
			close_fd(&fds.hp3d_bell);
		}
	}
	*shared = fds;
	hp3v_unlock();
	return shared->memory >= 0;
}

void hp3v_cells_abandon(void)
{
	if (cells != NULL)
		munmap(cells, BYTES);
	cells = NULL;
	used = 0;
	hint = 0;
	memset(owners, 0, sizeof(owners));
	close_fd(&fds.memory);
	close_fd(&fds.hp3d_bell);
}

void hp3v_cell_take(struct hp3v_qp *q)
{
	uint32_t i, generation;
	struct hp3_verbs_cell *c;

	hp3v_lock();
	for (uint32_t n = 0; cells != NULL && n < HP3_VERBS_CELLS && q->index < 0; n++) {
		i = (hint + n) % HP3_VERBS_CELLS;
		if (owners[i] == NULL)
			q->index = (int)i;
	}
	if (cells != NULL && q->index >= 0) {
		i = (uint32_t)q->index;
		hint = i + 1u;
		c = &cells[i];
		generation = (c->generation + 1u) & 0xffffff;
		__atomic_store_n(&c->version, c->version | 1u, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		c->qpn = 0;
		c->moves = 0;
		c->generation = generation;
		memset(&c->posted_wrs, 0,
			offsetof(struct hp3_verbs_cell, want) -
				offsetof(struct hp3_verbs_cell, posted_wrs));
		q->want = __atomic_load_n(&c->want, __ATOMIC_RELAXED);
		__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELEASE);
		__atomic_store_n(&q->cell, c, __ATOMIC_RELEASE);
		__atomic_store_n(&owners[i], q, __ATOMIC_RELEASE);
		if (i >= used)
			__atomic_store_n(&used, i + 1u, __ATOMIC_RELEASE);
	}
	hp3v_unlock();
}

void hp3v_cell_give_back(struct hp3v_qp *q)
{
	struct hp3_verbs_cell *c = q->cell;

	if (q->index < 0)
		return;
	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	c->state = HP3_VERBS_FREE;
	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELEASE);
	__atomic_store_n(&q->cell, &q->own, __ATOMIC_RELEASE);
	hp3v_lock();
	__atomic_store_n(&owners[q->index], NULL, __ATOMIC_RELEASE);
	hp3v_unlock();
	q->index = -1;
	hp3v_cells_ring();
}

struct hp3v_qp *hp3v_cell_owner(uint32_t index)
{
	return __atomic_load_n(&owners[index], __ATOMIC_ACQUIRE);
}

uint32_t hp3v_cells_used(void)
{
	return __atomic_load_n(&used, __ATOMIC_ACQUIRE);
}

void hp3v_cells_ring(void)
{
	uint64_t one = 1;

	if (fds.hp3d_bell >= 0 && write(fds.hp3d_bell, &one, sizeof(one)) < 0)
		return; /* the eventfd's counter is full: hp3d reads the cells anyway */
}

void hp3v_cell_answer(struct hp3v_qp *q, enum hp3_verbs_did did, int detail)
{
	struct hp3_verbs_cell *c = q->cell;

	__atomic_store_n(&c->did,
		hp3_verbs_pack(hp3_verbs_unpack_generation(q->want), hp3_verbs_unpack_seq(q->want),
			(uint8_t)did, (uint16_t)detail),
		__ATOMIC_RELEASE);
	hp3v_cells_ring();
}
