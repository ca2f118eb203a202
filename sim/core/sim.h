/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The state of one simulation, and the calls between its parts. A process may have several
 * simulations. Only one thread uses a simulation.
 *
 * Invariants: the same configuration, topology, flows and seed give the same events and the same
 * bytes of output. Every packet is delivered, consumed, or dropped with a reason, and the counters
 * say which (sim_counters). So if no packet is in flight, the counters `made` and `ended` are
 * equal.
 */
#include <stdbool.h>
#include <stdint.h>
#include "cc/dcqcn.h"
#include "base/random.h"
#include "sim/core/config.h"
#include "sim/core/counters.h"
#include "sim/core/memory.h"
#include "sim/core/queue.h"
#include "sim/fabric/topo.h"

#define SIM_NS  UINT64_C(1000)
#define SIM_US  UINT64_C(1000000)
#define SIM_MS  UINT64_C(1000000000)
#define SIM_SEC UINT64_C(1000000000000)

struct sim_lb;
struct sim_port;
struct sim_host;
struct sim_switch;
struct sim_packet;
struct sim_flow;
struct sim_jobs;
struct sim_faults;
struct sim_capture;

/* A future flow, from a line of a trace or from a generator. */
struct sim_demand {
	uint64_t start; /* ps */
	uint64_t bytes;
	uint32_t src, dst;
	uint32_t tag; /* set by the generator; passed to sim_jobs_done() when the flow ends */
	bool background; /* excluded from slowdowns */
	bool read; /* true: dst READs from src; false: src WRITEs to dst. Set by sim_demand_add() */
};

/* Result of a demand. */
struct sim_outcome {
	uint64_t fct; /* ps, 0: not finished */
	uint64_t base; /* ps, FCT of the flow alone in the fabric (docs/guide/simulate.md) */
};

struct sim {
	uint64_t now; /* ps */
	struct sim_queue queue;
	uint64_t rng; /* state of the random numbers of switches and balancers */
	struct sim_config asked; /* the configuration as given */
	struct sim_config cfg; /* as used: balancers may change settings of the RNIC */
	struct sim_topo topo;
	struct sim_input sizes, flows; /* empty name: no file was read */
	struct sim_port *port; /* by number */
	struct sim_host *host;
	struct sim_switch *sw; /* by node number - hosts */
	const struct sim_lb *lb;
	void *lb_state;
	struct hp3_dcqcn_params rp; /* sim_host_rp() adds the line rate of a port */
	struct sim_pool packets, flow_pool, message_pool;
	struct sim_counters n;

	struct sim_demand *demand; /* sorted by start; at most UINT32_MAX demands */
	struct sim_outcome *outcome;
	uint32_t n_demands, cap_demands, finished;
	uint32_t n_known, next_known; /* demands added before sim_run(): number; next to start */
	uint32_t known_done; /* how many of the n_known demands have ended */
	struct sim_event arrivals;
	struct sim_jobs *jobs; /* NULL: no flow waits for another flow */
	uint32_t open_work; /* number of jobs that may still add demands, without background jobs */
	struct sim_faults *faults;
	struct sim_capture *capture; /* NULL: no capture; owned by the caller */
	uint64_t first_start, last_end;
	/*
	 * If not NULL, sim_run() calls this every 65,536 events. It must not change the simulation.
	 */
	void (*progress)(const struct sim *s, void *arg);
	void *progress_arg;
};

/*
 * Makes a simulation. Copies *cfg, and takes ownership of *topo, which must be finished
 * (sim_topo_finish()). Returns 0, or a negative errno with a message in err.
 */
int sim_create(struct sim *s, const struct sim_config *cfg, struct sim_topo *topo, char *err,
	uint32_t err_size);
void sim_destroy(struct sim *s);

/* Adds a flow. Call this before sim_run(). The order of start times does not matter. */
uint32_t sim_demand_add(struct sim *s, const struct sim_demand *d);
/* Adds a flow that starts now. */
void sim_demand_now(struct sim *s, const struct sim_demand *d);

/* Runs until all work is done. Returns 0; -ETIME: `limit` ps have passed, or no event is left. */
int sim_run(struct sim *s, uint64_t limit);

static inline void sim_at(struct sim *s, struct sim_event *event, uint64_t at)
{
	event->at = at;
	sim_queue_add(&s->queue, event);
}

static inline uint32_t sim_rand_below(struct sim *s, uint32_t n)
{
	return hp3_random_below(&s->rng, n);
}

/*
 * Makes a packet that is sent now. `event`, `arg_psn` and `tag` are undefined; all other fields are
 * as given, or 0.
 */
struct sim_packet *sim_packet_new(
	struct sim *s, uint8_t kind, uint32_t bytes, struct sim_flow *flow, uint32_t psn);
/* Copies a packet. The copy does not count as a first transmission. */
struct sim_packet *sim_packet_copy(struct sim *s, const struct sim_packet *of);
/*
 * Frees a packet that has arrived, or was consumed or dropped. The caller counts which of these
 * happened.
 */
void sim_packet_end(struct sim *s, struct sim_packet *p);
void sim_packet_drop(struct sim *s, struct sim_packet *p, enum sim_drop reason);
