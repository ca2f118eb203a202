/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kind of error in a configuration, with the exact message for the user. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/config.h"

#define RAIL    "[rail.a]\nrnic = net_ring0\nnet = net_ring1\n" /* three lines, nothing wrong */
#define DEVARGS "DPDK devargs without blanks, such as \"net_af_packet0,iface=veth0\""

static char *errors_text(struct hp3_config_errors *errs)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	hp3_config_errors_print(errs, out);
	fclose(out);
	hp3_config_errors_free(errs);
	return text;
}

/* `expected`: all messages, each ended by a newline, and no other. */
static void expect(const char *ini, unsigned flags, const char *expected)
{
	struct hp3_config cfg, untouched;
	struct hp3_config_errors errs = {0};
	char *text;
	int ret;

	memset(&cfg, 0x5a, sizeof(cfg));
	memset(&untouched, 0x5a, sizeof(untouched));
	ret = hp3_config_parse("f.ini", ini, strlen(ini), flags, &cfg, &errs);
	text = errors_text(&errs);
	assert_string_equal(text, expected);
	free(text);
	assert_int_equal(ret, -EINVAL);
	assert_memory_equal(&cfg, &untouched, sizeof(cfg));
}

static void names(void **state)
{
	expect(RAIL "[rfr]\nmax_hodl_us = 5\n", 0,
		"f.ini:5: [rfr] max_hodl_us = 5: unknown key: did you mean 'max_hold_us'?\n");
	expect(RAIL "[ppp]\nloss_repaets = 5\n[policy]\nstudy = on\n", 0,
		"f.ini:5: [ppp] loss_repaets = 5: unknown key: did you mean 'loss_repeats'?\n");
	expect(RAIL "[eal]\nBURST = 5\n", 0,
		"f.ini:5: [eal] BURST = 5: unknown key: did you mean 'burst'?\n");
	expect(RAIL "[policy]\ncolour = red\n", 0,
		"f.ini:5: [policy] colour = red: unknown key; keys of this section: mode, "
		"observe_probes, study, seed\n");
	expect(RAIL "[pairing]\nchallenge_hits = 1\n[policy]\nstudy = off\n", 0,
		"f.ini:5: [pairing] challenge_hits = 1: a key for studies and emulated networks: "
		"remove it, or set [policy] study = on\n");
	expect(RAIL "[rfr]\nburst = 32\n", 0,
		"f.ini:5: [rfr] burst = 32: unknown key here: it belongs to section [eal]\n");
	expect(RAIL "[pairng]\ncm = nonsense\n", 0,
		"f.ini:4: [pairng]: unknown section: did you mean [pairing]?\n");
	expect(RAIL "[weather]\ncm = nonsense\n", 0,
		"f.ini:4: [weather]: unknown section; known: [eal] [rail.NAME] [bond.NAME] "
		"[bypass] [filter] "
		"[verbs] [watch] [policy] [flows] [pairing] [ppp] [rfr] [cc] [probes] [control] "
		"[metrics] "
		"[log] [service]\n");
	expect(RAIL "[eal.x]\n", 0, "f.ini:4: [eal.x]: unknown section: did you mean [eal]?\n");
	expect("burst = 32\n" RAIL, 0,
		"f.ini:1: burst = 32: key before the first section: write its [section] above "
		"it\n");
}

/* hp3-fleet's servers have them; whatever key they stand behind. */
static void passwords_in_urls_are_not_shown(void **state)
{
	expect(RAIL "[policy]\nservers = \"nats://h0:S3cret@h,nats://T0ken@g\"\n", 0,
		"f.ini:5: [policy] servers = \"nats://***@h,nats://***@g\": unknown key; keys of "
		"this section: mode, observe_probes, study, seed\n");
	expect("nats://h0:S3cret@h\n" RAIL, 0,
		"f.ini:1: nats://***@h: neither [section] nor comment nor key: write key = "
		"value\n");
}

