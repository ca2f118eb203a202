/* SPDX-License-Identifier: BSD-3-Clause */
#include "shim.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define PORTS      8u
#define POSTED_MAX 4096u

enum number {
#define X(name, value, err) NUMBER_##name,
#define H                   X
#include "calls.def"
#undef X
	NUMBERS
};

struct call {
	const char *name;
	long value;
	int err;
};

static const struct call calls[] = {
#define X(name, value, err) {#name, value, err},
#include "calls.def"
#undef X
#undef H
};

_Static_assert(NUMBERS <= HP3_FAULT_CALLS, "numbers");

static struct hp3_fault_page own = {.fails = HP3_FAULT_CALLS}, *page = &own;
extern const char __executable_start;

/* --- which call fails --- */

int hp3_fault(unsigned number, uintptr_t back)
{
	uint32_t n = __atomic_add_fetch(&page->count[number], 1, __ATOMIC_RELAXED);

	if (__atomic_load_n(&page->fails, __ATOMIC_ACQUIRE) != number || n < page->first ||
		n > page->last)
		return 0;
	if (__atomic_fetch_add(&page->hits, 1, __ATOMIC_RELAXED) == 0)
		page->by = back - (uintptr_t)&__executable_start;
	return 1;
}

long hp3_fault_answer(unsigned number)
{
	rte_errno = errno = calls[number].err;
	return calls[number].value;
}

static void map_page(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "HP3_FAULT_PAGE = %s: %s\n", path, strerror(errno));
		_exit(2);
	}
	close(fd);
	page = p;
	page->calls = NUMBERS;
	for (unsigned i = 0; i < NUMBERS; i++)
		snprintf(page->name[i], HP3_FAULT_NAME, "%s", calls[i].name);
}

static void choose(const char *text)
{
	const char *colon = strchr(text, ':');
	char *end;

	for (unsigned i = 0; colon != NULL && i < NUMBERS; i++) {
		if (strlen(calls[i].name) != (size_t)(colon - text) ||
			strncmp(calls[i].name, text, (size_t)(colon - text)) != 0)
			continue;
		page->first = (uint32_t)strtoul(colon + 1, &end, 10);
		page->last = *end == '+' ? UINT32_MAX : page->first;
		page->fails = i;
		return;
	}
	fprintf(stderr, "HP3_FAULT = %s: no such call\n", text);
	_exit(2);
}

void *__real_malloc(size_t size);

static void *json_get(size_t size)
{
	if (hp3_fault(NUMBER_json, (uintptr_t)__builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_malloc(size);
}

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("HP3_FAULT_PAGE"), *what = getenv("HP3_FAULT");

	if (file != NULL)
		map_page(file);
	if (what != NULL)
		choose(what);
	json_set_alloc_funcs(json_get, free);
}

/* --- what DPDK calls by pointer --- */

static eth_tx_burst_t really_send;
static rte_mempool_dequeue_t really_take;
static struct rte_mbuf *posted[PORTS][POSTED_MAX];
static unsigned n_posted[PORTS];

static uint16_t send_or_not(void *queue, struct rte_mbuf **m, uint16_t n)
{
	return hp3_fault(NUMBER_tx, 0) ? 0 : really_send(queue, m, n);
}

static int take_or_not(struct rte_mempool *mp, void **objects, unsigned n)
{
	return hp3_fault(NUMBER_mbuf, 0) ? -ENOBUFS : really_take(mp, objects, n);
}

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);

	if (clock == CLOCK_REALTIME)
		ts->tv_sec += page->wall_s;
	return ret;
}

struct rte_mempool *__real_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned room, int socket, unsigned flags);
struct rte_mempool *__wrap_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned room, int socket, unsigned flags);

/* Without a cache: each buffer is asked of the pool. */
struct rte_mempool *__wrap_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned room, int socket, unsigned flags)
{
	if (hp3_fault(NUMBER_rte_mempool_create_empty, (uintptr_t)__builtin_return_address(0)))
		return (void *)hp3_fault_answer(NUMBER_rte_mempool_create_empty);
	return __real_rte_mempool_create_empty(name, n, size, 0, room, socket, flags);
}

int __real_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t n, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t n, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __real_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port);
int __real_rte_eth_dev_stop(uint16_t port);
int __wrap_rte_eth_dev_stop(uint16_t port);

int __wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t n, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	const char *want = getenv("HP3_FAULT_POSTED");
	struct rte_mempool_ops *ops = rte_mempool_get_ops(pool->ops_index);
	unsigned some = want == NULL ? 0 : RTE_MIN((unsigned)atoi(want), POSTED_MAX);

	if (hp3_fault(NUMBER_rte_eth_rx_queue_setup, (uintptr_t)__builtin_return_address(0)))
		return (int)hp3_fault_answer(NUMBER_rte_eth_rx_queue_setup);
	if (ops->dequeue != take_or_not) {
		really_take = ops->dequeue;
		ops->dequeue = take_or_not;
	}
	if (some > 0 && n_posted[port] == 0 &&
		rte_pktmbuf_alloc_bulk(pool, posted[port], some) == 0)
		n_posted[port] = some;
	return __real_rte_eth_rx_queue_setup(port, queue, n, socket, conf, pool);
}

int __wrap_rte_eth_dev_start(uint16_t port)
{
	int ret;

	if (hp3_fault(NUMBER_rte_eth_dev_start, (uintptr_t)__builtin_return_address(0)))
		return (int)hp3_fault_answer(NUMBER_rte_eth_dev_start);
	ret = __real_rte_eth_dev_start(port);
	if (ret == 0 && rte_eth_fp_ops[port].tx_pkt_burst != send_or_not) {
		really_send = rte_eth_fp_ops[port].tx_pkt_burst; /* all ports have one driver */
		rte_eth_fp_ops[port].tx_pkt_burst = send_or_not;
	}
	return ret;
}

int __wrap_rte_eth_dev_stop(uint16_t port)
{
	rte_pktmbuf_free_bulk(posted[port], n_posted[port]);
	n_posted[port] = 0;
	return __real_rte_eth_dev_stop(port);
}
