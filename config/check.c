/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules of hp3.ini beyond the ranges of single keys: the form of strings, and rules between keys.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "config/address.h"
#include "config/bonds.h"
#include "config/config.h"
#include "config/devargs.h"
#include "config/key_file.h"
#include "config/keys.h"

#define US 1000u
#define MBUF_OVERHEAD                                                                              \
	256u /* struct rte_mbuf and the pool's own header, rounded up to cache lines */

bool hp3_config_valid_prefix(const char *s)
{
	return isalnum((unsigned char)*s) &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] ==
		       '\0';
}

/* N or N-M, separated by commas. */
bool hp3_config_valid_cpus(const char *s)
{
	for (;;) {
		unsigned long range[2];
		int n = 0;

		do {
			size_t digits = strspn(s, "0123456789");

			if (digits == 0 || digits > 5)
				return false;
			range[n] = 0;
			for (; digits > 0; digits--, s++)
				range[n] = range[n] * 10 + (unsigned long)(*s - '0');
			n++;
		} while (n < 2 && *s == '-' && *s++ != '\0');
		if (n == 2 && range[0] > range[1])
			return false;
		if (*s == '\0')
			return true;
		if (*s++ != ',')
			return false;
	}
}

/* A device name, then possibly ",key=value": EAL takes them as one argument. */
bool hp3_config_valid_devargs(const char *s)
{
	return isalnum((unsigned char)*s) && s[strcspn(s, " \t")] == '\0';
}

bool hp3_config_valid_path(const char *s)
{
	return s[0] == '/' && s[1] != '\0' && s[strlen(s) - 1] != '/';
}

bool hp3_config_valid_path_or_off(const char *s)
{
	return strcmp(s, "off") == 0 || hp3_config_valid_path(s);
}

bool hp3_config_valid_key(const char *s)
{
	return hp3_is_key_text(s) || hp3_is_key_file(s);
}

bool hp3_config_valid_metrics_socket(const char *s)
{
	return strcmp(s, "auto") == 0 || strcmp(s, "off") == 0 || hp3_config_valid_path(s);
}

static bool has_good_pair(const struct hp3_ini_doc *doc, const char *sec1, const char *key1,
	const char *sec2, const char *key2)
{
	return hp3_ini_good(doc, sec1, key1) && hp3_ini_good(doc, sec2, key2);
}

static void check_memory(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	uint64_t pool = (uint64_t)c->eal.mbufs * (c->eal.mbuf_bytes + MBUF_OVERHEAD);
	uint64_t need = (pool + (1u << 20) - 1) >> 20;

	if (!hp3_config_is_verbs_mode(c) && c->eal.hugepages == HP3_OFF &&
		need > c->eal.memory_mb && hp3_ini_good(doc, "eal", "mbufs") &&
		has_good_pair(doc, "eal", "mbuf_bytes", "eal", "memory_mb"))
		hp3_ini_complain(doc, "eal", "memory_mb",
			"%u MiB cannot hold a pool of %u mbufs of %u bytes: allow at least %" PRIu64
			" or lower mbufs",
			c->eal.memory_mb, c->eal.mbufs, c->eal.mbuf_bytes, need);
}

/*
 * Some buffers must stay free when packets are held: with an empty pool, the port would drop the
 * ACKs that end a hold. All lcores of a rail use one pool.
 */
static void check_pool(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	uint64_t held = (uint64_t)c->engine.hold_packets * c->eal.lcores;
	uint32_t most = c->eal.mbufs / 4 * 3;

	if (held > most && has_good_pair(doc, "rfr", "hold_packets", "eal", "mbufs") &&
		hp3_ini_good(doc, "eal", "lcores"))
		hp3_ini_complain(doc, "rfr", "hold_packets",
			"%u packets on hold, on each of [eal] lcores = %u, would leave too few of "
			"[eal] mbufs = %u to receive with: raise mbufs to at least %" PRIu64
			", or lower hold_packets x lcores to at most %u",
			c->engine.hold_packets, c->eal.lcores, c->eal.mbufs, (held + 2) / 3 * 4,
			most);
}

static void check_hold(struct hp3_ini_doc *doc, const struct hp3_engine_config *e)
{
	if (e->hold_bytes > e->hold_bytes_total &&
		has_good_pair(doc, "rfr", "hold_bytes", "rfr", "hold_bytes_total"))
		hp3_ini_complain(doc, "rfr", "hold_bytes",
			"one flow's bound %" PRIu64
			" exceeds that of all, hold_bytes_total = %" PRIu64
			": lower it or raise hold_bytes_total",
			e->hold_bytes, e->hold_bytes_total);
}

