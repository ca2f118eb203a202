/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/control.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/flowid.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/flow_state_file.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"

#define FOUND_PER_CALL  64u
#define LOOKED_PER_CALL 512u /* flows; some microseconds */
#define PAUSE_NS        100000000ull /* minimum between two writes */
#define PAUSE_WORK      50u /* ... and in units of the last write's duration */
#define REFRESH_NS      5000000000ull /* removes flows that have ended, too */

static struct {
	const struct hp3_config *cfg; /* NULL: no file is written */
	char path[HP3_INI_VALUE_MAX + 8];
	bool changed, failed;
	uint64_t next, refresh; /* earliest time; latest time, even without a change */
	size_t in_file;
} moved;

struct page {
	unsigned rail, n;
	uint32_t index; /* in: first record; out: next record, HP3_NO_FLOW at the end */
	struct hp3_flow_info info[FOUND_PER_CALL];
};

static void collect_moved(struct hp3d_worker *w, void *arg)
{
	struct page *p = arg;
	struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, p->rail));
	uint64_t now = hp3d_now();
	unsigned looked = 0;

	p->n = 0;
	while (looked++ < LOOKED_PER_CALL && p->n < FOUND_PER_CALL &&
		(p->index = hp3_flow_next(e, p->index)) != HP3_NO_FLOW) {
		struct hp3_flow_info *f = &p->info[p->n];

		if (hp3_flow_info(e, p->index++, now, f) == 0)
			p->n += f->moved || f->replies != 0;
	}
}

static int add_all(json_t *list, unsigned rail, struct hp3d_worker *w, bool ended)
{
	struct page p = {.rail = rail};
	char id[HP3_FLOWID_MAX];

	while (p.index != HP3_NO_FLOW) {
		if (ended)
			collect_moved(w, &p);
		else if (hp3d_worker_call(w, collect_moved, &p) < 0)
			return -ETIMEDOUT;
		for (unsigned i = 0; i < p.n; i++) {
			const struct hp3_flow_info *f = &p.info[i];

			hp3d_flow_name(moved.cfg, rail, f, id);
			if (json_array_append_new(list,
				    json_pack("{s:s, s:i, s:i}", "flow", id, "port",
					    f->moved ? f->port : 0, "replies", f->replies)) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int write_all(bool ended)
{
	json_t *list = json_array();
	int rc = list != NULL ? 0 : -ENOMEM;

	for (unsigned rail = 0; rail < moved.cfg->n_rails && rc == 0; rail++) {
		if (!hp3_config_is_lead(moved.cfg, rail))
			continue;
		if (hp3d_bypass(rail) != NULL)
			continue; /* the kernel stores this rail's EVs */
		for (unsigned w = 0; w < hp3d_worker_count() && rc == 0; w++)
			rc = add_all(list, rail, hp3d_worker(w), ended);
	}
	if (rc == 0) {
		moved.in_file = json_array_size(list);
		if (moved.in_file != 0)
			return hp3d_flow_state_write(moved.path, list);
		unlink(moved.path);
	}
	json_decref(list);
	return rc;
}

static void write_or_report(bool ended)
{
	int rc = write_all(ended);

	if (rc < 0 && !moved.failed)
		fprintf(stderr,
			"hp3d: %s: cannot be written: %s; the next hp3d begins "
			"with home ports; make room there, or set moved= in [control]\n",
			moved.path, strerror(-rc));
	moved.failed = rc < 0;
}

void hp3d_flow_state_note(const struct hp3d_event *e)
{
	switch ((enum hp3_event_type)e->event.type) {
	case HP3_EVENT_SWITCH:
	case HP3_EVENT_IDLE_SWITCH:
	case HP3_EVENT_FAILOVER:
	case HP3_EVENT_REPLIES:
		moved.changed = true;
		break;
	default:
		break;
	}
}

void hp3d_flow_state_poll(void)
{
	uint64_t now;

	if (moved.cfg == NULL)
		return;
	now = hp3d_now();
	if (now < moved.next || !(moved.changed || (moved.in_file != 0 && now >= moved.refresh)))
		return;
	write_or_report(false);
	moved.changed = moved.failed;
	moved.refresh = hp3d_now() + REFRESH_NS;
	moved.next = hp3d_now() + PAUSE_NS + PAUSE_WORK * (hp3d_now() - now);
}

static bool is_port(int port)
{
	return port >= 0 && port <= UINT16_MAX;
}

static bool restore_flow(const struct hp3_config *cfg, json_t *entry)
{
	const char *text;
	struct hp3_flowid id;
	struct hp3_ends ends;
	unsigned rail, worker;
	int port, replies;

	if (json_unpack(entry, "{s:s, s:i, s:i}", "flow", &text, "port", &port, "replies",
		    &replies) != 0 ||
		!is_port(port) || !is_port(replies) || hp3_flowid_parse(text, &id) < 0 ||
		(rail = hp3_config_flows_rail(cfg, id.rail)) == cfg->n_rails ||
		hp3d_bypass(rail) != NULL)
		return false;
	ends = (struct hp3_ends){id.ipv6, id.vlan, id.local, id.remote};
	worker = hp3d_worker_of(rail, id.ipv6, id.local, id.remote);
	return hp3_flow_restore(hp3d_pipe_engine(hp3d_worker_pipe(hp3d_worker(worker), rail)),
		       &ends, id.rqpn, (uint16_t)port, (uint16_t)replies, hp3d_now()) == 0;
}

void hp3d_flow_state_begin(const struct hp3_config *cfg)
{
	const char *why;
	size_t i, restored = 0;
	json_t *flows, *entry;

	if (!hp3d_flow_state_path(cfg, moved.path, sizeof(moved.path)))
		return;
	moved.cfg = cfg;
	flows = hp3d_flow_state_read(moved.path, &why);
	if (why != NULL)
		fprintf(stderr,
			"hp3d: %s: not used, %s: flows begin on their home ports; remove it\n",
			moved.path, why);
	json_array_foreach (flows, i, entry)
		restored += restore_flow(cfg, entry);
	moved.in_file = json_array_size(flows);
	if (moved.in_file != 0)
		fprintf(stderr,
			"hp3d: %zu of %zu flows go on where an hp3d before had moved them (%s)\n",
			restored, moved.in_file, moved.path);
	json_decref(flows);
}

void hp3d_flow_state_end(void)
{
	if (moved.cfg != NULL)
		write_or_report(true);
	moved.cfg = NULL;
}
