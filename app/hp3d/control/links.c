/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/links.h"
#include <stdio.h>
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/lcores/carrier.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/record/wall.h"

#define LOOK_NS 250000000ull

static struct {
	bool down[HP3_CONFIG_RAILS_MAX][2]; /* by direction: where its packets come in */
	uint64_t next;
	bool known;
} links;

static void tell(const struct hp3_config *cfg, unsigned rail, unsigned dir, bool up)
{
	struct hp3d_event e = {.rail = (uint16_t)rail,
		.ev = {.t_ns = hp3d_now(),
			.type = HP3_EV_LINK,
			.reason = (uint8_t)dir,
			.from = !up,
			.to = up,
			.flow = HP3_NO_FLOW}};

	fprintf(stderr, "hp3d: [rail.%s] %s: the link is %s\n", cfg->rails[rail].name,
		hp3d_side_names[dir],
		up ? "up again" : "down: nothing passes on this rail until it is up");
	if (!up && hp3d_port_is_gone(hp3d_rail_ports(rail)->in[dir]))
		fprintf(stderr,
			"hp3d: [rail.%s] %s: its interface was deleted: make it anew, then restart "
			"hp3d\n",
			cfg->rails[rail].name, hp3d_side_names[dir]);
	hp3d_events_add(&e, hp3_wall_now());
}

void hp3d_links_watch(const struct hp3_config *cfg)
{
	if (hp3d_now() < links.next)
		return;
	links.next = hp3d_now() + LOOK_NS;
	for (unsigned i = 0; i < 2 * cfg->n_rails; i++) {
		bool *down = &links.down[i / 2][i % 2];
		bool was = *down;

		*down = !hp3d_port_is_up(hp3d_rail_ports(i / 2)->in[i % 2]);
		if (links.known && *down != was)
			tell(cfg, i / 2, i % 2, !*down);
	}
	links.known = true;
}

unsigned hp3d_links_down(const struct hp3_config *cfg)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 2 * cfg->n_rails; i++)
		n += links.down[i / 2][i % 2];
	return n;
}

json_t *hp3d_links_json(const struct hp3_config *cfg)
{
	json_t *j = json_object();

	for (unsigned rail = 0; j && rail < cfg->n_rails; rail++)
		json_object_set_new(j, cfg->rails[rail].name,
			json_pack("{s:b, s:b}", hp3d_side_names[HP3_DIR_TX],
				!links.down[rail][HP3_DIR_TX], hp3d_side_names[HP3_DIR_RX],
				!links.down[rail][HP3_DIR_RX]));
	return j;
}
