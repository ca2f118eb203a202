/* SPDX-License-Identifier: BSD-3-Clause */
/* The warnings of the answer to "health". Each one reads the members that the answer shows. */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include "app/hp3d/control/health.h"
#include "engine/unpaired.h"

#define POOL_SHARE 10u /* warn if fewer than one buffer in this many is free */

static json_int_t number_of(json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

static const char *text_of(json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text != NULL ? text : "";
}

/* A condition that exists now. */
static void __attribute__((format(printf, 4, 5)))
add_warning(json_t *list, const char *code, const char *fix, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "code", code, "text",
					    json_vsprintf(fmt, ap), "fix", fix));
	va_end(ap);
}

struct counted {
	const char *code, *fix;
	json_int_t n;
};

/* A counter that is not 0; `: N` follows the text. */
static void __attribute__((format(printf, 3, 4)))
add_counted(json_t *list, struct counted c, const char *fmt, ...)
{
	json_t *what;
	va_list ap;

	if (c.n == 0)
		return;
	va_start(ap, fmt);
	what = json_vsprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:I}", "code", c.code, "text",
					    json_sprintf("%s: %lld", json_string_value(what), c.n),
					    "fix", c.fix, "count", c.n));
	json_decref(what);
}

static void warn_of_lcores(json_t *list, json_t *health)
{
	json_int_t all = number_of(health, "lcores");
	json_int_t answering = number_of(health, "lcores_answering");

	if (answering != all)
		add_warning(list, "lcore-hangs",
			"give each lcore its own CPU (cpus= in [eal]); if it stays, restart hp3d",
			"%lld of %lld lcores did not answer within a second", all - answering, all);
	add_counted(list,
		(struct counted){"events-lost",
			"see whether the host is short of CPU; counters and metrics have no gaps",
			number_of(health, "events_lost")},
		"events missing in hp3ctl events and in the audit log");
}

static void warn_of_links(json_t *list, json_t *links)
{
	json_t *rail, *up;
	const char *name, *side;

	json_object_foreach (links, name, rail)
		json_object_foreach (rail, side, up)
			if (!json_is_true(up))
				add_warning(list, "link-down",
					"check the cable, ip link, and the port of the switch",
					"[rail.%s] %s: the port has no link", name, side);
}

static void warn_of_silence(json_t *list, json_t *silent)
{
	json_t *rail, *is_silent;
	const char *name, *side;

	json_object_foreach (silent, name, rail)
		json_object_foreach (rail, side, is_silent)
			if (json_is_true(is_silent))
				add_warning(list, "silent",
					"see whether the peers answer; run hp3ctl doctor: the port "
					"may carry only frames of its own address",
					"[rail.%s] %s: requests leave, and no packet arrives", name,
					side);
}

static void warn_of_direct(json_t *list, const char *name, json_t *rail)
{
	const char *state = text_of(rail, "state");
	bool other = strcmp(state, "waiting") == 0 || strcmp(state, "replaced") == 0;
	bool asked = strcmp(text_of(rail, "bypass"), "on") == 0;

	if (!json_is_true(json_object_get(rail, "direct")))
		return;
	add_warning(list, "direct",
		asked   ? "type hp3ctl bypass auto"
		: other ? "stop the other hp3d that has these ports"
			: "nothing to do: hp3d takes the rail over again within a second after a "
			  "hang",
		"[rail.%s]: RoCEv2 packets bypass hp3d (state %s)", name, state);
}

/* Frames for hp3d that it did not get. */
static void warn_of_lost(json_t *list, const char *name, json_t *rail, const char *side)
{
	json_t *counts = json_object_get(rail, side);

	add_counted(list,
		(struct counted){"ring-full",
			"give the lcore its own CPU (cpus= in [eal]), or use the driver of the NIC",
			number_of(counts, "lost")},
		"[rail.%s] %s: frames lost because the ring of hp3d was full", name, side);
	add_counted(list,
		(struct counted){"closed", "type hp3ctl bypass auto", number_of(counts, "closed")},
		"[rail.%s] %s: RoCEv2 frames dropped because bypass was off", name, side);
}

static void warn_of_bypass(json_t *list, json_t *bypass)
{
	json_t *rail;
	const char *name;

	json_object_foreach (bypass, name, rail) {
		if (json_is_null(rail))
			continue; /* the rail does not fail open */
		warn_of_direct(list, name, rail);
		add_counted(list,
			(struct counted){"hangs",
				"give hp3d its own CPU (cpus= in [eal]), or raise [bypass] "
				"stale_ms",
				number_of(rail, "hangs")},
			"[rail.%s]: hp3d hung, and lost the packets inside it; hangs", name);
		add_counted(list,
			(struct counted){"not-kept",
				"see what hp3d printed about it: it names the cause and the fix",
				number_of(rail, "not_kept")},
			"[rail.%s]: moves that the kernel did not store, so the flows would go "
			"direct on their home ports",
			name);
		add_counted(list,
			(struct counted){"left-behind", "run hp3ctl bypass on only under low load",
				number_of(rail, "left_behind")},
			"[rail.%s]: packets dropped when the rail went direct", name);
		warn_of_lost(list, name, rail, "rnic");
		warn_of_lost(list, name, rail, "net");
	}
}

