/* SPDX-License-Identifier: BSD-3-Clause */
/* Values: table, defaults, sample file, dumps and load, look-up, reload, a table of another tool.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/bonds.h"
#include "config/config.h"
#include "config/keys.h"
#include "engine/policy.h"

static struct hp3_config parse(const char *ini, unsigned flags)
{
	struct hp3_config cfg;
	struct hp3_config_errors errs = {0};
	int ret = hp3_config_parse("f.ini", ini, strlen(ini), flags, &cfg, &errs);

	hp3_config_errors_print(&errs, stderr);
	hp3_config_errors_free(&errs);
	assert_int_equal(ret, 0);
	return cfg;
}

static char *dump_by(
	void (*fn)(FILE *out, const struct hp3_config *cfg), const struct hp3_config *cfg)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	fn(out, cfg);
	fclose(out);
	return text;
}

static char *dump(const struct hp3_config *cfg)
{
	return dump_by(hp3_config_dump, cfg);
}

static char *dump_short(const struct hp3_config *cfg)
{
	return dump_by(hp3_config_dump_short, cfg);
}

/* The name's suffix is what the user goes by: it has to be the unit. */
static void table_is_sound(void **state)
{
	static const char *const units[][2] = {
		{"_us", "us"}, {"_ms", "ms"}, {"_bytes", "bytes"}, {"_mb", "MiB"}};

	for (size_t i = 0; i < hp3_config_schema.n_keys; i++) {
		const struct hp3_ini_key *k = &hp3_config_schema.keys[i];

		assert_non_null(k->help);
		for (size_t j = 0; j < i; j++)
			assert_false(strcmp(k->key, hp3_config_schema.keys[j].key) == 0 &&
				     strcmp(k->section, hp3_config_schema.keys[j].section) == 0);
		if (k->type == HP3_INI_STRING) {
			assert_true(k->max < k->size && k->size <= HP3_INI_VALUE_MAX);
			continue;
		}
		if (k->type == HP3_INI_ENUM) {
			assert_true(k->size == 4 || k->size == 1);
			continue;
		}
		assert_true(k->size == 8 ||
			    k->max * (k->scale != 0 ? k->scale : 1) < 1ull << 8 * k->size % 64);
		assert_true(k->min <= k->def && k->def <= k->max);
		for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
			const char *end = strrchr(k->key, '_');

			if (end != NULL && strcmp(end, units[u][0]) == 0)
				assert_string_equal(k->unit, units[u][1]);
		}
	}
}

static void empty_file_is_defaults(void **state)
{
	struct hp3_config cfg = parse("", HP3_CONFIG_NO_RAILS), defaults;

	hp3_config_defaults(&defaults);
	assert_memory_equal(&cfg, &defaults, sizeof(cfg));
	assert_string_equal(cfg.eal.file_prefix, "hp3");
	assert_int_equal(cfg.eal.idle, HP3_IDLE_SLEEP);
	assert_int_equal(cfg.engine.max_hold_ns, 10000000);
	assert_int_equal(cfg.engine.hold_bytes_total, 67108864);
}

/* A number or a word: the word is the number behind the last. */
static void number_or_word(void **state)
{
	static const char *const text[] = {"0", "48", "63", "data"};
	static const uint8_t dscp[] = {0, 48, 63, HP3_DSCP_KEPT};
	char ini[64], line[64];

	for (unsigned i = 0; i < 4; i++) {
		struct hp3_config cfg;
		char *dump = NULL;
		size_t len;
		FILE *f = open_memstream(&dump, &len);

		snprintf(ini, sizeof(ini), "[ppp]\nanswer_dscp = %s\n", text[i]);
		snprintf(line, sizeof(line), "\nanswer_dscp = %s\n", text[i]);
		cfg = parse(ini, HP3_CONFIG_NO_RAILS);
		assert_int_equal(cfg.engine.answer_dscp, dscp[i]);
		hp3_config_dump(f, &cfg);
		fclose(f);
		assert_non_null(strstr(dump, line));
		free(dump);
	}
}