static void duplicates(void **state)
{
	expect(RAIL "[eal]\nburst = 32\n\nburst = 64\n", 0,
		"f.ini:7: [eal] burst = 64: already set to 32 at line 5: remove one of the two\n");
	expect(RAIL "[eal]\n[rfr]\n[eal]\nburst = 2\n", 0,
		"f.ini:6: [eal]: section began at line 4 already: put all its keys there\n"
		"f.ini:7: [eal] burst = 2: too small: write a plain number, 4..256 packets, "
		"default 32\n");
	expect(RAIL RAIL, 0,
		"f.ini:4: [rail.a]: section began at line 1 already: put all its keys there\n"
		"f.ini:5: [rail.a] rnic = net_ring0: already set to net_ring0 at line 2: remove "
		"one of the two\n"
		"f.ini:6: [rail.a] net = net_ring1: already set to net_ring1 at line 3: remove "
		"one of the two\n");
}

static void integers(void **state)
{
	static const struct {
		const char *value, *problem;
	} cases[] = {
		{"9", "too small"},
		{"1000001", "too large"},
		{"18446744073709551616", "too large"},
		{"99999999999999999999999999", "too large"},
		{"-500", "only digits are allowed"},
		{"fast", "only digits are allowed"},
		{"10us", "'us' after the number; the unit is in the key's name"},
		{"10 ms", "' ms' after the number; the unit is in the key's name"},
		{"1e4", "'e4' after the number; the unit is in the key's name"},
		{"0x400", "'x400' after the number; the unit is in the key's name"},
		{"", "value is empty"},
	};
	char ini[256], expected[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(ini, sizeof(ini), RAIL "[rfr]\nmax_hold_us = %s\n", cases[i].value);
		snprintf(expected, sizeof(expected),
			"f.ini:5: [rfr] max_hold_us = %s: %s: write a plain number, 10..1000000 "
			"us, default 10000\n",
			cases[i].value, cases[i].problem);
		expect(ini, 0, expected);
	}
	expect(RAIL "[policy]\nseed = 18446744073709551616\n", 0,
		"f.ini:5: [policy] seed = 18446744073709551616: too large: write a plain number, "
		"0..18446744073709551615, default 1\n");
	expect(RAIL "[ppp]\nanswer_dscp = 64\n", 0,
		"f.ini:5: [ppp] answer_dscp = 64: too large: write a plain number, 0..63|data, "
		"default 48\n");
	expect(RAIL "[ppp]\nanswer_dscp = cs6\n", 0,
		"f.ini:5: [ppp] answer_dscp = cs6: only digits or data are allowed: write a plain "
		"number, 0..63|data, default 48\n");
	expect(RAIL "[eal]\nlcores = 2x\n", 0,
		"f.ini:5: [eal] lcores = 2x: 'x' after the number: write a plain number, 1..64 "
		"lcores, default 1\n");
}

static void choices_and_strings(void **state)
{
	expect(RAIL "[policy]\nmode = yes\n", 0,
		"f.ini:5: [policy] mode = yes: not a choice: allowed is off|observe|on, default "
		"on\n");
	expect(RAIL "[ppp]\nprobe = nak\n", 0,
		"f.ini:5: [ppp] probe = nak: not a choice: allowed is off|auto|peer|standard, "
		"default auto\n");
	expect(RAIL "[eal]\nidle =\n", 0,
		"f.ini:5: [eal] idle = : value is empty: allowed is poll|sleep, default sleep\n");
	expect(RAIL "[eal]\ncpus = 3-1\n", 0,
		"f.ini:5: [eal] cpus = 3-1: not allowed: write CPU numbers and ranges, such as "
		"\"0,2-3\"\n");
	expect(RAIL "[eal]\nfile_prefix = a/b\n", 0,
		"f.ini:5: [eal] file_prefix = a/b: not allowed: write letters, digits, '-', '_' "
		"and '.' only, beginning with a letter or digit\n");
	expect(RAIL "[eal]\nfile_prefix = a23456789b123456789c123456789d12\n", 0,
		"f.ini:5: [eal] file_prefix = a23456789b123456789c123456789d12: text of 32 bytes: "
		"allowed are 1..31\n");
	expect(RAIL "[control]\nsocket = hp3.sock\n", 0,
		"f.ini:5: [control] socket = hp3.sock: not allowed: write an absolute path, such "
		"as \"/run/hp3/hp3.sock\"\n");
	expect(RAIL "[control]\nsocket = \"\"\n", 0,
		"f.ini:5: [control] socket = \"\": value is empty: write an absolute path, such "
		"as \"/run/hp3/hp3.sock\"\n");
}