static void check_ppp(struct hp3_ini_doc *doc, const struct hp3_engine_config *e)
{
	uint32_t least = e->round.backoff_min_ns / US;

	if (e->round.backoff_max_ns < e->round.backoff_min_ns &&
		has_good_pair(doc, "ppp", "backoff_max_us", "ppp", "backoff_min_us"))
		hp3_ini_complain(doc, "ppp", "backoff_max_us",
			"%" PRIu64 " us is shorter than backoff_min_us = %u: set it to at least %u",
			e->round.backoff_max_ns / US, least, least);
	if (e->round.probe_burst <= e->candidates &&
		has_good_pair(doc, "ppp", "probe_burst", "ppp", "candidates"))
		hp3_ini_complain(doc, "ppp", "probe_burst",
			"%u probes are less than one round, candidates = %u and the port in use: "
			"set it to at least %u",
			e->round.probe_burst, e->candidates, e->candidates + 1);
}

static void at_most_line_rate(
	struct hp3_ini_doc *doc, const struct hp3_engine_config *e, const char *key, uint32_t rate)
{
	uint32_t line = e->cc.rp.rpg_max_rate;

	if (rate > line && has_good_pair(doc, "cc", key, "cc", "rpg_max_rate"))
		hp3_ini_complain(doc, "cc", key,
			"%u Mb/s is above the line rate, rpg_max_rate = %u: lower it", rate, line);
}

static void check_cc(struct hp3_ini_doc *doc, const struct hp3_engine_config *e)
{
	const struct hp3_dcqcn_params *rp = &e->cc.rp;
	uint32_t first = rp->rate_to_set_on_first_cnp;
	uint64_t rto = e->cc.rto_ns / US, hold = e->max_hold_ns / US;

	at_most_line_rate(doc, e, "rpg_min_rate", rp->rpg_min_rate);
	at_most_line_rate(doc, e, "rpg_ai_rate", rp->rpg_ai_rate);
	at_most_line_rate(doc, e, "rpg_hai_rate", rp->rpg_hai_rate);
	at_most_line_rate(doc, e, "rate_to_set_on_first_cnp", first);
	if (first != 0 && first < rp->rpg_min_rate &&
		has_good_pair(doc, "cc", "rate_to_set_on_first_cnp", "cc", "rpg_min_rate"))
		hp3_ini_complain(doc, "cc", "rate_to_set_on_first_cnp",
			"%u Mb/s is below rpg_min_rate = %u: raise it, or set 0", first,
			rp->rpg_min_rate);
	if (e->cc.mode == HP3_CC_DCQCN && rto != 0 && hold * 4 >= rto &&
		has_good_pair(doc, "rfr", "max_hold_us", "cc", "rto_us"))
		hp3_ini_complain(doc, "rfr", "max_hold_us",
			"%" PRIu64 " us is a quarter of the RNIC's retransmission timeout or more, "
			"[cc] rto_us = %" PRIu64 ": lower it to below %" PRIu64,
			hold, rto, rto / 4);
}

void hp3_config_check_policy(struct hp3_ini_doc *doc, const struct hp3_engine_config *e)
{
	check_hold(doc, e);
	check_ppp(doc, e);
	check_cc(doc, e);
}

/* Writes the name of the section of port i; a rail has two ports. */
static void rail_section(const struct hp3_config *c, uint32_t i, char *buf, size_t cap)
{
	snprintf(buf, cap, "rail.%s", c->rails[i / 2].name);
}

static void check_probes(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	if (c->probes.port == 4791)
		hp3_ini_complain(doc, "probes", "port",
			"4791 is the port of RoCEv2: an answer could reach an RNIC; take another, "
			"such as 4795");
	if (!has_good_pair(doc, "probes", "keys", "probes", "probe_key"))
		return;
	if (c->probes.keys == HP3_KEYS_GROUP && c->probes.probe_key[0] == '\0')
		hp3_ini_complain(doc, "probes", "keys",
			"there is no probe_key: set it on all hosts to what \"openssl rand -hex "
			"16\" prints, or take keys = auto");
	if (c->probes.keys == HP3_KEYS_OFF && c->probes.probe_key[0] != '\0')
		hp3_ini_complain(doc, "probes", "keys",
			"there is a probe_key: take keys = group, or remove the key");
	if (c->probes.probe_key[0] == '\0' && c->probes.probe_key_old[0] != '\0' &&
		has_good_pair(doc, "probes", "probe_key", "probes", "probe_key_old"))
		hp3_ini_complain(doc, "probes", "probe_key_old",
			"there is no probe_key: set it to the new one, or to this one");
}

