/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_LB_H
#define HP3_SIM_LB_LB_H
/*
 * What a load balancer is to the simulator: a table of calls, each of which may be NULL, and state
 * of its own per simulation and per flow. One file per balancer, which cites where its rules and
 * parameters come from. A balancer that works in hosts gets no call from switches: it cannot see
 * more than a host can.
 */
#include "sim/fabric/switch.h"

struct sim_lb {
	const char *name;
	size_t flow_bytes; /* of sim_flow.lb, zeroed at the start of each flow */
	bool probes_at_setup; /* before the first data: it needs rnic.setup_us, and has to wait */
	int (*start)(struct sim *s); /* makes s->lb_state */
	void (*stop)(struct sim *s);

	/*
	 * In switches: packet p came in by p->to. True: *out is where it goes (NULL: no route);
	 * false: the balancer keeps or has ended it. NULL: by hash.
	 */
	bool (*route)(
		struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out);

	/* In hosts. */
	void (*flow_start)(struct sim *s, struct sim_flow *f); /* may set f->sport */
	void (*flow_end)(struct sim *s, struct sim_flow *f);
	/* One more message, the first one included; may lower f->limit. */
	void (*posted)(struct sim *s, struct sim_flow *f);
	/*
	 * The RNIC emits data or a READ request; may set its sport. False: the balancer has taken
	 * it.
	 */
	bool (*data)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* Data for the RNIC; of READs also NAKs. False: the balancer has taken it. */
	bool (*arrived)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/*
	 * ACK, NAK or CNP for the RNIC; of READs also requests and data, behind arrived(). False:
	 * consumed; the caller ends it.
	 */
	bool (*reply)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* The RNIC emits an ACK, NAK or CNP, for the other end; may set its port (`back`). */
	void (*answers)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* Of WRITEs ACKs and NAKs at the sender of data; CNPs. READs are not acknowledged. */
	void (*acked)(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);
	void (*timeout)(struct sim *s, struct sim_flow *f);
	/* A packet that is neither data nor reply of the RNIC arrived; the caller ends it. */
	void (*other)(struct sim *s, struct sim_host *host, struct sim_packet *p);
};

/* NULL if there is none of that name. */
const struct sim_lb *sim_lb_find(const char *name);
/* The i-th, NULL behind the last. */
const struct sim_lb *sim_lb_list(unsigned i);

#endif
