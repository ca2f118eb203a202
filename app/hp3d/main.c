/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d: command line, start and stop. */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include "app/doctor/doctor.h"
#include "app/hp3d/control/control.h"
#include "app/hp3d/control/counters.h"
#include "app/hp3d/control/health.h"
#include "app/hp3d/control/mode.h"
#include "app/hp3d/control/watch.h"
#include "app/hp3d/keys/keys.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/lcores/workers.h"
#include "app/hp3d/metrics/metrics.h"
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/replay/replay.h"
#include "app/hp3d/service/service.h"
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/record/record.h"
#include "app/signals.h"
#include "config/config_file.h"

#define POLL_MS            50
#define RECORDS_PER_SECOND 100u /* in the audit log and the journal, see record.h */

enum exit_code { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

static const char usage_text[] =
	"usage: hp3d [--config FILE]                 run (default " HP3_CONFIG_FILE ")\n"
	"       hp3d --check-config FILE             print the errors in FILE\n"
	"       hp3d --dump-config[=all] [FILE]      print a configuration, or all keys\n"
	"       hp3d --detach [--config FILE]        remove hp3d's programs from the kernel\n"
	"       hp3d --replay IN.pcap [--out OUT.pcap] [--config FILE] [--move PORT] [--json]\n"
	"\n"
	"  -c, --config FILE         configuration\n"
	"      --check-config FILE   check it and the devices that it names: exit code 0 or 2\n"
	"      --dump-config [FILE]  print an INI file: what most hosts set, and what FILE "
	"changes\n"
	"      --dump-config=all [FILE]  print all keys, as FILE sets them or with their defaults\n"
	"      --detach              detach the fail-open programs from the ports of all rails\n"
	"  -r, --replay IN.pcap      print the flows of a capture, and end\n"
	"  -o, --out OUT.pcap        replay: write what leaves the pipeline\n"
	"  -m, --move PORT           replay: move every requester stream to this UDP source port\n"
	"  -j, --json                replay: summary and flows as JSON\n"
	"  -V, --version             print the version\n"
	"  -h, --help                print this\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage or configuration. See hp3d(8), hp3ctl(1).\n";

enum { OPT_CHECK = 256, OPT_DUMP, OPT_DETACH };

struct options {
	const char *config;
	bool check, dump, dump_all, detach;
	struct hp3d_replay replay;
};

static volatile sig_atomic_t stop_signal, reload_wanted;

static void on_signal(int sig)
{
	if (stop_signal == 0) /* -1: the start has failed */
		stop_signal = sig;
}

static void on_hangup(int sig)
{
	reload_wanted = 1;
}

static int reject_usage(const char *what)
{
	fprintf(stderr, "hp3d: %s; try hp3d --help\n", what);
	return EXIT_USAGE;
}

/* An exit code, or -1: continue. */
static int parse_args(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'},
		{"check-config", required_argument, NULL, OPT_CHECK},
		{"dump-config", optional_argument, NULL, OPT_DUMP},
		{"detach", no_argument, NULL, OPT_DETACH},
		{"replay", required_argument, NULL, 'r'},
		{"out", required_argument, NULL, 'o'},
		{"move", required_argument, NULL, 'm'},
		{"json", no_argument, NULL, 'j'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char *end;
	long port;
	int c;

	while ((c = getopt_long(argc, argv, "c:r:o:m:jVh", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case OPT_CHECK:
			o->check = true;
			o->config = optarg;
			break;
		case OPT_DUMP:
			o->dump = true;
			if (optarg != NULL && strcmp(optarg, "all") == 0) {
				o->dump_all = true;
				optarg = NULL;
			}
			if (optarg == NULL && optind < argc && argv[optind][0] != '-')
				optarg = argv[optind++];
			if (optarg != NULL)
				o->config = optarg;
			break;
		case OPT_DETACH:
			o->detach = true;
			break;
		case 'r':
			o->replay.in = optarg;
			break;
		case 'o':
			o->replay.out = optarg;
			break;
		case 'm':
			errno = 0;
			/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): getopt's */
			port = strtol(optarg, &end, 0);
			if (errno != 0 || end == optarg || *end != '\0' || port < 1 || port > 65535)
				return reject_usage("--move wants a UDP source port, 1..65535");
			o->replay.move_to = (uint16_t)port;
			break;
		case 'j':
			o->replay.json = true;
			break;
		case 'V':
			puts("hp3d " HP3_VERSION);
			return EXIT_OK;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_OK;
		default:
			fputs("try hp3d --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return reject_usage("unexpected argument");
	if (o->replay.in == NULL &&
		(o->replay.out != NULL || o->replay.move_to != 0 || o->replay.json))
		return reject_usage("--out, --move and --json belong to --replay");
	return -1;
}

/* Without --config: the default file, which must exist; --replay and --dump-config use no file. */
static int load_config(const struct options *o, struct hp3_config *cfg)
{
	bool no_rails = o->replay.in != NULL || o->dump;
	struct hp3_config_errors errs = {0};
	const char *path = o->config;
	int ret;

	hp3_config_defaults(cfg);
	if (path == NULL && no_rails)
		return 0;
	if (path == NULL)
		path = HP3_CONFIG_FILE;
	ret = hp3_config_load(path, no_rails ? HP3_CONFIG_NO_RAILS : 0, cfg, &errs);
	hp3_config_errors_print(&errs, stderr);
	hp3_config_errors_free(&errs);
	if (ret < 0 || no_rails)
		return ret;
	hp3_config_name_ports(cfg, "hp3d");
	return hp3d_keyring_read(cfg, stderr);
}

/*
 * Verbs mode has one rail without ports, so that its flows have a rail's name. Applications report
 * their queue pairs and their ports, so no watcher and no flow state file is needed.
 */
static void settle_verbs_mode(struct hp3_config *cfg)
{
	if (!hp3_config_is_verbs_mode(cfg))
		return;
	cfg->n_rails = 1;
	strcpy(cfg->rails[0].name, HP3D_VERBS_RAIL);
	cfg->watch.verbs = HP3_WATCH_OFF;
	strcpy(cfg->control.moved, "off");
}

/* Until serve_until_signal(), the signals are blocked: threads inherit that (app/signals.h). */
static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	sigset_t set;

	hp3_main_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sa.sa_handler = on_hangup;
	sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
}

static void print_summary(unsigned away)
{
	uint64_t n = 0, moves = 0, recovered = 0, fruitless = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		for (unsigned r = 0; r < hp3d_rail_count(); r++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);
			const struct hp3_stats *s = hp3_engine_stats(hp3d_pipe_engine(p));

			if (!hp3d_rail_is_lead(r))
				continue;
			n += hp3d_pipe_counters(p)->packets_tx + hp3d_pipe_counters(p)->packets_rx;
			moves += s->moves_switched + s->moves_idle;
			recovered += s->moves_recovered;
			fruitless += s->searches_fruitless;
		}
	}
	fprintf(stderr,
		"hp3d: stopped: %llu packets, %llu moves, %llu recovered, %llu searches without a "
		"better path, %llu not sent, %u flows not brought home\n",
		(unsigned long long)n, (unsigned long long)moves, (unsigned long long)recovered,
		(unsigned long long)fruitless, (unsigned long long)hp3d_workers_tx_drops(), away);
}

static void report_change(void *arg, const struct hp3_config_change *c)
{
	const char *from = c->key->secret ? "(secret)" : c->from;
	const char *to = c->key->secret ? "(secret)" : c->to;

	fprintf(stderr, "hp3d: [%s] %s: %s -> %s%s\n", c->section, c->key->key,
		from != NULL ? from : "(none)", to != NULL ? to : "(none)",
		c->key->reloadable ? "" : ": needs a restart, unchanged");
}

static struct hp3_record_options record_options(const struct hp3_config *cfg)
{
	return (struct hp3_record_options){
		.audit = cfg->log.audit, .per_second = RECORDS_PER_SECOND};
}

/* A file with errors changes nothing, but the audit log is reopened in any case. */
static void reload_config(const struct options *o, struct hp3_config *running)
{
	struct hp3_config wanted;
	struct hp3_record_options record;
	bool taken;

	/* Reset this before the file is read: a later request may be for a newer version of the
	 * file. */
	reload_wanted = 0;
	taken = load_config(o, &wanted) >= 0;
	hp3d_service_reloading();
	if (taken) {
		settle_verbs_mode(&wanted);
		hp3d_mode_reload(&wanted);
		hp3_config_diff_reload(running, &wanted, report_change, NULL);
		hp3_config_apply_reload(running, &wanted);
		hp3d_secrets_keep(running);
		hp3d_keyring_take();
		if (hp3d_workers_reload(running))
			hp3d_keyring_settle();
		hp3d_mode_changed();
	}
	record = record_options(running);
	hp3_record_reopen(&record);
	hp3_record(HP3_RECORD_QUIET, "reload", json_pack("{s:b}", "taken", taken), "reload");
	fprintf(stderr, "hp3d: %s\n",
		taken ? "reloaded" : "reload refused, the configuration stays as it was");
	hp3d_service_reloaded();
}

static void poll_all(int timeout_ms)
{
	hp3d_control_poll(timeout_ms);
	hp3d_service_pulse();
}

static int serve_until_signal(const struct options *o, struct hp3_config *cfg)
{
	struct hp3_record_options record = record_options(cfg);
	unsigned away, used;
	sigset_t set;

	if (hp3d_ports_start(cfg) < 0)
		return EXIT_FAILED;
	if (hp3d_bypass_start(cfg) < 0 || hp3d_workers_start(cfg, hp3d_flow_state_begin) < 0) {
		hp3d_bypass_stop();
		hp3d_ports_stop();
		return EXIT_FAILED;
	}
	hp3d_bypass_wait();
	hp3d_mode_start(cfg);
	hp3d_telemetry_start(cfg);
	if (hp3_record_start(&record) < 0 || hp3d_keys_start(cfg) < 0 || hp3d_watch_start() < 0 ||
		hp3d_control_start(cfg) < 0 || hp3d_metrics_start(cfg) < 0)
		stop_signal = -1;
	else
		hp3d_service_start(cfg, hp3d_capabilities_needed(cfg));
	hp3d_carry_start();
	hp3_main_signals(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (stop_signal == 0) {
		poll_all(POLL_MS);
		hp3d_metrics_heartbeat();
		hp3d_bypass_watch(cfg);
		hp3d_links_watch(cfg);
		hp3d_silence_watch(cfg);
		hp3d_health_watch(cfg);
		hp3d_keys_watch(cfg);
		if (hp3_config_is_verbs_mode(cfg) && hp3d_service_is_ready())
			hp3d_verbs_watch(hp3d_worker_verbs_mode(hp3d_worker(0)), hp3d_now());
		if (reload_wanted)
			reload_config(o, cfg);
		hp3d_mode_poll();
	}
	hp3d_service_stopping();
	away = hp3d_workers_stop(cfg, poll_all);
	hp3d_keys_stop();
	hp3d_bypass_watch(cfg);
	hp3d_metrics_stop();
	hp3d_flow_state_end();
	hp3d_control_stop();
	hp3_record_stop();
	hp3d_links_end(cfg);
	hp3d_health_end();
	hp3d_bypass_stop();
	print_summary(away); /* hp3d's last line, after all events */
	hp3d_ports_stop();
	used = hp3d_workers_free();
	if (used > 0)
		fprintf(stderr, "hp3d: %u packet buffers were not given back\n", used);
	return stop_signal < 0 || used > 0 ? EXIT_FAILED : EXIT_OK;
}

/* The seed is secret, so that nobody can choose addresses that collide in a table. */
static int draw_hash_seed(struct hp3_config *cfg)
{
	uint64_t *seed = &cfg->engine.hash_seed;

	if (getrandom(seed, sizeof(*seed), 0) == (ssize_t)sizeof(*seed))
		return 0;
	fprintf(stderr, "hp3d: the kernel has no random numbers: %s\n", strerror(errno));
	return -1;
}

/* Checks come first, before DPDK takes memory and before a port is opened. */
static int run_daemon(const struct options *o, struct hp3_config *cfg)
{
	const char *file = o->config != NULL ? o->config : HP3_CONFIG_FILE;
	int ret = EXIT_FAILED;

	hp3d_secrets_mask();
	hp3d_secrets_keep(cfg);
	if (hp3_doctor_report(cfg, file, HP3_CHECK_START, stderr) > 0 || draw_hash_seed(cfg) < 0 ||
		hp3d_keys_open(cfg) < 0 || hp3d_control_reserve(cfg) < 0)
		return EXIT_FAILED;
	settle_verbs_mode(cfg);
	hp3d_keyring_take();
	if (hp3d_carry_begin(cfg) == 0 && hp3d_watch_begin(cfg) == 0) {
		catch_signals();
		if (hp3d_eal_init(cfg, cfg->eal.lcores, false) == 0)
			ret = serve_until_signal(o, cfg);
	}
	hp3d_carry_end();
	hp3d_watch_stop();
	hp3d_control_leave();
	hp3d_keyring_free();
	return ret;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct hp3_config cfg;
	int ret = parse_args(argc, argv, &o);

	if (ret >= 0)
		return ret;
	if (load_config(&o, &cfg) < 0)
		return EXIT_USAGE;
	if (o.check) {
		if (hp3_doctor_report(&cfg, o.config, HP3_CHECK_CONFIG, stderr) > 0)
			return EXIT_USAGE;
		printf("%s: ok\n", o.config);
		return EXIT_OK;
	}
	if (o.dump) {
		if (o.dump_all)
			hp3_config_dump(stdout, &cfg);
		else
			hp3_config_dump_short(stdout, &cfg);
		return EXIT_OK;
	}
	if (o.detach)
		return hp3d_bypass_detach(&cfg) < 0 ? EXIT_FAILED : EXIT_OK;
	if (o.replay.in == NULL)
		return run_daemon(&o, &cfg);
	if (hp3d_eal_init(&cfg, 0, true) < 0)
		return EXIT_FAILED;
	return hp3d_replay(&cfg, &o.replay) < 0 ? EXIT_FAILED : EXIT_OK;
}
