/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/control.h"
#include <stdio.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include "app/clock.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/members.h"
#include "app/hp3d/lcores/ports.h"
#include "config/bonds.h"

#define LOOK_NS 250000000ull
#define LINK_NS 30000000000ull /* longest time from setting up a port to its link */

static struct {
	bool down[HP3_CONFIG_RAILS_MAX][2]; /* by direction: the port where its packets arrive */
	bool held[HP3_CONFIG_RAILS_MAX][2]; /* this module set it down */
	/* until then, or until it has a link, a port that was set up counts as live */
	uint64_t trained_by[HP3_CONFIG_RAILS_MAX][2];
	bool refused[HP3_CONFIG_RAILS_MAX]; /* the driver cannot set the link */
	uint64_t next;
	bool known;
} links;

static int changes = -1; /* netlink socket; -1: links are only polled */

static void report_link(const struct hp3_config *cfg, unsigned rail, unsigned dir, bool up)
{
	struct hp3d_event e = {.rail = (uint16_t)rail,
		.event = {.t_ns = hp3d_now(),
			.type = HP3_EVENT_LINK,
			.reason = (uint8_t)dir,
			.from = !up,
			.to = up,
			.flow = HP3_NO_FLOW}};

	fprintf(stderr, "hp3d: [rail.%s] %s: the link is %s\n", cfg->rails[rail].name,
		hp3d_side_names[dir],
		up ? "up again"
		: hp3_config_bond(cfg, rail) < cfg->n_bonds
			? "down: RoCEv2 packets for it take another rail of the bond until it is up"
			: "down: nothing passes on this rail until it is up");
	if (!up && hp3d_port_is_gone(hp3d_rail_ports(rail)->in[dir]))
		fprintf(stderr,
			"hp3d: [rail.%s] %s: its interface was deleted: make it anew, then restart "
			"hp3d\n",
			cfg->rails[rail].name, hp3d_side_names[dir]);
	hp3d_events_add(&e, hp3_clock_ns(CLOCK_REALTIME));
}

/* Not for interfaces of the kernel: app/hp3d/service/carry.c handles those. */
static bool is_driver_s(uint16_t port)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port, &info) == 0 && info.if_index == 0;
}

/* A netlink socket for changes of kernel interfaces, if such an interface is a port of a bond:
 * until lcores know that a member has no link, they send packets there. */
static void open_changes(const struct hp3_config *cfg)
{
	struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	bool wanted = false;

	for (unsigned i = 0; i < hp3_config_ports(cfg); i++)
		wanted |= hp3_config_bond(cfg, i / 2) < cfg->n_bonds &&
			  !is_driver_s(hp3d_rail_ports(i / 2)->in[i % 2]);
	if (!wanted)
		return;
	changes = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (changes < 0 || bind(changes, (struct sockaddr *)&all, sizeof(all)) == 0)
		return;
	close(changes);
	changes = -1;
}

int hp3d_links_fd(void)
{
	return changes;
}

void hp3d_links_changed(void)
{
	char text[4096];

	while (recv(changes, text, sizeof(text), 0) > 0)
		;
	links.next = 0;
}

static void set_port_link(const struct hp3_config *cfg, unsigned rail, unsigned dir, bool down)
{
	uint16_t port = hp3d_rail_ports(rail)->in[dir];
	int err = down ? rte_eth_dev_set_link_down(port) : rte_eth_dev_set_link_up(port);

	links.held[rail][dir] = down && err == 0;
	links.trained_by[rail][dir] = down ? 0 : hp3d_now() + LINK_NS;
	links.refused[rail] = err < 0;
	if (err < 0)
		fprintf(stderr, "hp3d: [rail.%s] %s: its driver cannot set the link %s: %s\n",
			cfg->rails[rail].name, hp3d_side_names[dir], down ? "down" : "up",
			rte_strerror(-err));
	else
		fprintf(stderr, "hp3d: [rail.%s] %s: %s\n", cfg->rails[rail].name,
			hp3d_side_names[dir],
			down ? "set down, for as long as the other port has no link"
			     : "set up again");
}

static void carry_link_loss(const struct hp3_config *cfg, unsigned rail)
{
	for (unsigned dir = 0; dir < 2; dir++) {
		bool lost = links.down[rail][!dir] && !links.held[rail][!dir] &&
			    hp3d_now() >= links.trained_by[rail][!dir];

		if (lost == links.held[rail][dir] || links.refused[rail] ||
			!is_driver_s(hp3d_rail_ports(rail)->in[dir]))
			continue;
		if (!lost || !links.down[rail][dir])
			set_port_link(cfg, rail, dir, lost);
	}
}

void hp3d_links_end(const struct hp3_config *cfg)
{
	if (changes >= 0)
		close(changes);
	changes = -1;
	for (unsigned i = 0; i < hp3_config_ports(cfg); i++) {
		if (links.held[i / 2][i % 2])
			set_port_link(cfg, i / 2, i % 2, false);
	}
}

void hp3d_links_watch(const struct hp3_config *cfg)
{
	if (hp3d_now() < links.next)
		return;
	links.next = hp3d_now() + LOOK_NS;
	if (!links.known)
		open_changes(cfg);
	for (unsigned i = 0; i < hp3_config_ports(cfg); i++) {
		bool *down = &links.down[i / 2][i % 2];
		bool was = *down;

		*down = !hp3d_port_is_up(hp3d_rail_ports(i / 2)->in[i % 2]);
		if (!*down)
			links.trained_by[i / 2][i % 2] = 0;
		else if (!links.known)
			links.trained_by[i / 2][i % 2] = hp3d_now() + LINK_NS;
		hp3d_members_set_link(i / 2, (enum hp3_dir)(i % 2), !*down);
		if (links.known && *down != was)
			report_link(cfg, i / 2, i % 2, !*down);
	}
	links.known = true;
	if (hp3_config_ports(cfg) > 0)
		hp3d_frame_limits_read();
	for (unsigned rail = 0; cfg->bypass.carry_link && rail < hp3_config_ports(cfg) / 2; rail++)
		carry_link_loss(cfg, rail);
}

json_t *hp3d_links_json(const struct hp3_config *cfg)
{
	json_t *j = json_object();

	for (unsigned rail = 0; j && rail < hp3_config_ports(cfg) / 2; rail++)
		json_object_set_new(j, cfg->rails[rail].name,
			json_pack("{s:b, s:b}", hp3d_side_names[HP3_DIR_TX],
				!links.down[rail][HP3_DIR_TX], hp3d_side_names[HP3_DIR_RX],
				!links.down[rail][HP3_DIR_RX]));
	return j;
}