/* Who has no file gets the same. */
static void defaults_are_the_policy(void **state)
{
	struct hp3_engine_config table;
	struct hp3_config cfg;

	hp3_config_defaults(&cfg);
	hp3_policy_defaults(&table);
	assert_memory_equal(&cfg.engine, &table, sizeof(table));
}

/* Keys that need a restart keep their values. */
static void reload_keeps_values(void **state)
{
	struct hp3_config was =
		parse("[flows]\nmax_flows = 64\n[rfr]\nspray_flows = 3\nmode = move\n"
		      "[policy]\nseed = 7\n",
			HP3_CONFIG_NO_RAILS);
	struct hp3_config now =
		parse("[flows]\nmax_flows = 128\n[rfr]\nspray_flows = 5\nmode = auto\n"
		      "cooldown_us = 9\n[policy]\nseed = 8\n",
			HP3_CONFIG_NO_RAILS);

	hp3_policy_keep(&now.engine, &was.engine);
	assert_int_equal(now.engine.max_flows, 64);
	assert_int_equal(now.engine.spray.flows, 3);
	assert_int_equal(now.engine.spray.mode, HP3_SPRAY_MOVE);
	assert_int_equal(now.engine.seed, 7);
	assert_int_equal(now.engine.cooldown_ns, 9000);
}

/* What is said in one word, or in one number for two. */
static void policy_settles(void **state)
{
	struct hp3_config cfg = parse("[ppp]\nwatch = off\nprobe = standard\nrtt_factor = 300\n"
				      "probe_timeout_us = 70\npath_fresh_us = 5\nidentity = trace\n"
				      "[policy]\nmode = observe\nstudy = on\n[cc]\nmode = dcqcn\n",
		HP3_CONFIG_NO_RAILS);
	struct hp3_engine_config e = hp3_policy_settled(&cfg.engine);

	assert_int_equal(e.monitor.cycle_ns, 0);
	assert_true(cfg.engine.monitor.cycle_ns != 0); /* as it was, for when watch is on again */
	assert_true(e.probing && e.probes == HP3_PROBES_STANDARD);
	assert_int_equal(e.monitor.rtt_factor, 300);
	assert_int_equal(e.paths.rtt_factor, 300);
	assert_int_equal(e.round.timeout_ns, 70000);
	assert_int_equal(e.round.guard_ns, 70000);
	assert_int_equal(e.paths.window_ns, 70000);
	assert_int_equal(e.trace_timeout_ns, 70000);
	assert_int_equal(e.paths.fresh_ns, 5000);
	assert_true(e.trace && e.observe && !e.moves_allowed && e.cc.notify);
	cfg = parse("[ppp]\nprobe = off\n[cc]\nnp = off\nmode = off\n", HP3_CONFIG_NO_RAILS);
	e = hp3_policy_settled(&cfg.engine);
	assert_true(!e.probing && !e.observe && e.moves_allowed);
	assert_false(e.cc.notify);
	cfg = parse("[ppp]\nidentity = none\n[cc]\nnp = on\n", HP3_CONFIG_NO_RAILS);
	e = hp3_policy_settled(&cfg.engine);
	assert_true(!e.trace && e.cc.notify && e.cc.mode == HP3_CC_NATIVE);
}

/* Flows with packets in flight are not forgotten before those without. */
static void dead_age_is_no_shorter_than_idle_age(void **state)
{
	struct hp3_config cfg = parse(
		"[flows]\nidle_age_ms = 86400000\n[policy]\nstudy = on\n", HP3_CONFIG_NO_RAILS);
	uint64_t dead = cfg.engine.dead_age_ns;

	assert_true(hp3_policy_settled(&cfg.engine).dead_age_ns == cfg.engine.idle_age_ns);
	cfg.engine.idle_age_ns = dead - 1;
	assert_true(hp3_policy_settled(&cfg.engine).dead_age_ns == dead);
}

