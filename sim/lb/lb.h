/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The interface of a load balancer: a table of functions, and private state per simulation and per
 * flow. Each of the functions may be NULL. The file of a balancer cites the source of its rules and
 * parameters. Switches do not call a balancer in hosts. So such a balancer sees only the things
 * that a host can see.
 */
#include "sim/fabric/switch.h"

struct sim_message;

struct sim_lb {
	const char *name;
	const char *about; /* one line: what it does, and where it runs */
	size_t flow_bytes; /* of sim_flow.lb, zeroed at the start of each flow */
	bool probes_at_setup; /* probes before the first data; requires rnic.setup_us > 0 */
	int (*start)(struct sim *s); /* makes s->lb_state */
	void (*stop)(struct sim *s);

	/*
	 * In switches: packet p has arrived by port p->to. True: *out is the egress port; *out is
	 * NULL if there is no route. False: the balancer has taken the packet, and holds or has
	 * ended it. If this function is NULL, the hash chooses the egress port.
	 */
	bool (*route)(
		struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out);

	/*
	 * In libraries of applications. The message of a demand begins. If this function is not
	 * NULL, the balancer posts the message in parts: see sim_flow_open() and sim_flow_post().
	 */
	void (*split)(struct sim *s, uint32_t demand);
	/*
	 * Required with split(): a part has been acknowledged, or, for READs, has arrived. If it
	 * was the last part of its message, the balancer calls sim_flow_demand_done().
	 */
	void (*part_done)(struct sim *s, struct sim_flow *f, const struct sim_message *part);

	/* In hosts. */
	void (*flow_start)(struct sim *s, struct sim_flow *f); /* may set f->sport */
	void (*flow_end)(struct sim *s, struct sim_flow *f);
	/* A message was posted (called for each message). May lower f->limit. */
	void (*posted)(struct sim *s, struct sim_flow *f);
	/*
	 * The RNIC sends a data packet or a READ request. May set p->sport. False: the balancer has
	 * taken the packet.
	 */
	bool (*data)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/*
	 * Data for the RNIC have arrived, or, for READs, a NAK. False: the balancer has taken the
	 * packet.
	 */
	bool (*arrived)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/*
	 * An ACK, NAK or CNP for the RNIC has arrived. For READs, this function is also called for
	 * requests, and, after arrived(), for data. False: the RNIC does not get the packet, and
	 * the caller ends the packet.
	 */
	bool (*reply)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* The RNIC sends an ACK, NAK or CNP. May set the packet's source port p->back. */
	void (*answers)(struct sim *s, struct sim_flow *f, struct sim_packet *p);
	/* At the sender of data: an ACK or NAK of WRITEs, or a CNP, has reached the RNIC. */
	void (*acked)(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);
	void (*timeout)(struct sim *s, struct sim_flow *f);
	/*
	 * A packet that is not from an RNIC (for example, a probe) has arrived. The caller ends it.
	 */
	void (*other)(struct sim *s, struct sim_host *host, struct sim_packet *p);
};

/* The balancer with this name, or NULL. */
const struct sim_lb *sim_lb_find(const char *name);
/* The i-th balancer; NULL: there are fewer. */
const struct sim_lb *sim_lb_list(unsigned i);

/* All balancers, in the order in which `hp3-sim list` names them. */
#define SIM_BALANCERS(X)                                                                           \
	X(ecmp)                                                                                    \
	X(hp3)                                                                                     \
	X(hp3_verbs)                                                                               \
	X(hp3_ideal)                                                                               \
	X(hp3_paper)                                                                               \
	X(hp3x)                                                                                    \
	X(flowbender)                                                                              \
	X(plb)                                                                                     \
	X(hopper)                                                                                  \
	X(hermes)                                                                                  \
	X(letflow)                                                                                 \
	X(conga)                                                                                   \
	X(drill)                                                                                   \
	X(rps)                                                                                     \
	X(ar)                                                                                      \
	X(conweave)                                                                                \
	X(stellar_obs)                                                                             \
	X(stellar_rr)                                                                              \
	X(stellar_dwrr)                                                                            \
	X(stellar_bestrtt)                                                                         \
	X(stellar_mprdma)

#define SIM_BALANCER(id) extern const struct sim_lb sim_lb_##id;
SIM_BALANCERS(SIM_BALANCER)
#undef SIM_BALANCER
