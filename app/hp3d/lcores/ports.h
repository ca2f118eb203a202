/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The two ports of each rail. With any PMD, hp3d creates the ports from devargs. The ports are
 * promiscuous, because their packets have the addresses of other hosts. With several lcores, a port
 * has an Rx and a Tx queue for every lcore if its NIC can spread packets by their addresses
 * (spread.h). Otherwise, the port has one Rx and one Tx queue. If a port of a rail cannot spread
 * packets, one lcore handles the whole rail: lcore i mod N for rail i and N lcores. With spread =
 * software, the lcores instead hand the rail's packets to each other. All rails of a bond are alike
 * in this respect, because they share their flows. When hp3d starts, it prints the choice for each
 * rail, and the reason.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "app/hp3d/lcores/spread.h"
#include "config/config.h"
#include "engine/engine.h"

struct hp3d_frame_limit;
struct rte_mempool;

/* `in`: the port that receives packets of a direction (TX: from the RNIC's side; RX: from the
 * network's side). */
struct hp3d_rail_ports {
	uint16_t in[2];
	bool spreads[2]; /* by direction: Rx and Tx queue i of that port belong to worker i */
	bool whole; /* one worker handles the whole rail */
	bool keeps; /* a port's driver (net_af_xdp) does not free its empty receive buffers */
	/* config/bonds.h: the rail whose pipes have this rail's flows; the next rail of the same
	 * bond. Without a bond, both are the rail itself. */
	uint8_t lead, next;
	struct rte_mempool *pool;
};

/* Returns 0, or -1 after a message on stderr that names rail, side and fix. On failure, ports that
 * had started are stopped again. Refuses more lcores than rails if no rail can be spread over
 * lcores. */
int hp3d_ports_start(const struct hp3_config *cfg);
void hp3d_ports_stop(void);
const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail);
/* Number of rails of this rail's bond; 1 without a bond. */
static inline unsigned hp3d_rail_members(unsigned rail)
{
	unsigned n = 0, member = rail;

	do {
		member = hp3d_rail_ports(member)->next;
		n++;
	} while (member != rail);
	return n;
}

unsigned hp3d_rail_count(void);
const struct hp3d_spread *hp3d_ports_spread(void);

/* Does a port have a link? A kernel interface has a link if it has a carrier; a deleted interface
 * has none. Makes system calls, so lcores must not call it. */
bool hp3d_port_is_up(uint16_t port);
/* MTU of an interface of the kernel; 0: not known. Makes system calls. */
uint32_t hp3d_interface_mtu(unsigned ifindex);
/*
 * Limits of ports on kernel interfaces: their MTUs. Ports of other drivers have no limit. The
 * control thread reads all limits when workers start, and again now and then, because an MTU may
 * change. `dir`: as in hp3d_rail_ports.
 */
void hp3d_frame_limits_read(void);
const struct hp3d_frame_limit *hp3d_frame_limit(unsigned rail, unsigned dir);
/* True: the port's interface was deleted. A later interface of the same name is a different one. */
bool hp3d_port_is_gone(uint16_t port);

/*
 * Only one hp3d at a time may use a kernel interface, because two hp3d would both forward the
 * interface's frames. This file locks interfaces, and finds a free fanout group for net_af_packet.
 */

/*
 * Locks the interface for as long as this process lives. Returns 0, or the id of the process that
 * has locked the interface. If /run/hp3 cannot be used (hp3d is not root), the interface counts as
 * free.
 */
pid_t hp3d_claim_interface(const char *name);

/*
 * net_af_packet of DPDK 22.11 uses fanout group getpid() ^ interface index (16 bits). No option
 * changes this. Two hp3d in one network namespace may get the same group, for example processes
 * 1000 and 1001 on interfaces 6 and 7. Then one of the two cannot start, not even after a restart
 * with the same process id. Between hp3d_fanout_begin() and hp3d_fanout_end(), this thread's
 * getpid() returns a value for which the group is free.
 */
void hp3d_fanout_begin(const char *interface);
void hp3d_fanout_end(void);

/*
 * net_af_xdp attaches an XDP program when it opens a port. This program determines if the rail can
 * fail open (bypass.h). So hp3d chooses the program before it opens the port.
 */
bool hp3d_xdp_is_driver(const char *devargs);
/* Does the rail fail open with a port of net_af_xdp? */
bool hp3d_xdp_fails_open(const struct hp3_config *cfg, unsigned rail);
/* Why a port with these devargs can never fail open; NULL: it can. */
const char *hp3d_xdp_unsupported(const char *devargs);

/*
 * Writes a port's devargs for EAL: `devargs`, and hp3's program if the driver is net_af_xdp and the
 * rail fails open. Detaches a program that a killed hp3d left on the interface. Returns 0, or a
 * negative errno with the cause in `why`.
 */
int hp3d_xdp_devargs(
	const char *devargs, bool fails_open, char *buf, size_t cap, char *why, size_t why_cap);

/*
 * Sets up the queues of one port, its RSS and its Rx interrupts. If the device refuses a set-up,
 * hp3d tries a simpler one: one queue without RSS, then no interrupts. hp3d sets the RSS key and
 * the indirection table, and reads the key back. Workers also check the queue of every packet, in
 * case the device hashes differently.
 */
struct rte_mempool;

struct hp3d_port_wish {
	struct rte_mempool *pool;
	const struct hp3d_spread *spread;
	uint16_t mtu; /* 0: the driver's default */
	bool one_queue; /* one lcore handles the whole rail */
	bool interrupts; /* received packets are to wake a sleeping lcore */
	bool virtual; /* a virtual device: calls that its driver does not support are no failures */
};

/* Why the lcores have to spread a port's packets themselves; NULL: the port's NIC can spread
 * them. */
const char *hp3d_port_unsupported(uint16_t port, unsigned lcores);

/* Returns 0 if the port runs. If *reason is NULL, the port has an Rx and a Tx queue for every
 * lcore. Otherwise, the port has one Rx and one Tx queue, and *reason says why. On failure, returns
 * the negative errno of the DPDK call that *what names. */
int hp3d_port_setup(
	uint16_t port, const struct hp3d_port_wish *wish, const char **reason, const char **what);