static void two_rails(void **state)
{
	struct hp3_config cfg = parse("[rail.left-1]\r\n"
				      "  rnic=\"net_pcap0,rx_pcap=a;b#c\" ; quoted\r\n"
				      "net\t= net_ring1   # a comment\r\n"
				      "; another\r\n"
				      "[ rail.right ]\n"
				      "net = 'net_x,a=\"1\"'\n"
				      "rnic = 0000:03:00.0,representor=0",
		0);

	assert_int_equal(cfg.n_rails, 2);
	assert_string_equal(cfg.rails[0].name, "left-1");
	assert_string_equal(cfg.rails[0].rnic, "net_pcap0,rx_pcap=a;b#c");
	assert_string_equal(cfg.rails[0].net, "net_ring1");
	assert_string_equal(cfg.rails[1].name, "right");
	assert_string_equal(cfg.rails[1].net, "net_x,a=\"1\"");
	assert_string_equal(cfg.rails[1].rnic, "0000:03:00.0,representor=0");
}

static void rails_of_a_bond(void **state)
{
	struct hp3_config cfg = parse("[bond.lag]\nrails = \"c ,a,  d\"\nmode = active-backup\n"
				      "[rail.a]\nrnic = net_ring0\nnet = net_ring1\n"
				      "[rail.b]\nrnic = net_ring2\nnet = net_ring3\n"
				      "[rail.c]\nrnic = net_ring4\nnet = net_ring5\n"
				      "[rail.d]\nrnic = net_ring6\nnet = net_ring7\n",
		0);
	static const struct {
		unsigned lead, next;
		const char *name;
	} want[] = {{2, 3, "lag"}, {1, 1, "b"}, {2, 0, "lag"}, {2, 2, "lag"}};

	assert_int_equal(cfg.bonds[0].mode, HP3_BOND_ACTIVE_BACKUP);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(hp3_config_bond(&cfg, i), i == 1);
		assert_int_equal(hp3_config_lead(&cfg, i), want[i].lead);
		assert_int_equal(hp3_config_is_lead(&cfg, i), want[i].lead == i);
		assert_int_equal(hp3_config_next_member(&cfg, i), want[i].next);
		assert_string_equal(hp3_config_flows_name(&cfg, i), want[i].name);
	}
	assert_int_equal(hp3_config_flows_rail(&cfg, "lag"), 2);
	assert_int_equal(hp3_config_flows_rail(&cfg, "a"), 2);
	assert_int_equal(hp3_config_flows_rail(&cfg, "b"), 1);
	assert_int_equal(hp3_config_flows_rail(&cfg, "e"), 4);
}

#define CHANGED                                                                                    \
	"[eal]\nfile_prefix = h-1\nmemory_mb = 512\nhugepages = on\nlcores = 2\ncpus = 0,2-3\n"    \
	"spread = software\nextra = '--log-level \"x\"; #'\nidle = poll\n"                         \
	"[rail.a]\nrnic = net_ring0\nnet = \"net_ring1,x=1;2\"\n"                                  \
	"[rail.b]\nrnic = net_ring2\nnet = net_ring3\n"                                            \
	"[bond.lag]\nrails = \"a, b\"\nmode = active-backup\n"                                     \
	"[policy]\nmode = off\nseed = 18446744073709551615\n"                                      \
	"[rfr]\nmax_hold_us = 1000000\nhold_bytes_total = 68719476736\nhold_packets = 6144\n"      \
	"[control]\nsocket = /tmp/x y.sock\n"

