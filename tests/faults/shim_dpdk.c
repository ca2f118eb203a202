/* SPDX-License-Identifier: BSD-3-Clause */
/* Gates of hp3d's own: before what DPDK calls by pointer, and calls that have more to do. */
#include <stdlib.h>
#include <time.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include "numbers.h"

#define PORTS      8u
#define POSTED_MAX 4096u

void hp3_fault_reported(int err)
{
	rte_errno = err;
}

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

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);

	if (clock == CLOCK_REALTIME)
		ts->tv_sec += hp3_fault_wall();
	return ret;
}
