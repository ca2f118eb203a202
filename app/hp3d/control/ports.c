/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports: source ports between this host and a peer that are on different paths. Traces find the
 * switches on the paths; without traces, hp3d compares ports with probes. With "compare", the
 * request begins a comparison if nothing else identifies paths; without it, the request returns its
 * progress.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "engine/info.h"
#include "ppp/ports.h"
#include "roce/icrc.h"

#define SEARCHED_PAIRS_PER_STEP 64u
#define PAIR_CANDIDATES_MAX     8u
#define RECENT_NS               10000000000ull /* a newer comparison is used again, not repeated */

/* --- the address pair --- */

struct peer {
	const char *text; /* an address, or the pair's name */
	struct hp3d_place at; /* the pair's record */
	uint32_t pair;
	char name[HP3_FLOWID_MAX];
	unsigned found;
	json_t *candidates;
};

static bool take_pair_info(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	return hp3_pair_info(e, index, now, item) == 0;
}

static bool is_peer(const struct peer *p, const char *name, const struct hp3_pair_info *info)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(info->ipv6 ? AF_INET6 : AF_INET, info->remote, text, sizeof(text));
	return strcmp(p->text, text) == 0 || strcmp(p->text, name) == 0;
}

static void note_pair(const struct hp3_config *cfg, struct peer *p, const struct hp3d_place *at,
	const struct hp3_pair_info *info)
{
	char name[HP3_FLOWID_MAX];

	hp3d_pair_name(cfg, at->rail, info, name);
	if (!is_peer(p, name, info))
		return;
	if (p->found++ == 0) {
		p->at = *at;
		p->pair = info->pair;
		memcpy(p->name, name, sizeof(p->name));
	}
	if (p->found <= PAIR_CANDIDATES_MAX)
		json_array_append_new(p->candidates, json_string(name));
}

static json_t *ambiguous_peer_error(const struct peer *p)
{
	json_t *answer = hp3d_json_error("ambiguous",
		"name one of them as hp3ctl paths does: RAIL/LOCAL-REMOTE",
		"%u address pairs of this host lead to %s", p->found, p->text);

	json_object_set(json_object_get(answer, "error"), "candidates", p->candidates);
	return answer;
}

static json_t *find_peer(const struct hp3_config *cfg, struct peer *p)
{
	static struct hp3_pair_info items[SEARCHED_PAIRS_PER_STEP]; /* of the control thread */
	const struct hp3d_list list = {.records = cfg->engine.max_pairs,
		.items = items,
		.size = sizeof(items[0]),
		.room = SEARCHED_PAIRS_PER_STEP,
		.take = take_pair_info};
	struct hp3d_place at = {0}, from;
	unsigned n;
	int rc;

	while ((rc = hp3d_list_step(cfg, &list, &at, SEARCHED_PAIRS_PER_STEP, &from, &n)) > 0)
		for (unsigned i = 0; i < n; i++)
			note_pair(cfg, p, &from, &items[i]);
	if (rc < 0)
		return hp3d_json_timed_out();
	if (p->found == 0)
		return hp3d_json_error("not-found",
			"hp3ctl paths lists those that hp3d knows: a queue pair between the two "
			"has to be there",
			"no peer %s", p->text);
	return p->found > 1 ? ambiguous_peer_error(p) : NULL;
}

/* --- known paths --- */

struct port_query {
	unsigned rail;
	uint32_t pair, want;
	bool distinct, compare;
	int named, compared; /* of hp3_ports_apart(), and of a comparison */
	uint32_t paths;
	struct hp3_port_info port[HP3_PORTS_MAX];
	struct hp3_compare result;
	uint64_t age_ns;
	struct hp3_pair_info info;
};

/* Begins a comparison of ports; ports in use come first. */
static int begin_comparison(struct hp3_engine *e, struct port_query *l, uint64_t now)
{
	struct hp3_path_info path[HP3_COMPARE_PORTS];
	uint32_t n = hp3_pair_paths(e, l->pair, now, path, HP3_COMPARE_PORTS);
	uint16_t port[HP3_COMPARE_PORTS];

	for (uint32_t i = 0; i < HP3_COMPARE_PORTS; i++)
		port[i] = i < n ? path[i].port : hp3_random_port(&now);
	return hp3_compare_ask(e, l->pair, port, HP3_COMPARE_PORTS, now);
}

static void read_pair_ports(struct hp3d_worker *w, void *arg)
{
	struct port_query *l = arg;
	struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, l->rail));
	uint64_t now = hp3d_now();

	l->named = hp3_ports_apart(e, l->pair, l->want, l->distinct, now, l->port, &l->paths);
	hp3_pair_info(e, l->pair, now, &l->info);
	l->compared = -ENODATA;
	if (l->named != -ENODATA)
		return;
	l->compared = hp3_compare_result(e, l->pair, now, &l->result, &l->age_ns);
	if (!l->compare || l->compared == -EBUSY || (l->compared == 0 && l->age_ns < RECENT_NS))
		return;
	l->compared = begin_comparison(e, l, now);
	if (l->compared > 0)
		l->compared = -EBUSY;
}

