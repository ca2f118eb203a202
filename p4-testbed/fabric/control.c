/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: {"cmd":"stats"}, {"cmd":"path","src":"h1","dst":"h3","sport":N}, {"cmd":"fail",
 * "link":"l1-s1","reroute_ms":N}, restore, {"cmd":"degrade","link":...,"rate_mbps":N,"delay_us":N,
 * "loss_permille":N}, {"cmd":"blackhole","link":...,"percent":N}, {"cmd":"flows","switch":"l1"}.
 * Answers: {"ok":true,"data":...} or {"ok":false,"error":{"text":...,"fix":...}}.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "p4-testbed/fabric/fabric_main.h"
#include "p4-testbed/spec/program.h"

static json_t *refuse(const char *fix, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static json_t *refuse(const char *fix, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "text", text, "fix", fix);
}

static json_t *accept_with(json_t *data)
{
	return json_pack("{s:b, s:o}", "ok", 1, "data", data);
}

static json_t *lane_stats(struct hp3_fabric *f, uint32_t lane)
{
	struct hp3_lane *l = &f->tm.lane[lane];
	const struct hp3_net_link *link = &f->net.link[lane / 2];
	const char *a = link->host ? f->net.host[link->a].name : f->net.sw[link->a].name;
	const char *b = f->net.sw[link->b].name;
	json_t *drops = json_object(), *j;

	for (int i = 0; i < HP3_TM_DROP_MAX; i++)
		json_object_set_new(
			drops, hp3_tm_drop_name(i), json_integer((json_int_t)l->stats.drops[i]));
	j = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:b, s:o}", "link",
		link->name, "from", lane % 2 ? b : a, "to", lane % 2 ? a : b, "up", l->up,
		"rate_mbps", (json_int_t)(l->rate_bps / 1000000), "packets",
		(json_int_t)l->stats.packets, "bytes", (json_int_t)l->stats.bytes, "queue",
		(int)l->waiting, "peak", (int)l->stats.peak_bytes, "pauses",
		(json_int_t)l->stats.pauses, "paused_ns",
		(json_int_t)(l->stats.paused_ns + (l->paused ? f->tm.now - l->paused_since : 0)),
		"paused", l->paused != 0, "drops", drops);
	l->stats.peak_bytes = l->waiting;
	return j;
}

static json_t *switch_stats(const struct hp3_fabric *f, uint32_t s)
{
	const struct hp3_swx *sw = &f->sw[s];
	static const char *const names[] = {"port_rx_packets", "port_tx_packets", "port_tx_bytes",
		"port_ce_packets", "port_ce_bytes"};
	static const char *const reasons[] = {
#define X(sym, text) [HP3_DROP_##sym] = text,
		HP3_PROGRAM_DROPS(X)
#undef X
	};
	json_t *j = json_pack("{s:s}", "name", f->net.sw[s].name), *drops = json_object();

	for (size_t i = 0; i < RTE_DIM(names); i++) {
		json_t *list = json_array();

		for (uint32_t p = 0; p < sw->n_ports; p++)
			json_array_append_new(
				list, json_integer((json_int_t)hp3_swx_counter(sw, names[i], p)));
		json_object_set_new(j, names[i], list);
	}
	for (uint32_t i = 0; i < HP3_DROP_MAX; i++)
		json_object_set_new(drops, reasons[i],
			json_integer((json_int_t)hp3_swx_counter(sw, "drops_packets", i)));
	json_object_set_new(j, "drops", drops);
	return j;
}

static json_t *host_stats(const struct hp3_fabric *f, uint32_t i)
{
	const struct hp3_fabric_host *h = &f->host[i];

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "name",
		f->net.host[i].name, "rx_packets", (json_int_t)h->rx_packets, "tx_packets",
		(json_int_t)h->tx_packets, "rx_bytes", (json_int_t)h->rx_bytes, "tx_bytes",
		(json_int_t)h->tx_bytes, "tx_lost", (json_int_t)h->tx_lost, "pfc_sent",
		(json_int_t)h->pfc_sent, "pfc_seen", (json_int_t)h->pfc_seen, "stop", h->stop);
}

/* Flow counters in use; several flows may share one. */
static json_t *flow_list(const struct hp3_fabric *f, uint32_t s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < HP3_PROGRAM_FLOWS; i++) {
		uint64_t n = hp3_swx_counter(&f->sw[s], "flow_packets", i);

		if (n > 0)
			json_array_append_new(list,
				json_pack("{s:i, s:I, s:I}", "index", (int)i, "packets",
					(json_int_t)n, "bytes",
					(json_int_t)hp3_swx_counter(&f->sw[s], "flow_bytes", i)));
	}
	return list;
}

static json_t *no_switch(const char *name)
{
	return refuse("name one of the topology's switches, such as l1", "no switch '%s'", name);
}

static json_t *flows(const struct hp3_fabric *f, json_t *rq)
{
	const char *name = json_string_value(json_object_get(rq, "switch"));
	int s = name != NULL ? hp3_net_find_switch(&f->net, name) : -1;

	return s >= 0 ? accept_with(flow_list(f, (uint32_t)s)) : no_switch(name ? name : "");
}