static void dump_loads_back(void **state)
{
	static const char *const inis[] = {"", CHANGED};

	for (size_t i = 0; i < 2; i++) {
		struct hp3_config cfg = parse(inis[i], HP3_CONFIG_NO_RAILS), again;
		char *text = dump(&cfg);

		again = parse(text, HP3_CONFIG_NO_RAILS);
		assert_memory_equal(&cfg, &again, sizeof(cfg));
		free(text);
	}
}

/* What most hosts set, with the defaults, and a rail to name ports in. */
static void short_dump_of_the_defaults(void **state)
{
	struct hp3_config defaults, again;
	unsigned lines = 0;
	char *text;

	hp3_config_defaults(&defaults);
	text = dump_short(&defaults);
	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	assert_in_range(lines, 5, 20);
	for (size_t i = 0; i < hp3_config_schema.n_common; i++)
		assert_non_null(strstr(text, hp3_config_schema.common[i].key));
	assert_non_null(strstr(text, "--dump-config=all"));
	again = parse(text, 0);
	assert_int_equal(again.n_rails, 1);
	assert_true(again.rails[0].rnic[0] != '\0' && again.rails[0].net[0] != '\0');
	memcpy(again.rails, defaults.rails, sizeof(again.rails));
	again.n_rails = 0;
	assert_memory_equal(&again, &defaults, sizeof(again));
	free(text);
}

static void short_dump_has_what_differs(void **state)
{
	struct hp3_config cfg = parse(CHANGED, 0), again;
	char *text = dump_short(&cfg);

	again = parse(text, 0);
	assert_memory_equal(&cfg, &again, sizeof(cfg));
	assert_non_null(strstr(text, "\nmax_hold_us = 1000000 # default 10000\n"));
	assert_non_null(strstr(text, "\n[rail.b]\nrnic = \"net_ring2\" # port"));
	assert_null(strstr(text, "mbufs"));
	assert_null(strstr(text, "rfr_mode"));
	free(text);
	/* Verbs mode has no rail. A secret is not shown. */
	cfg = parse("[verbs]\nsocket = /run/x.sock\n"
		    "[probes]\nprobe_key = 00112233445566778899aabbccddeeff\n",
		0);
	text = dump_short(&cfg);
	assert_null(strstr(text, "[rail."));
	assert_null(strstr(text, "00112233445566778899aabbccddeeff"));
	again = parse(text, 0);
	strcpy(again.probes.probe_key, cfg.probes.probe_key);
	assert_memory_equal(&cfg, &again, sizeof(cfg));
	free(text);
}

static void ranges_are_inclusive(void **state)
{
	struct hp3_config cfg = parse(
		"[eal]\nburst = 4\nlcores = 64\n[rfr]\nhold_packets = 192\n", HP3_CONFIG_NO_RAILS);

	assert_int_equal(cfg.eal.burst, 4);
	assert_int_equal(cfg.eal.lcores, 64);
	cfg = parse(CHANGED, 0);
	assert_true(cfg.engine.seed == UINT64_MAX);
	assert_true(cfg.engine.hold_bytes_total == 68719476736);
}