static json_t *port_info_json(const struct hp3_port_info *p)
{
	json_t *hop = p->named ? hp3d_json_hop(p->hop.ipv6, p->hop.addr) : json_null();
	json_t *path = p->evidence == HP3_EVIDENCE_COMPARED ? json_null() : json_integer(p->path);

	return json_pack("{s:i, s:i, s:o, s:o, s:s, s:I, s:s}", "port", p->port, "flow_label",
		(int)hp3_sport_to_flow_label(p->port), "path", path, "hop", hop, "evidence",
		hp3_evidence_name((enum hp3_evidence)p->evidence), "age_ns", (json_int_t)p->age_ns,
		"state", hp3_quality_name((enum hp3_quality)p->quality));
}

static json_t *ports_answer(const struct peer *p, const struct port_query *l, uint32_t n)
{
	json_t *ports = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(ports, port_info_json(&l->port[i]));
	return hp3d_json_ok(json_pack(
		"{s:s, s:i, s:o}", "pair", p->name, "paths", (int)l->paths, "ports", ports));
}

static json_t *too_few(const struct port_query *l, const char *how)
{
	return hp3d_json_error("too-few",
		"ask for no more, or leave out --distinct: ports then share paths", "%s%u of %u",
		how, l->paths, l->want);
}

/* Nothing identifies paths: uses a comparison of ports. */
static json_t *answer_from_comparison(const struct peer *p, struct port_query *l)
{
	uint8_t chosen[HP3_COMPARE_PORTS];
	struct hp3_selftest_tally tally;
	uint32_t n = hp3_compare_distinct(&l->result, chosen, &tally);

	for (uint32_t i = 0; i < n && i < l->want; i++)
		l->port[i] = (struct hp3_port_info){.port = l->result.port[chosen[i]],
			.evidence = HP3_EVIDENCE_COMPARED,
			.age_ns = l->age_ns};
	l->paths = n;
	if (hp3_tally_verdict(&tally) == HP3_TALLY_NO_SPREAD)
		return hp3d_json_error("no-spread",
			"let the switches hash the UDP source port for ECMP; a shared queue at the "
			"end of the way looks the same",
			"the queues of all %u ports compared are the same", l->result.n);
	if (n < 2 && tally.same == 0)
		return hp3d_json_error("no-data",
			"set identity = trace in [ppp], or ask again while the paths are busy: "
			"ports are distinguished by their queues",
			"nothing is known of the paths, and %u ports compared by probes say "
			"nothing",
			l->result.n);
	if (n < l->want)
		return too_few(l, "by their queues, the most ports known to differ are ");
	return ports_answer(p, l, l->want);
}

static json_t *answer_unnamed_paths(const struct peer *p, struct port_query *l)
{
	switch (-l->compared) {
	case 0:
		return answer_from_comparison(p, l);
	case EBUSY:
		return hp3d_json_error("busy", "ask again in a second",
			"no trace names the paths; probes compare ports: %u of %u bursts",
			l->result.bursts, HP3_COMPARE_BURSTS);
	case EPERM:
		return hp3d_json_error("off",
			"set probe in [ppp] and mode = on or observe, and identity = trace",
			"nothing is known of the paths, and probes are off");
	default:
		return hp3d_json_error("no-data",
			"set identity = trace in [ppp]; the peer has to run hp3d and to be known "
			"(hp3ctl paths), and a queue pair to have sent something",
			"nothing is known of the paths to %s yet", p->text);
	}
}

static json_t *answer_query(const struct peer *p, struct port_query *l)
{
	switch (-l->named) {
	case ENOENT:
		return hp3d_json_error(
			"not-found", "hp3ctl paths lists what hp3d knows", "no peer %s", p->text);
	case EXDEV:
		return hp3d_json_error("hashed-qpn",
			"have the switches hash addresses and UDP ports only, or leave it to hp3d: "
			"it asks for each queue pair by itself",
			"the switches hash the queue pair number, too: a port alone selects no "
			"path");
	case EPROTO:
		return hp3d_json_error("hashed-opcode",
			"have the switches hash addresses and UDP ports only: the fabric itself "
			"reorders what one queue pair sends",
			"the switches hash the opcode: a port alone selects no path");
	case ENODATA:
		return answer_unnamed_paths(p, l);
	default:
		break;
	}
	if ((uint32_t)l->named < l->want)
		return too_few(l, l->distinct ? "known ports with a path of their own: "
					      : "ports whose path is known: ");
	return ports_answer(p, l, (uint32_t)l->named);
}

json_t *hp3d_json_ports(const struct hp3_config *cfg, json_t *req)
{
	static struct port_query l; /* of the control thread; large */
	struct peer p = {.text = json_string_value(json_object_get(req, "peer"))};
	uint64_t want = 1;
	json_t *error;

	if (!hp3d_json_number(req, "count", 1, HP3_PORTS_MAX, &want, &error))
		return error;
	if (!p.text)
		return hp3d_json_error("bad-request",
			"name an address, or a pair as hp3ctl paths does",
			"the request has no \"peer\"");
	p.candidates = json_array();
	error = find_peer(cfg, &p);
	json_decref(p.candidates);
	if (error)
		return error;
	l = (struct port_query){.rail = p.at.rail,
		.pair = p.pair,
		.want = (uint32_t)want,
		.distinct = json_is_true(json_object_get(req, "distinct")),
		.compare = json_is_true(json_object_get(req, "compare"))};
	if (hp3d_worker_call(hp3d_worker(p.at.worker), read_pair_ports, &l) < 0)
		return hp3d_json_timed_out();
	return answer_query(&p, &l);
}