static void quotes(void **state)
{
	expect("[rail.a]\nrnic = net_pcap0,rx=a;b\nnet = net_ring1#x\n", 0,
		"f.ini:2: [rail.a] rnic = net_pcap0,rx=a;b: an unquoted value ends at ';': enclose "
		"it in double quotes (or put a blank before a comment)\n"
		"f.ini:3: [rail.a] net = net_ring1#x: an unquoted value ends at '#': enclose it in "
		"double quotes (or put a blank before a comment)\n");
	expect(RAIL "[eal]\nextra = \"--log-level=8\n", 0,
		"f.ini:5: [eal] extra = \"--log-level=8: the quote is never closed: end the value "
		"with the quote it begins with\n");
	expect(RAIL "[eal]\nextra = \"-a\" \"-b\"\n", 0,
		"f.ini:5: [eal] extra = \"-a\" \"-b\": text after the closing quote: enclose the "
		"whole value in one pair of quotes\n");
	expect(RAIL "[eal]\nextra = -a \"b\"\n", 0,
		"f.ini:5: [eal] extra = -a \"b\": a quote inside the value: enclose the whole "
		"value in the other kind of quotes\n");
	expect(RAIL "[eal]\nextra = -a \\\n-b\n", 0,
		"f.ini:5: [eal] extra = -a \\: a backslash is not allowed: there are no escapes "
		"and no continuation lines\n"
		"f.ini:6: [eal] -b: neither [section] nor comment nor key: write key = value\n");
}