/* The hp3.ini that ships is the short dump of itself, and apart from its rail the defaults. */
static void sample_file(void **state)
{
	struct hp3_config cfg, defaults;
	struct hp3_config_errors errs = {0};
	static char text[1 << 16];
	char *dumped;
	FILE *f = fopen(HP3_INI_SAMPLE, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_int_equal(hp3_config_load(HP3_INI_SAMPLE, 0, &cfg, &errs), 0);
	dumped = dump_short(&cfg);
	if (strcmp(text, dumped) != 0)
		fail_msg("hp3.ini, read and written again, is:\n%s", dumped);
	free(dumped);
	assert_int_equal(cfg.n_rails, 1);
	hp3_config_defaults(&defaults);
	memcpy(defaults.rails, cfg.rails, sizeof(cfg.rails));
	defaults.n_rails = 1;
	assert_memory_equal(&cfg, &defaults, sizeof(cfg));
}

static void count_change(void *arg, const struct hp3_config_change *c)
{
	unsigned *keys = arg;

	*keys += strncmp(c->section, "rail.", strlen("rail.")) != 0;
}

/* A profile loads as it is, and says nothing that is the default anyway. */
static void differs(const char *path, unsigned want)
{
	struct hp3_config cfg, defaults;
	struct hp3_config_errors errs = {0};
	unsigned keys = 0;

	hp3_config_defaults(&defaults);
	assert_int_equal(hp3_config_load(path, 0, &cfg, &errs), 0);
	hp3_config_diff_reload(&defaults, &cfg, count_change, &keys);
	assert_int_equal(keys, want);
}

static void profiles(void **state)
{
	differs(HP3_PROFILES "/lab.ini", 14);
}

static void note_change(void *arg, const struct hp3_config_change *c)
{
	char *text = arg;

	snprintf(text + strlen(text), 1024 - strlen(text), "%s.%s %s->%s %s\n", c->section,
		c->key->key, c->from != NULL ? c->from : "(none)", c->to != NULL ? c->to : "(none)",
		c->key->reloadable ? "now" : "restart");
}

/* Every network namespace has the interface lo. */
static void a_port_is_a_plain_name(void **state)
{
	struct hp3_config cfg = parse("[rail.a]\nrnic = lo\nnet = net_af_packet0,iface=x\n"
				      "[rail.b]\nrnic = nosuch0\nnet = 3b:00.1\n",
		0);

	hp3_config_name_ports(&cfg, "test");
	assert_string_equal(cfg.rails[0].rnic, "net_af_packet1,iface=lo");
	assert_string_equal(cfg.rails[0].net, "net_af_packet0,iface=x");
	assert_string_equal(cfg.rails[1].rnic, "nosuch0");
	assert_string_equal(cfg.rails[1].net, "3b:00.1");
}

static void a_rail_has_its_own_mode(void **state)
{
	struct hp3_config cfg = parse(
		"[rail.a]\nrnic = p0\nnet = p1\n[rail.b]\nrnic = p2\nnet = p3\n"
		"rfr_mode = move\n[rail.c]\nrnic = p4\nnet = p5\nrfr_mode = auto\n"
		"[rfr]\nmode = spray\n[probes]\nprobe_key = 00112233445566778899aabbccddeeff\n",
		0);

	assert_int_equal(hp3_config_rfr_mode(&cfg, 0), HP3_SPRAY_ALL);
	assert_int_equal(hp3_config_rfr_mode(&cfg, 1), HP3_SPRAY_MOVE);
	assert_int_equal(hp3_config_rfr_mode(&cfg, 2), HP3_SPRAY_AUTO);
	hp3_config_defaults(&cfg);
	assert_int_equal(hp3_config_rfr_mode(&cfg, 0), HP3_SPRAY_AUTO);
}

static void reload(void **state)
{
	struct hp3_config old =
		parse("[rail.a]\nrnic = p0\nnet = p1\n[rail.b]\nrnic = p2\nnet = p3\n"
		      "[eal]\nburst = 16\n[rfr]\nmax_hold_us = 500\n",
			0);
	/* b has moved to the front: matched by name it is the same. */
	struct hp3_config new =
		parse("[rail.b]\nrnic = p2\nnet = p3\n[rail.c]\nrnic = p4\nnet = p1\n"
		      "[eal]\nburst = 64\n[policy]\nmode = off\n",
			0);
	char seen[1024] = "";

	assert_int_equal(hp3_config_diff_reload(&old, &new, note_change, seen), 11);
	assert_string_equal(seen, "eal.burst 16->64 restart\n"
				  "rail.a.rnic p0->(none) restart\n"
				  "rail.a.net p1->(none) restart\n"
				  "rail.a.rdma ->(none) restart\n"
				  "rail.a.own_addresses refuse->(none) restart\n"
				  "rail.a.rfr_mode same->(none) restart\n"
				  "policy.mode on->off now\n"
				  "rfr.max_hold_us 500->10000 now\n"
				  "rail.c.rnic (none)->p4 restart\n"
				  "rail.c.net (none)->p1 restart\n"
				  "rail.c.rdma (none)-> restart\n"
				  "rail.c.own_addresses (none)->refuse restart\n"
				  "rail.c.rfr_mode (none)->same restart\n");
	hp3_config_apply_reload(&old, &new);
	assert_int_equal(old.engine.words.mode, HP3_POLICY_OFF);
	assert_int_equal(old.engine.max_hold_ns, 10000000);
	assert_int_equal(old.eal.burst, 16);
	assert_string_equal(old.rails[0].name, "a");
	assert_int_equal(hp3_config_diff_reload(&old, &old, NULL, NULL), 0);
}

/* The reader knows nothing of hp3.ini: another tool brings its own table. */
struct topology {
	struct {
		char name[8];
		uint64_t rate_mbps;
	} links[2];
	uint32_t n_links;
};

static void table_of_another_tool(void **state)
{
	static const struct hp3_ini_section sections[] = {{"link", "A link.", 2,
		offsetof(struct topology, links), sizeof(((struct topology *)0)->links[0]),
		offsetof(struct topology, n_links), 8}};
	static const struct hp3_ini_key keys[] = {{.section = "link",
		.key = "rate_mbps",
		.type = HP3_INI_INT,
		.unit = "mbps",
		.required = true,
		.min = 1,
		.max = 400000,
		.help = "rate",
		.offset = sizeof(((struct topology *)0)->links[0].name),
		.size = 8}};
	static const struct hp3_ini_schema schema = {
		.sections = sections, .n_sections = 1, .keys = keys, .n_keys = 1, .title = "links"};
	const char *ini = "[link.up]\nrate_mbps = 100000\n[link.down]\nrate_mbps = 25000\n";
	const char *bad = "[link.up]\nrate_mbps = 0\n[link.down]\n";
	struct hp3_config_errors errs = {0};
	struct topology t = {0};

	assert_int_equal(hp3_ini_parse(&schema, "t", ini, strlen(ini), 0, &t, &errs), 0);
	assert_int_equal(t.n_links, 2);
	assert_string_equal(t.links[1].name, "down");
	assert_int_equal(t.links[1].rate_mbps, 25000);
	memset(&t, 0, sizeof(t));
	assert_int_equal(hp3_ini_parse(&schema, "t", bad, strlen(bad), 0, &t, &errs), -EINVAL);
	assert_int_equal(errs.count, 2);
	assert_string_equal(errs.list[0].text,
		"t:2: [link.up] rate_mbps = 0: too small: write a plain number, 1..400000 mbps");
	assert_string_equal(errs.list[1].text,
		"t:3: [link.down] rate_mbps: missing: add rate_mbps = 1..400000 mbps (rate)");
	hp3_config_errors_free(&errs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(empty_file_is_defaults),
		cmocka_unit_test(number_or_word),
		cmocka_unit_test(defaults_are_the_policy),
		cmocka_unit_test(reload_keeps_values),
		cmocka_unit_test(policy_settles),
		cmocka_unit_test(dead_age_is_no_shorter_than_idle_age),
		cmocka_unit_test(two_rails),
		cmocka_unit_test(rails_of_a_bond),
		cmocka_unit_test(dump_loads_back),
		cmocka_unit_test(short_dump_of_the_defaults),
		cmocka_unit_test(short_dump_has_what_differs),
		cmocka_unit_test(ranges_are_inclusive),
		cmocka_unit_test(sample_file),
		cmocka_unit_test(profiles),
		cmocka_unit_test(a_port_is_a_plain_name),
		cmocka_unit_test(a_rail_has_its_own_mode),
		cmocka_unit_test(reload),
		cmocka_unit_test(table_of_another_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
