/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: {"cmd":"stats"}, {"cmd":"path","src":"h1","dst":"h3","sport":N}, {"cmd":"fail",
 * "link":"l1-s1","reroute_ms":N}, restore, {"cmd":"degrade","link":...,"rate_mbps":N,"delay_us":N,
 * and what impair.h has}, {"cmd":"blackhole","link":...,"percent":N},
 * {"cmd":"flows","switch":"l1"}. degrade and blackhole take {"from":"l1"}: that direction alone.
 * Answers: {"ok":true,"data":...} or {"ok":false,"error":{"text":...,"fix":...}}.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "p4-testbed/fabric/fabric_main.h"
#include "p4-testbed/spec/program.h"

static __attribute__((format(printf, 2, 3))) json_t *refuse_request(
	const char *fix, const char *fmt, ...)
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

/* End a of the link. */
static const char *first_end(const struct hp3_fabric *f, const struct hp3_net_link *l)
{
	return l->host ? f->net.host[l->a].name : f->net.sw[l->a].name;
}

static json_t *lane_stats(struct hp3_fabric *f, uint32_t lane)
{
	struct hp3_lane *l = &f->tm.lane[lane];
	const struct hp3_net_link *link = &f->net.link[lane / 2];
	const char *a = first_end(f, link), *b = f->net.sw[link->b].name;
	json_t *drops = json_object(), *j;

	for (int i = 0; i < HP3_TM_DROP_MAX; i++)
		json_object_set_new(
			drops, hp3_tm_drop_name(i), json_integer((json_int_t)l->stats.drops[i]));
	j = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:b, s:o, s:I, s:I, "
		      "s:I, s:I}",
		"link", link->name, "from", lane % 2 ? b : a, "to", lane % 2 ? a : b, "up", l->up,
		"rate_mbps", (json_int_t)(l->rate_bps / 1000000), "packets",
		(json_int_t)l->stats.packets, "bytes", (json_int_t)l->stats.bytes, "queue",
		(int)l->waiting, "peak", (int)l->stats.peak_bytes, "pauses",
		(json_int_t)l->stats.pauses, "paused_ns",
		(json_int_t)(l->stats.paused_ns + (l->paused ? f->tm.now - l->paused_since : 0)),
		"paused", l->paused != 0, "drops", drops, "delayed", (json_int_t)l->stats.delayed,
		"duplicated", (json_int_t)l->stats.duplicated, "damaged",
		(json_int_t)l->stats.damaged, "remarked", (json_int_t)l->stats.remarked);
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
	return refuse_request(
		"name one of the topology's switches, such as l1", "no switch '%s'", name);
}

static json_t *answer_flows(const struct hp3_fabric *f, json_t *rq)
{
	const char *name = json_string_value(json_object_get(rq, "switch"));
	int s = HP3_TOPO_FIND(f->net.sw, f->net.n_switches, name);

	return s >= 0 ? accept_with(flow_list(f, (uint32_t)s)) : no_switch(name ? name : "");
}

/* With {"flows":"l1"} that switch's flow counters, too, of the same moment. */
static json_t *answer_stats(struct hp3_fabric *f, json_t *rq)
{
	json_t *lanes, *switches, *hosts, *j;
	const char *name = json_string_value(json_object_get(rq, "flows"));
	int s = HP3_TOPO_FIND(f->net.sw, f->net.n_switches, name);

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

static json_t *answer_path(const struct hp3_fabric *f, json_t *rq)
{
	const char *src = json_string_value(json_object_get(rq, "src"));
	const char *dst = json_string_value(json_object_get(rq, "dst"));
	int s = HP3_TOPO_FIND(f->net.host, f->net.n_hosts, src);
	int d = HP3_TOPO_FIND(f->net.host, f->net.n_hosts, dst);
	json_int_t dport = json_integer_value(json_object_get(rq, "dport"));
	struct hp3_net_flow flow = {.ipv6 = json_is_true(json_object_get(rq, "ipv6")),
		.sport = (uint16_t)json_integer_value(json_object_get(rq, "sport")),
		.dport = dport > 0 ? (uint16_t)dport : 4791,
		.protocol = 17,
		.qpn = (uint32_t)json_integer_value(json_object_get(rq, "qpn"))};
	json_t *j;

	if (s < 0 || d < 0)
		return refuse_request("name two of the topology's hosts", "no host '%s'",
			s < 0 ? (src ? src : "") : (dst ? dst : ""));
	flow.src = (uint32_t)s;
	flow.dst = (uint32_t)d;
	j = hp3_plan_path(&f->net, &flow);
	return j != NULL ? accept_with(j)
			 : refuse_request("restore a link", "no path from %s to %s", src, dst);
}

static json_t *set_link(struct hp3_fabric *f, json_t *rq, uint32_t link, bool up)
{
	json_t *ms = json_object_get(rq, "reroute_ms");
	bool never = json_is_integer(ms) && json_integer_value(ms) < 0;

	hp3_fabric_set_link(
		f, link, up, never ? HP3_TM_NEVER : (uint64_t)json_integer_value(ms) * 1000000);
	return accept_with(json_pack("{s:s, s:b}", "link", f->net.link[link].name, "up", up));
}

/* Is the key in the request? *bad: with a value that it may not have. */
static bool read_key(
	json_t *rq, const char *key, json_int_t lo, json_int_t hi, uint32_t *out, const char **bad)
{
	json_t *v = json_object_get(rq, key);

	if (v == NULL)
		return false;
	if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi) {
		*bad = key;
		return false;
	}
	*out = (uint32_t)json_integer_value(v);
	return true;
}