static void lines(void **state)
{
	char ini[2 * HP3_INI_LINE_MAX];
	struct hp3_config cfg;
	struct hp3_config_errors errs = {0};
	size_t start = strlen(RAIL "[eal]\n");
	/* Cut short, no beginning, too long a form, a surrogate, beyond U+10FFFF. */
	static const char *const broken[] = {"\xc3", "\xa9", "\xc0\xaf", "\xe0\x80\xaf",
		"\xed\xa0\x80", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xff", "\xe2\x82x"};
	static const char *const whole[] = {
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};

	expect(RAIL "[eal\nburst = 1\n", 0, "f.ini:4: [eal: the section's ] is missing\n");
	expect(RAIL "[eal] # memory\nburst = 1\n", 0,
		"f.ini:4: [eal] # memory: nothing may follow the ] of a section: put it on a line "
		"of its own\n");
	expect(RAIL "[eal]\nburst = 1\001\n", 0,
		"f.ini:5: burst = 1?: control character in the line: the file has to be plain "
		"text, in UTF-8\n");
	for (unsigned i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		snprintf(ini, sizeof(ini), RAIL "# %s\n", broken[i]);
		assert_int_equal(
			hp3_config_parse("f.ini", ini, strlen(ini), 0, &cfg, &errs), -EINVAL);
		hp3_config_errors_free(&errs);
		errs = (struct hp3_config_errors){0};
	}
	for (unsigned i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		snprintf(ini, sizeof(ini), RAIL "# %s\n", whole[i]);
		assert_int_equal(hp3_config_parse("f.ini", ini, strlen(ini), 0, &cfg, &errs), 0);
	}

	/* The longest line, then one byte more; a comment is no exception. */
	memset(ini, 'x', sizeof(ini));
	memcpy(ini, RAIL "[eal]\n#", start + 1);
	ini[start + HP3_INI_LINE_MAX] = '\0';
	assert_int_equal(hp3_config_parse("f.ini", ini, strlen(ini), 0, &cfg, &errs), 0);
	assert_int_equal(errs.count, 0);
	ini[start + HP3_INI_LINE_MAX] = 'x';
	ini[start + HP3_INI_LINE_MAX + 1] = '\0';
	expect(ini, 0,
		"f.ini:5: #xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...: line of "
		"1023 bytes: at most 1022 are allowed\n");
}

static void rails(void **state)
{
	char ini[4096] = "", expected[256];

	expect("[eal]\n", 0,
		"f.ini: no [rail.NAME] section: add one with rnic = and net =, the two ports to "
		"work between, or set [verbs] socket\n");
	expect("[verbs]\nsocket = /run/x.sock\n" RAIL, 0,
		"f.ini:2: [verbs] socket = /run/x.sock: there is a [rail.NAME], too: hp3d works "
		"inline or in verbs mode; remove one of them\n");
	expect("[eal]\nlcores = 2\n[verbs]\nsocket = /run/x.sock\n", 0,
		"f.ini:4: [verbs] socket = /run/x.sock: one lcore does it: set lcores = 1 in "
		"[eal]\n");
	expect("[rail]\n" RAIL, 0, "f.ini:1: [rail]: unknown section: did you mean [rail.NAME]?\n");
	expect("[rail.A]\n" RAIL, 0,
		"f.ini:1: [rail.A]: bad name: write [rail.NAME] with 1 to 15 of a-z, 0-9, '_' and "
		"'-'\n");
	expect("[rail.a234567890123456]\n" RAIL, 0,
		"f.ini:1: [rail.a234567890123456]: bad name: write [rail.NAME] with 1 to 15 of "
		"a-z, 0-9, '_' and '-'\n");
	expect("[rail.a]\nrnic = net_ring0\n", 0,
		"f.ini:1: [rail.a] net: missing: add net = " DEVARGS
		" (port towards the network)\n");
	expect("[rail.a]\nrnic = net_ring0\nnett = net_ring1\n", 0,
		"f.ini:3: [rail.a] nett = net_ring1: unknown key: did you mean 'net'?\n");
	expect("[rail.a]\nrnic = net_ring0, x\nnet = net_ring1\n", 0,
		"f.ini:2: [rail.a] rnic = net_ring0, x: not allowed: write " DEVARGS "\n");
	expect(RAIL "[rail.b]\nrnic = net_ring2\nnet = \"net_ring0,x=y\"\n", 0,
		"f.ini:6: [rail.b] net = \"net_ring0,x=y\": device 'net_ring0' is taken by "
		"[rail.a] rnic: number the devices of a driver, such as net_af_packet0, "
		"net_af_packet1\n");
	expect("[rail.a]\nrnic = 0000:3b:00.1\nnet = 3b:00.1\n", 0,
		"f.ini:3: [rail.a] net = 3b:00.1: device '3b:00.1' is taken by [rail.a] rnic: "
		"number the devices of a driver, such as net_af_packet0, net_af_packet1\n");
	expect("[rail.a]\nrnic = eth0\nnet = eth0\n", 0,
		"f.ini:3: [rail.a] net = eth0: interface 'eth0' is taken by [rail.a] rnic: a rail "
		"stands between two of them, give this port its own\n");
	expect("[rail.a]\nrnic = eth0\nnet = \"net_af_packet0,iface=eth0\"\n", 0,
		"f.ini:3: [rail.a] net = \"net_af_packet0,iface=eth0\": interface 'eth0' is taken "
		"by [rail.a] rnic: a rail stands between two of them, give this port its own\n");
	expect(RAIL "[rail.b]\nrnic = \"net_af_packet0,iface=eth0\"\nnet = "
		    "\"net_af_packet1,x=y,iface=eth0\"\n",
		0,
		"f.ini:6: [rail.b] net = \"net_af_packet1,x=y,iface=eth0\": interface 'eth0' is "
		"taken by [rail.b] rnic: a rail stands between two of them, give this port its "
		"own\n");

	for (unsigned i = 0; i <= HP3_CONFIG_RAILS_MAX; i++)
		snprintf(ini + strlen(ini), sizeof(ini) - strlen(ini),
			"[rail.r%u]\nrnic = net_ring%u\nnet = net_null%u\n", i, i, i);
	snprintf(expected, sizeof(expected),
		"f.ini:%u: [rail.r%u]: one too many: at most %u sections [rail.NAME]\n",
		3 * HP3_CONFIG_RAILS_MAX + 1, HP3_CONFIG_RAILS_MAX, HP3_CONFIG_RAILS_MAX);
	expect(ini, 0, expected);
}

/* Metrics are for this host, unless somebody says otherwise. */
#define OTHER_RAIL "[rail.b]\nrnic = net_ring2\nnet = net_ring3\n"

static void bonds(void **state)
{
	expect(RAIL OTHER_RAIL "[bond.x]\nrails = a, c\n", 0,
		"f.ini:8: [bond.x] rails = a, c: there is no [rail.c]: add this section, or take "
		"rails that exist: a, b\n");
	expect(RAIL "[bond.x]\nrails = a\n", 0,
		"f.ini:5: [bond.x] rails = a: a bond has two rails at least: add the rail of the "
		"other port, or remove [bond.x]\n");
	expect(RAIL OTHER_RAIL "[bond.x]\nrails = a,b,a\n", 0,
		"f.ini:8: [bond.x] rails = a,b,a: a is listed twice: list it once\n");
	expect(RAIL OTHER_RAIL "[bond.x]\nrails = a,b\n[bond.y]\nrails = b,a\n", 0,
		"f.ini:10: [bond.y] rails = b,a: b is already a rail of [bond.x]: a rail has one "
		"bond, remove it from one of them\n");
	expect(RAIL OTHER_RAIL "rfr_mode = move\n[bond.x]\nrails = b, a\n", 0,
		"f.ini:9: [bond.x] rails = b, a: [rail.b] and [rail.a] have different values of "
		"rfr_mode, but share their flows: give both the same value\n");
	expect(RAIL OTHER_RAIL "[bond.a]\nrails = a, b\n", 0,
		"f.ini:7: [bond.a]: a rail has this name, too: flows and counters would have one "
		"name for both; take another name, such as [bond.bond0]\n");
	expect(RAIL OTHER_RAIL "[bond.x]\nrails = a b\n", 0,
		"f.ini:8: [bond.x] rails = a b: not allowed: write names of rails, separated by "
		"commas, such as \"rail0, rail1\"\n");
	expect(RAIL OTHER_RAIL "[bond.x]\nmode = lacp\n", 0,
		"f.ini:7: [bond.x] rails: missing: add rails = names of rails, separated by "
		"commas, such as \"rail0, rail1\" (the rails whose ports are the members of the "
		"bond, two at least)\n");
	expect(RAIL OTHER_RAIL "[bond.x]\nrails = a, b\nmode = balance-rr\n", 0,
		"f.ini:9: [bond.x] mode = balance-rr: not a choice: allowed is "
		"lacp|active-backup, default lacp\n");
	expect("[bond.x]\nrails = a, b\n[verbs]\nsocket = /run/x.sock\n", 0,
		"f.ini:2: [bond.x] rails = a, b: there is no [rail.a]: add this section, or take "
		"rails that exist: there are none\n");
}

static void addresses_of_metrics(void **state)
{
	static const char *const bad[] = {"9795", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
		"127.0.0.1:65536", "127.0.0.1:x", ":9795", "localhost:9795", "::1:9795", "[::1]",
		"[::1:9795", "[]:9795", "127.1:9795", "[127.0.0.1]:9795", "127.0.0.1:000001"};
	static const char *const good[] = {"listen = 0.0.0.0:9795\nremote = on",
		"listen = 127.8.0.1:65535\nsocket = off", "listen = \"[::1]:1\"\nsocket = /run/m",
		"listen = \"\"\nsocket = auto"};
	char ini[512], expected[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(ini, sizeof(ini), RAIL "[metrics]\nlisten = \"%s\"\n", bad[i]);
		snprintf(expected, sizeof(expected),
			"f.ini:5: [metrics] listen = \"%s\": not allowed: write an address and a "
			"port, such as \"127.0.0.1:9795\" or \"[::1]:9795\"\n",
			bad[i]);
		expect(ini, 0, expected);
	}
	expect(RAIL "[metrics]\nlisten = 0.0.0.0:9795\n", 0,
		"f.ini:5: [metrics] listen = 0.0.0.0:9795: 0.0.0.0:9795 is no loopback address, "
		"others could read the metrics: take 127.0.0.1:9795, or set remote = on\n");
	expect(RAIL "[metrics]\nlisten = \"[fd00::1]:80\"\n", 0,
		"f.ini:5: [metrics] listen = \"[fd00::1]:80\": [fd00::1]:80 is no loopback "
		"address, others could read the metrics: take 127.0.0.1:80, or set remote = on\n");
	expect(RAIL "[metrics]\nsocket = metrics.sock\n", 0,
		"f.ini:5: [metrics] socket = metrics.sock: not allowed: write an absolute path, "
		"such as \"/run/hp3/hp3-metrics.sock\", or auto, or off\n");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct hp3_config cfg;
		struct hp3_config_errors errs = {0};

		snprintf(ini, sizeof(ini), RAIL "[metrics]\n%s\n", good[i]);
		assert_int_equal(hp3_config_parse("f.ini", ini, strlen(ini), 0, &cfg, &errs), 0);
	}
}

