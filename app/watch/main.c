/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-watch: the watchers as a program; prints one JSON line per event. */
#include <arpa/inet.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include "app/watch/internal.h"
#include "app/watch/watch.h"

enum exit_code { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

static const char usage_text[] =
	"usage: hp3-watch [--verbs auto|kernel|library] [--library PATH[,PATH...]] [--discover]\n"
	"\n"
	"Prints the set-up and the end of each RC queue pair over RoCEv2 on this host as a JSON\n"
	"line, until a signal ends it. Needs root, or CAP_BPF, CAP_PERFMON and mostly\n"
	"CAP_SYS_ADMIN (--discover: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, too).\n"
	"\n"
	"  -v, --verbs WHICH     kernel: ib_core, all processes; library: libibverbs, by uprobe;\n"
	"                        auto (default): the first of them that is available\n"
	"  -l, --library PATHS   copies of libibverbs to watch (default: the loader's choice)\n"
	"  -d, --discover        search processes that use RDMA for other copies, watch them, "
	"too\n"
	"      --sysfs DIR       where GID tables are read (default /sys)\n"
	"      --dev DIR         where infiniband/uverbsN are (default /dev)\n"
	"      --report FD       for hp3d, which started it: sends events to this socket, "
	"not\n"
	"                        on standard output\n"
	"  -V, --version         print the version\n"
	"  -h, --help            print this\n"
	"\n"
	"Exit codes: 0 ended by a signal, 1 nothing to watch with, 2 usage.\n";

enum { OPT_SYSFS = 256, OPT_DEV, OPT_REPORT };

static volatile sig_atomic_t stop_signal;

static void on_signal(int sig)
{
	stop_signal = sig;
}

static void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(j);
}

static void put_event(void *ctx, const struct hp3_watch_event *event)
{
	const struct hp3_qp_event *qp = &event->qp;
	int family = qp->ipv6 ? AF_INET6 : AF_INET;
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

	inet_ntop(family, qp->local, local, sizeof(local));
	inet_ntop(family, qp->remote, remote, sizeof(remote));
	print_json(json_pack(
		"{s:i, s:s, s:I, s:i, s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:o, s:i, s:i}", "v", 1,
		"event", qp->kind == HP3_QP_UP ? "up" : "down", "t_ns", (json_int_t)event->time_ns,
		"pid", (int)event->pid, "device", event->device, "port", (int)event->port, "local",
		local, "remote", remote, "vlan", (int)qp->vlan, "lqpn", (int)qp->lqpn, "rqpn",
		(int)qp->rqpn, "psn", qp->psn_known ? json_integer(qp->psn) : json_null(), "rq_psn",
		(int)event->rq_psn, "mtu", (int)event->mtu));
}

static void put_notice(void *ctx, const char *text)
{
	fprintf(stderr, "hp3-watch: %s\n", text);
}

static int fail_usage(const char *what)
{
	fprintf(stderr, "hp3-watch: %s; try hp3-watch --help\n", what);
	return EXIT_USAGE;
}

/* -1: go on. */
static int parse_args(int argc, char **argv, struct hp3_watch_options *o, int *report)
{
	static const struct option longs[] = {
		{"verbs", required_argument, NULL, 'v'},
		{"library", required_argument, NULL, 'l'},
		{"discover", no_argument, NULL, 'd'},
		{"sysfs", required_argument, NULL, OPT_SYSFS},
		{"dev", required_argument, NULL, OPT_DEV},
		{"report", required_argument, NULL, OPT_REPORT},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "v:l:dVh", longs, NULL)) != -1) {
		switch (c) {
		case 'v':
			for (o->verbs = 0; o->verbs < HP3_WATCH_OFF; o->verbs++) {
				if (strcmp(optarg, hp3_watch_verbs_names[o->verbs]) == 0)
					break;
			}
			if (o->verbs == HP3_WATCH_OFF)
				return fail_usage("--verbs takes auto, kernel or library");
			break;
		case 'l':
			o->libraries = optarg;
			break;
		case 'd':
			o->discover = true;
			break;
		case OPT_SYSFS:
			o->sysfs = optarg;
			break;
		case OPT_DEV:
			o->dev = optarg;
			break;
		case OPT_REPORT:
			*report = (int)strtol(optarg, NULL, 10);
			if (*report <= STDERR_FILENO)
				return fail_usage("--report takes a socket's number");
			break;
		case 'V':
			puts("hp3-watch " HP3_VERSION);
			return EXIT_OK;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_OK;
		default:
			fputs("try hp3-watch --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	return optind < argc ? fail_usage("unexpected argument") : -1;
}

/* Runs in its own session: only hp3d handles a terminal's interrupt. */
static int report_to(int socket, const struct hp3_watch_options *o)
{
	setsid();
	hp3_confine_limits();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return hp3_keep(socket, o) < 0 ? EXIT_FAILED : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct hp3_watch_options o = {.event = put_event, .notice = put_notice};
	struct sigaction sa = {.sa_handler = on_signal};
	struct hp3_watch *w = NULL;
	int report = -1, ret = parse_args(argc, argv, &o, &report);

	if (ret >= 0)
		return ret;
	ret = hp3_confine(&o);
	if (ret == 0 && report >= 0)
		return report_to(report, &o);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (ret == 0)
		ret = hp3_watch_open(&o, &w);
	if (ret < 0) {
		fprintf(stderr, "hp3-watch: cannot watch: %s\n", strerror(-ret));
		return EXIT_FAILED;
	}
	if (hp3_watch_fd(w) < 0 || hp3_confine_more(&o) < 0) {
		fprintf(stderr, "hp3-watch: no watcher remains\n");
		hp3_watch_close(w);
		return EXIT_FAILED;
	}
	print_json(json_pack("{s:i, s:s, s:s}", "v", 1, "event", "ready", "by",
		hp3_watch_by_name(hp3_watch_by(w))));
	while (stop_signal == 0 && !ferror(stdout)) {
		struct pollfd p = {.fd = hp3_watch_fd(w), .events = POLLIN};

		if (poll(&p, 1, -1) > 0)
			hp3_watch_poll(w);
	}
	hp3_watch_close(w);
	return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
}
