/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of rails, from their drivers and the kernel. */
#include <rte_ethdev.h>
#include "app/hp3d/control/control.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"

void hp3d_read_port_up(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++)
		for (unsigned d = 0; d < 2; d++)
			hp3d_page_count(page,
				(struct hp3d_labels){
					{from->cfg->rails[r].name, hp3d_side_names[d]}},
				hp3d_port_is_up(hp3d_rail_ports(r)->in[d]));
}

void hp3d_read_port_silent(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++)
		for (unsigned d = 0; d < 2; d++)
			hp3d_page_count(page,
				(struct hp3d_labels){
					{from->cfg->rails[r].name, hp3d_side_names[d]}},
				hp3d_port_is_silent(r, d));
}

void hp3d_read_port_silences(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++)
		for (unsigned d = 0; d < 2; d++)
			hp3d_page_count(page,
				(struct hp3d_labels){
					{from->cfg->rails[r].name, hp3d_side_names[d]}},
				hp3d_port_silences(r, d));
}

void hp3d_read_port_errors(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++) {
		for (unsigned d = 0; d < 2; d++) {
			const char *rail = from->cfg->rails[r].name, *side = hp3d_side_names[d];
			struct rte_eth_stats s;

			if (rte_eth_stats_get(hp3d_rail_ports(r)->in[d], &s) < 0)
				continue;
			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "rx_missed"}}, s.imissed);
			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "rx_error"}}, s.ierrors);
			hp3d_page_count(page, (struct hp3d_labels){{rail, side, "rx_no_buffer"}},
				s.rx_nombuf);
			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "tx_error"}}, s.oerrors);
		}
	}
}

void hp3d_read_bypass_direct(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++) {
		const struct hp3d_bypass *b = hp3d_bypass(r);

		if (b != NULL)
			hp3d_page_count(page, (struct hp3d_labels){{from->cfg->rails[r].name}},
				hp3d_bypass_is_direct(hp3d_bypass_info(b).phase));
	}
}

void hp3d_read_bypass_hangs(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++) {
		const struct hp3d_bypass *b = hp3d_bypass(r);

		if (b != NULL)
			hp3d_page_count(page, (struct hp3d_labels){{from->cfg->rails[r].name}},
				hp3d_bypass_info(b).hangs);
	}
}

void hp3d_read_bypass_packets(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < hp3_config_ports(from->cfg) / 2; r++) {
		const struct hp3d_bypass *b = hp3d_bypass(r);
		struct hp3d_bypass_info i;

		if (b == NULL)
			continue;
		i = hp3d_bypass_info(b);
		for (unsigned d = 0; d < 2; d++) {
			const char *rail = from->cfg->rails[r].name, *side = hp3d_side_names[d];
			const struct hp3_bypass_counts *c = &i.dir[d];

			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "taken"}}, c->taken);
			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "direct"}}, c->roce);
			hp3d_page_count(
				page, (struct hp3d_labels){{rail, side, "others"}}, c->others);
			hp3d_page_count(page, (struct hp3d_labels){{rail, side, "lost"}}, c->lost);
		}
	}
}