static void rules_between_keys(void **state)
{
	expect(RAIL "[eal]\nmbufs = 65536\n", 0,
		"f.ini:4: [eal] memory_mb: 256 MiB cannot hold a pool of 65536 mbufs of 4608 "
		"bytes: "
		"allow at least 304 or lower mbufs\n");
	expect(RAIL "[rfr]\nhold_packets = 12289\n", 0,
		"f.ini:5: [rfr] hold_packets = 12289: 12289 packets on hold, on each of [eal] "
		"lcores = 1, would leave too few of [eal] mbufs = 16384 to receive with: raise "
		"mbufs to at least 16388, or lower hold_packets x lcores to at most 12288\n");
	expect(RAIL "[rfr]\nhold_bytes = 20000\nhold_bytes_total = 19999\n", 0,
		"f.ini:5: [rfr] hold_bytes = 20000: one flow's bound 20000 exceeds that of all, "
		"hold_bytes_total = 19999: lower it or raise hold_bytes_total\n");
	expect(RAIL "[ppp]\nbackoff_min_us = 2000\nbackoff_max_us = 1999\n[policy]\nstudy = on\n",
		0,
		"f.ini:6: [ppp] backoff_max_us = 1999: 1999 us is shorter than backoff_min_us = "
		"2000: "
		"set it to at least 2000\n");
	/* No verdict from a value that is wrong in itself. */
	expect(RAIL "[rfr]\nhold_packets = 20000\n[eal]\nmbufs = 9999999\n", 0,
		"f.ini:7: [eal] mbufs = 9999999: too large: write a plain number, 1024..4194304 "
		"mbufs, default 16384\n");
}

