/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_LB_H
#define HP3_SIM_LB_LB_H
/*
 * The interface of a load balancer: a table of functions, each of which may be NULL, and its own
 * state per simulation and per flow. One file per balancer, which cites the source of its rules and
 * parameters. A balancer in hosts gets no call from switches: it sees what a host can see.
 */
#include "sim/fabric/switch.h"

struct sim_lb {
	const char *name;
	size_t flow_bytes; /* of sim_flow.lb, zeroed at the start of each flow */
	bool probes_at_setup; /* before the first data: it needs rnic.setup_us to do so */
	int (*start)(struct sim *s); /* makes s->lb_state */
	void (*stop)(struct sim *s);

	/*
	 * In switches: packet p arrived by p->to. True: *out is its egress port (NULL: no route);
	 * false: the balancer keeps or has ended it. Without this function: by hash.
	 */
	bool (*route)(
		struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out);

	/* In hosts. */
	void (*flow_start)(struct sim *s, struct sim_flow *f); /* may set f->sport */
	void (*flow_end)(struct sim *s, struct sim_flow *f);
	/* One more message, the first one included; may lower f->limit. */
	void (*posted)(struct sim *s, struct sim_flow *f);
	/* The RNIC emits data or a READ request; may set its sport. False: the balancer took it. */
	bool (*data)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* Data for the RNIC; for READs also NAKs. False: the balancer took it. */
	bool (*arrived)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/*
	 * ACK, NAK or CNP for the RNIC; for READs also requests and data, after arrived(). False:
	 * consumed; the caller ends it.
	 */
	bool (*reply)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* The RNIC emits an ACK, NAK or CNP; may set its port (`back`). */
	void (*answers)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* At the sender of data: ACKs and NAKs of WRITEs; CNPs. READs are not acknowledged. */
	void (*acked)(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);
	void (*timeout)(struct sim *s, struct sim_flow *f);
	/* A packet that is neither data nor reply of the RNIC arrived; the caller ends it. */
	void (*other)(struct sim *s, struct sim_host *host, struct sim_packet *p);
};

/* NULL if there is none of that name. */
const struct sim_lb *sim_lb_find(const char *name);
/* The i-th; NULL after the last. */
const struct sim_lb *sim_lb_list(unsigned i);

#endif