/* With {"flows":"l1"} that switch's flow counters, too, of the same moment. */
static json_t *stats(struct hp3_fabric *f, json_t *rq)
{
	json_t *lanes, *switches, *hosts, *j;
	const char *name = json_string_value(json_object_get(rq, "flows"));
	int s = name != NULL ? hp3_net_find_switch(&f->net, name) : -1;

	if (name != NULL && s < 0)
		return no_switch(name);
	lanes = json_array();
	switches = json_array();
	hosts = json_array();
	for (uint32_t i = 0; i < f->tm.n_lanes; i++)
		json_array_append_new(lanes, lane_stats(f, i));
	for (uint32_t i = 0; i < f->net.n_switches; i++)
		json_array_append_new(switches, switch_stats(f, i));
	for (uint32_t i = 0; i < f->net.n_hosts; i++)
		json_array_append_new(hosts, host_stats(f, i));
	j = json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "t_ns", (json_int_t)f->tm.now,
		"frames", (json_int_t)f->tm.frames, "no_mbuf", (json_int_t)f->no_mbuf, "loops",
		(json_int_t)f->loops, "lanes", lanes, "switches", switches, "hosts", hosts);
	if (s >= 0)
		json_object_set_new(j, "flows", flow_list(f, (uint32_t)s));
	return accept_with(j);
}

static json_t *path(const struct hp3_fabric *f, json_t *rq)
{
	const char *src = json_string_value(json_object_get(rq, "src"));
	const char *dst = json_string_value(json_object_get(rq, "dst"));
	int s = src != NULL ? hp3_net_find_host(&f->net, src) : -1;
	int d = dst != NULL ? hp3_net_find_host(&f->net, dst) : -1;
	json_int_t dport = json_integer_value(json_object_get(rq, "dport"));
	struct hp3_net_flow flow = {.ipv6 = json_is_true(json_object_get(rq, "ipv6")),
		.sport = (uint16_t)json_integer_value(json_object_get(rq, "sport")),
		.dport = dport > 0 ? (uint16_t)dport : 4791,
		.protocol = 17,
		.qpn = (uint32_t)json_integer_value(json_object_get(rq, "qpn"))};
	json_t *j;

	if (s < 0 || d < 0)
		return refuse("name two of the topology's hosts", "no host '%s'",
			s < 0 ? (src ? src : "") : (dst ? dst : ""));
	flow.src = (uint32_t)s;
	flow.dst = (uint32_t)d;
	j = hp3_plan_path(&f->net, &flow);
	return j != NULL ? accept_with(j)
			 : refuse("restore a link", "no path from %s to %s", src, dst);
}

static json_t *set_link(struct hp3_fabric *f, json_t *rq, uint32_t link, bool up)
{
	json_t *ms = json_object_get(rq, "reroute_ms");
	bool never = json_is_integer(ms) && json_integer_value(ms) < 0;

	hp3_fabric_set_link(
		f, link, up, never ? HP3_TM_NEVER : (uint64_t)json_integer_value(ms) * 1000000);
	return accept_with(json_pack("{s:s, s:b}", "link", f->net.link[link].name, "up", up));
}

static bool given(
	json_t *rq, const char *key, json_int_t lo, json_int_t hi, uint64_t *out, bool *bad)
{
	json_t *v = json_object_get(rq, key);

	if (v == NULL)
		return false;
	*bad = !json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi;
	*out = (uint64_t)json_integer_value(v);
	return !*bad;
}

static json_t *degrade(struct hp3_fabric *f, json_t *rq, uint32_t link)
{
	bool bad[4] = {false};
	uint64_t v;

	for (uint32_t lane = 2 * link; lane <= 2 * link + 1; lane++) {
		struct hp3_lane *l = &f->tm.lane[lane];

		if (given(rq, "rate_mbps", 1, 10000, &v, &bad[0]))
			l->rate_bps = v * 1000000;
		if (given(rq, "delay_us", 1, 1000000, &v, &bad[1]))
			l->delay_ns = v * 1000;
		if (given(rq, "loss_permille", 0, 1000, &v, &bad[2]))
			l->loss_permille = (uint32_t)v;
		if (given(rq, "percent", 0, 100, &v, &bad[3]))
			l->blackhole_percent = (uint32_t)v;
	}
	if (bad[0] || bad[1] || bad[2] || bad[3])
		return refuse("rate_mbps 1..10000, delay_us 1..1000000, loss_permille 0..1000, "
			      "percent 0..100",
			"value out of range");
	return accept_with(json_pack("{s:s}", "link", f->net.link[link].name));
}

json_t *hp3_control_answer(struct hp3_fabric *f, json_t *rq)
{
	const char *cmd = json_string_value(json_object_get(rq, "cmd"));
	const char *name = json_string_value(json_object_get(rq, "link"));
	int link;

	if (cmd == NULL)
		return refuse("send {\"cmd\":\"stats\"}", "no command");
	if (strcmp(cmd, "stats") == 0)
		return stats(f, rq);
	if (strcmp(cmd, "path") == 0)
		return path(f, rq);
	if (strcmp(cmd, "flows") == 0)
		return flows(f, rq);
	link = name != NULL ? hp3_net_find_link(&f->net, name) : -1;
	if (link < 0)
		return refuse("links are named l1-s1 and h1-l1", "command '%s': no link '%s'", cmd,
			name ? name : "");
	if (strcmp(cmd, "fail") == 0)
		return set_link(f, rq, (uint32_t)link, false);
	if (strcmp(cmd, "restore") == 0)
		return set_link(f, rq, (uint32_t)link, true);
	if (strcmp(cmd, "degrade") == 0 || strcmp(cmd, "blackhole") == 0)
		return degrade(f, rq, (uint32_t)link);
	return refuse(
		"stats, path, flows, fail, restore, degrade, blackhole", "no command '%s'", cmd);
}