/* The pool is the rail's, what is held is each lcore's. */
static void lcores_hold_from_one_pool(void **state)
{
	struct hp3_config cfg;
	struct hp3_config_errors errs = {0};
	static const char fits[] = RAIL "[eal]\nlcores = 8\n[rfr]\nhold_packets = 1536\n";

	expect(RAIL "[eal]\nlcores = 8\n[rfr]\nhold_packets = 1537\n", 0,
		"f.ini:7: [rfr] hold_packets = 1537: 1537 packets on hold, on each of [eal] lcores "
		"= 8, would leave too few of [eal] mbufs = 16384 to receive with: raise mbufs to "
		"at least 16396, or lower hold_packets x lcores to at most 12288\n");
	expect(RAIL "[eal]\nlcores = 8\n", 0,
		"f.ini: [rfr] hold_packets: 8192 packets on hold, on each of [eal] lcores = 8, "
		"would leave too few of [eal] mbufs = 16384 to receive with: raise mbufs to at "
		"least 87384, or lower hold_packets x lcores to at most 12288\n");
	assert_int_equal(hp3_config_parse("f.ini", fits, strlen(fits), 0, &cfg, &errs), 0);
	hp3_config_errors_free(&errs);
}

static void all_in_line_order(void **state)
{
	expect("[eal]\nburst = 1\nbusrt = 2\nidle = never\n[rfr\n", 0,
		"f.ini:2: [eal] burst = 1: too small: write a plain number, 4..256 packets, "
		"default 32\n"
		"f.ini:3: [eal] busrt = 2: unknown key: did you mean 'burst'?\n"
		"f.ini:4: [eal] idle = never: not a choice: allowed is poll|sleep, default sleep\n"
		"f.ini:5: [rfr: the section's ] is missing\n"
		"f.ini: no [rail.NAME] section: add one with rnic = and net =, the two ports to "
		"work between, or set [verbs] socket\n");
}

