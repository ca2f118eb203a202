/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include "app/clock.h"
#include "app/hp3d/control/control.h"
#include "app/hp3d/control/counters.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/silence.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/pipe/pipe.h"

#define PERIOD_NS 250000000ull

static struct {
	struct hp3d_silence port[HP3_CONFIG_RAILS_MAX][2]; /* by direction of its packets */
	uint64_t next;
} silences;

static uint64_t read_counter(unsigned rail, size_t offset)
{
	return hp3d_part_sum(rail, HP3D_PART_PIPE, offset);
}

static uint64_t count_arrived(unsigned rail, unsigned dir)
{
	return read_counter(rail, dir == HP3_DIR_TX ? offsetof(struct hp3d_pipe_counters, roce_tx)
						    : offsetof(struct hp3d_pipe_counters, roce_rx));
}

/* Connection management counts: without replies, no queue pair is set up. */
static uint64_t count_requests(unsigned rail)
{
	return read_counter(
		       rail, offsetof(struct hp3d_pipe_counters, class[HP3_CLASS_RC_REQUEST])) +
	       read_counter(rail, offsetof(struct hp3d_pipe_counters, class[HP3_CLASS_CM]));
}

static void report_silence(const struct hp3_config *cfg, unsigned rail, unsigned dir)
{
	const struct hp3d_silence *s = &silences.port[rail][dir];
	struct hp3d_event e = {.rail = (uint16_t)rail,
		.event = {.t_ns = hp3d_now(),
			.type = HP3_EVENT_SILENT,
			.reason = (uint8_t)dir,
			.from = !s->silent,
			.to = s->silent,
			.flow = HP3_NO_FLOW}};

	if (s->silent)
		fprintf(stderr,
			"hp3d: [rail.%s] %s: silent: %llu requests left by this port, and no "
			"RoCEv2 "
			"packet has arrived from it. Either no peer answers, or the port carries "
			"only frames of its own address: see hp3ctl doctor, and the spoof check of "
			"a VF or a virtual machine\n",
			cfg->rails[rail].name, hp3d_side_names[dir],
			(unsigned long long)s->unanswered);
	else
		fprintf(stderr, "hp3d: [rail.%s] %s: no longer silent\n", cfg->rails[rail].name,
			hp3d_side_names[dir]);
	hp3d_events_add(&e, hp3_clock_ns(CLOCK_REALTIME));
}

/* Does hp3d see all packets of the rail, and can they leave? */
static bool is_in_use(unsigned rail)
{
	const struct hp3d_bypass *b = hp3d_bypass(rail);
	const struct hp3d_rail_ports *ports = hp3d_rail_ports(rail);

	return (b == NULL || hp3d_bypass_info(b).phase == HP3D_BYPASS_RUNNING) &&
	       hp3d_port_is_up(ports->in[0]) && hp3d_port_is_up(ports->in[1]);
}

void hp3d_silence_watch(const struct hp3_config *cfg)
{
	uint64_t now = hp3d_now();

	if (now < silences.next)
		return;
	silences.next = now + PERIOD_NS;
	for (unsigned rail = 0; rail < hp3_config_ports(cfg) / 2; rail++) {
		uint64_t requests = count_requests(rail);
		bool in_use = is_in_use(rail);

		for (unsigned dir = 0; dir < 2; dir++) {
			struct hp3d_silence *s = &silences.port[rail][dir];
			uint64_t arrived = count_arrived(rail, dir);

			if (in_use ? hp3d_silence_note(s, arrived, requests, now)
				   : hp3d_silence_forget(s, arrived, requests))
				report_silence(cfg, rail, dir);
		}
	}
}

bool hp3d_port_is_silent(unsigned rail, unsigned dir)
{
	return __atomic_load_n(&silences.port[rail][dir].silent, __ATOMIC_RELAXED);
}

uint32_t hp3d_port_silences(unsigned rail, unsigned dir)
{
	return __atomic_load_n(&silences.port[rail][dir].times, __ATOMIC_RELAXED);
}

json_t *hp3d_silent_json(const struct hp3_config *cfg)
{
	json_t *rails = json_object();

	for (unsigned rail = 0; rails && rail < hp3_config_ports(cfg) / 2; rail++)
		json_object_set_new(rails, cfg->rails[rail].name,
			json_pack("{s:b, s:b}", hp3d_side_names[0], hp3d_port_is_silent(rail, 0),
				hp3d_side_names[1], hp3d_port_is_silent(rail, 1)));
	return rails;
}