/* What a lane is to be; 0: rate, delay as they are. */
struct wish {
	uint32_t rate_mbps, delay_us;
	bool flaps;
	struct hp3_impair impair;
};

/* NULL, or the key of which the value is wrong. */
static const char *read_wish(json_t *rq, struct wish *w)
{
	const char *bad = NULL;
	json_t *ecn = json_object_get(rq, "ecn");

	read_key(rq, "rate_mbps", 1, 10000, &w->rate_mbps, &bad);
	read_key(rq, "delay_us", 1, 1000000, &w->delay_us, &bad);
	read_key(rq, "percent", 0, 100, &w->impair.blackhole_percent, &bad);
	for (size_t i = 0; i < hp3_impair_n_keys; i++)
		read_key(rq, hp3_impair_keys[i].name, 0, hp3_impair_keys[i].most,
			(uint32_t *)((char *)&w->impair + hp3_impair_keys[i].offset), &bad);
	w->flaps = json_object_get(rq, "flap_ms") != NULL;
	for (int i = 0; ecn != NULL && i <= HP3_IMPAIR_ECN_MAX; i++) {
		if (i == HP3_IMPAIR_ECN_MAX) {
			bad = "ecn";
		} else if (json_is_string(ecn) &&
			   strcmp(json_string_value(ecn), hp3_impair_ecns[i]) == 0) {
			w->impair.ecn = (enum hp3_impair_ecn)i;
			break;
		}
	}
	return bad;
}

/* Bits of the link's two lanes: both, or the one from a node; 0: that is none of its ends. */
static unsigned lanes_from(const struct hp3_fabric *f, uint32_t link, const char *from)
{
	const struct hp3_net_link *l = &f->net.link[link];

	if (from == NULL)
		return 3;
	return (strcmp(from, first_end(f, l)) == 0 ? 1u : 0) |
	       (strcmp(from, f->net.sw[l->b].name) == 0 ? 2u : 0);
}

static json_t *degrade_link(struct hp3_fabric *f, json_t *rq, uint32_t link)
{
	json_t *from = json_object_get(rq, "from");
	unsigned lanes = lanes_from(f, link, json_string_value(from));

	if (lanes == 0 || (from != NULL && !json_is_string(from)))
		return refuse_request(
			"name one of the link's ends", "no such end of %s", f->net.link[link].name);
	for (uint32_t i = 0; i < 2; i++) {
		struct hp3_lane *l = &f->tm.lane[2 * link + i];
		struct wish w = {.impair = l->impair};
		const char *bad = read_wish(rq, &w);

		if (bad != NULL)
			return refuse_request("hp3-testbed degrade --help has the ranges",
				"%s: value out of range", bad);
		if (!(lanes >> i & 1))
			continue;
		l->rate_bps = w.rate_mbps > 0 ? w.rate_mbps * 1000000ull : l->rate_bps;
		l->delay_ns = w.delay_us > 0 ? w.delay_us * 1000ull : l->delay_ns;
		l->impair = w.impair;
		l->flaps_since = w.flaps ? f->tm.now : l->flaps_since;
	}
	return accept_with(json_pack("{s:s}", "link", f->net.link[link].name));
}

json_t *hp3_control_answer(struct hp3_fabric *f, json_t *rq)
{
	const char *cmd = json_string_value(json_object_get(rq, "cmd"));
	const char *name = json_string_value(json_object_get(rq, "link"));
	int link;

	if (cmd == NULL)
		return refuse_request("send {\"cmd\":\"stats\"}", "no command");
	if (strcmp(cmd, "stats") == 0)
		return answer_stats(f, rq);
	if (strcmp(cmd, "path") == 0)
		return answer_path(f, rq);
	if (strcmp(cmd, "flows") == 0)
		return answer_flows(f, rq);
	link = HP3_TOPO_FIND(f->net.link, f->net.n_links, name);
	if (link < 0)
		return refuse_request("links are named l1-s1 and h1-l1",
			"command '%s': no link '%s'", cmd, name ? name : "");
	if (strcmp(cmd, "fail") == 0)
		return set_link(f, rq, (uint32_t)link, false);
	if (strcmp(cmd, "restore") == 0)
		return set_link(f, rq, (uint32_t)link, true);
	if (strcmp(cmd, "degrade") == 0 || strcmp(cmd, "blackhole") == 0)
		return degrade_link(f, rq, (uint32_t)link);
	return refuse_request(
		"stats, path, flows, fail, restore, degrade, blackhole", "no command '%s'", cmd);
}