static void unreadable_files(void **state)
{
	struct hp3_config cfg;
	struct hp3_config_errors errs = {0};
	char *text;

	assert_int_equal(hp3_config_load("/nonexistent/hp3.ini", 0, &cfg, &errs), -ENOENT);
	text = errors_text(&errs);
	assert_string_equal(text, "/nonexistent/hp3.ini: cannot be read: No such file or "
				  "directory; check the path\n");
	free(text);
	assert_int_equal(hp3_config_load("/", 0, &cfg, &errs), -EISDIR);
	text = errors_text(&errs);
	assert_string_equal(text, "/: cannot be read: Is a directory; name the file in it\n");
	free(text);
	assert_int_equal(hp3_config_load("/dev/zero", 0, &cfg, &errs), -EFBIG);
	text = errors_text(&errs);
	assert_string_equal(text, "/dev/zero: cannot be read: File too large; a configuration has "
				  "at most 1 MiB; is this the right file?\n");
	free(text);
}

static void keys_that_are_not_there(void **state)
{
	expect(RAIL "[probes]\nkeys = group\n", 0,
		"f.ini:5: [probes] keys = group: there is no probe_key: set it on all hosts to "
		"what "
		"\"openssl rand -hex 16\" prints, or take keys = auto\n");
	expect(RAIL "[probes]\nkeys = off\nprobe_key = 00112233445566778899aabbccddeeff\n", 0,
		"f.ini:5: [probes] keys = off: there is a probe_key: take keys = group, or "
		"remove the key\n");
	expect(RAIL "[probes]\nprobe_key_old = 00112233445566778899aabbccddeeff\n", 0,
		"f.ini:5: [probes] probe_key_old = (secret): there is no probe_key: set it to the "
		"new one, or "
		"to "
		"this one\n");
	expect(RAIL "[service]\nstate = here\n", 0,
		"f.ini:5: [service] state = here: not allowed: write an absolute path, such as "
		"\"/var/lib/hp3\", "
		"or nothing\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(keys_that_are_not_there),
		cmocka_unit_test(passwords_in_urls_are_not_shown),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(integers),
		cmocka_unit_test(choices_and_strings),
		cmocka_unit_test(quotes),
		cmocka_unit_test(lines),
		cmocka_unit_test(rails),
		cmocka_unit_test(bonds),
		cmocka_unit_test(addresses_of_metrics),
		cmocka_unit_test(rules_between_keys),
		cmocka_unit_test(lcores_hold_from_one_pool),
		cmocka_unit_test(all_in_line_order),
		cmocka_unit_test(unreadable_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