static void check_metrics(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	struct hp3_address a;

	if (*c->metrics.listen == '\0' || c->metrics.remote == HP3_ON ||
		!hp3_ini_good(doc, "metrics", "listen") ||
		!hp3_address_parse(c->metrics.listen, &a) || a.loopback)
		return;
	hp3_ini_complain(doc, "metrics", "listen",
		"%s is no loopback address, others could read the metrics: take 127.0.0.1:%u, or "
		"set remote = on",
		c->metrics.listen, a.port);
}

static bool same_device(const char *a, const char *b)
{
	char pci[2][16];
	size_t n = strcspn(a, ",");

	if (hp3_devargs_pci(a, pci[0]) && hp3_devargs_pci(b, pci[1]))
		return strcmp(pci[0], pci[1]) == 0;
	return n > 0 && n == strcspn(b, ",") && strncmp(a, b, n) == 0;
}

/* A plain name may be an interface. */
static bool names_interface(const char *devargs, char *name, size_t cap)
{
	if (hp3_devarg(devargs, "iface", name, cap))
		return true;
	snprintf(name, cap, "%s", devargs);
	return hp3_devargs_may_be_interface(devargs);
}

/* Do two devices of different names use one interface? */
static bool same_interface(const char *a, const char *b, char *name, size_t cap)
{
	char other[HP3_CONFIG_DEVARGS_MAX];

	return names_interface(a, name, cap) && names_interface(b, other, sizeof(other)) &&
	       strcmp(name, other) == 0;
}

static const char *devargs_of_port(const struct hp3_config *c, uint32_t i)
{
	return i % 2 == 0 ? c->rails[i / 2].rnic : c->rails[i / 2].net;
}

/*
 * Each port needs its own device: EAL refuses a second device of the same name, and gives no
 * reason. Of two devices on one interface, each would receive the packets that the other sends.
 */
static bool is_device_taken(
	struct hp3_ini_doc *doc, const struct hp3_config *c, uint32_t mine, uint32_t other)
{
	static const char *const names[] = {"rnic", "net"};
	char here[HP3_INI_NAME_MAX], there[HP3_INI_NAME_MAX], name[HP3_CONFIG_DEVARGS_MAX];
	const char *a = devargs_of_port(c, mine), *b = devargs_of_port(c, other);

	rail_section(c, mine, here, sizeof(here));
	rail_section(c, other, there, sizeof(there));
	if (!hp3_devargs_may_be_interface(a) && same_device(a, b)) {
		hp3_ini_complain(doc, here, names[mine % 2],
			"device '%.*s' is taken by [%s] %s: number the devices of a driver, such "
			"as net_af_packet0, net_af_packet1",
			(int)strcspn(a, ","), a, there, names[other % 2]);
		return true;
	}
	if (same_interface(a, b, name, sizeof(name))) {
		hp3_ini_complain(doc, here, names[mine % 2],
			"interface '%s' is taken by [%s] %s: a rail stands between two of them, "
			"give this port its own",
			name, there, names[other % 2]);
		return true;
	}
	return false;
}

static void check_devices(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	for (uint32_t i = 1; i < 2 * c->n_rails; i++) {
		uint32_t j = 0;

		while (j < i && !is_device_taken(doc, c, i, j))
			j++;
	}
}

static void check_verbs_mode(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	if (!hp3_config_is_verbs_mode(c))
		return;
	if (c->n_rails != 0)
		hp3_ini_complain(doc, "verbs", "socket",
			"there is a [rail.NAME], too: hp3d works inline or in verbs mode; remove "
			"one of them");
	if (c->eal.lcores != 1)
		hp3_ini_complain(
			doc, "verbs", "socket", "one lcore does it: set lcores = 1 in [eal]");
}

void hp3_config_check_rules(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct hp3_config *c = obj;

	check_memory(doc, c);
	if (!hp3_config_is_verbs_mode(c)) /* verbs mode holds no packets */
		check_pool(doc, c);
	hp3_config_check_policy(doc, &c->engine);
	check_probes(doc, c);
	check_metrics(doc, c);
	check_devices(doc, c);
	hp3_config_check_bonds(doc, c);
	check_verbs_mode(doc, c);
	if (c->n_rails == 0 && !hp3_config_is_verbs_mode(c) && (flags & HP3_CONFIG_NO_RAILS) == 0)
		hp3_ini_complain(doc, NULL, NULL,
			"no [rail.NAME] section: add one with rnic = and net =, the two ports to "
			"work between, or set [verbs] socket");
}