static void warn_of_audit(json_t *list, json_t *audit)
{
	const char *state = text_of(audit, "state"), *file = text_of(audit, "file");

	if (strcmp(state, "ok") != 0 && strcmp(state, "off") != 0)
		add_warning(list, "audit",
			"make its directory, or free disk space; or set audit= in [log] to another "
			"path or to off",
			"the audit log %s cannot be written: %s", file, state);
	add_counted(list,
		(struct counted){"audit-lost-disk",
			"free disk space, or make the directory of the log",
			number_of(audit, "lost_disk")},
		"lines of the audit log lost because it could not be written");
	add_counted(list,
		(struct counted){"audit-lost-rate",
			"see in hp3ctl events which flows move so often",
			number_of(audit, "lost_queue") + number_of(audit, "lost_rate")},
		"lines of the audit log lost because too many came at once");
}

static void warn_of_watch(json_t *list, json_t *watch)
{
	add_counted(list,
		(struct counted){"watch-ends", "report a fault, with what hp3d printed about it",
			number_of(watch, "ends")},
		"times that the watcher of queue pairs (hp3-watch) died or hung");
	add_counted(list,
		(struct counted){"watch-no-rail",
			"set rdma= in the [rail.NAME] that carries the packets of the device",
			number_of(watch, "no_rail")},
		"queue pairs set up on an RDMA device of no rail");
	add_counted(list,
		(struct counted){"watch-refused", "raise [flows] max_flows, and restart hp3d",
			number_of(watch, "refused")},
		"queue pairs set up without a place in the flow table");
}

static void warn_of_packets(json_t *list, json_t *packets)
{
	static const struct {
		const char *key, *code, *what, *fix;
	} rows[] = {
		{"drop_handover", "drop-handover",
			"packets dropped because their lcore had no room",
			"raise [eal] lcores, or give each lcore its own CPU (cpus=)"},
		{"drop_tx_full", "drop-tx-full",
			"packets dropped because a port did not accept them",
			"run hp3ctl doctor; check the link, and net.core.wmem_default"},
		{"drop_too_long", "drop-too-long",
			"packets dropped because they were longer than the MTU of the other port",
			"give both ports of the rail the same MTU (hp3ctl doctor)"},
		{"flows_full", "flows-full", "packets without a place in the flow table",
			"raise [flows] max_flows, and restart hp3d"},
		{"pairs_full", "pairs-full",
			"packets without a place in the table of address pairs",
			"raise [flows] max_pairs, and restart hp3d"},
	};
	json_t *rail;
	const char *name;

	json_object_foreach (packets, name, rail)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			add_counted(list,
				(struct counted){
					rows[i].code, rows[i].fix, number_of(rail, rows[i].key)},
				"[rail.%s]: %s", name, rows[i].what);
}

/* Reasons that show a fault in the placement or the settings of hp3d. The other reasons pass, or
 * hp3d cannot do more. */
static void warn_of_unpaired(json_t *list, json_t *unpaired)
{
	static const enum hp3_unpaired_reason faults[] = {
		HP3_UNPAIRED_NO_REPLIES, HP3_UNPAIRED_ICRC, HP3_UNPAIRED_FULL};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		json_int_t n = number_of(unpaired, hp3_unpaired_name(faults[i]));

		if (n != 0)
			add_warning(list, "unpaired", hp3_unpaired_help(faults[i]),
				"flows not paired because %s: %lld", hp3_unpaired_text(faults[i]),
				n);
	}
}

static void warn_of_pools(json_t *list, json_t *pools)
{
	json_t *pool;
	const char *name;

	json_object_foreach (pools, name, pool) {
		json_int_t size = number_of(pool, "size"), available = number_of(pool, "free");

		if (available < size / POOL_SHARE)
			add_warning(list, "pool",
				"raise [eal] mbufs and memory_mb, or lower [rfr] hold_packets",
				"only %lld of %lld packet buffers of %s are free", available, size,
				name);
	}
}

json_t *hp3d_health_warnings(json_t *health)
{
	json_t *list = json_array();

	if (list == NULL)
		return NULL;
	warn_of_lcores(list, health);
	warn_of_links(list, json_object_get(health, "links"));
	warn_of_silence(list, json_object_get(health, "silent"));
	warn_of_bypass(list, json_object_get(health, "bypass"));
	warn_of_packets(list, json_object_get(health, "packets"));
	warn_of_pools(list, json_object_get(health, "pool"));
	warn_of_audit(list, json_object_get(health, "audit"));
	warn_of_watch(list, json_object_get(health, "watch"));
	warn_of_unpaired(list, json_object_get(health, "unpaired"));
	return list;
}
