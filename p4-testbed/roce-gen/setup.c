/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include "config/message.h"
#include "run.h"

static int watch_fd(int epoll, int fd, uint64_t tag)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : -errno;
}

static int open_signals(struct gen_run *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return r->signals < 0 ? -errno : watch_fd(r->epoll, r->signals, GEN_TAG_SIGNAL);
}

static int load_cdf(struct hp3_cdf *c, const char *path)
{
	FILE *f = fopen(path, "r");
	char err[512];
	int ret;

	if (f == NULL) {
		ret = -errno;
		hp3_message("roce-gen: %s: %s: check the path of --cdf", path, strerror(-ret));
		return ret;
	}
	ret = hp3_cdf_read(c, f, path, GEN_LEN_MAX, err, sizeof(err));
	fclose(f);
	if (ret != 0)
		hp3_message("roce-gen: %s", err);
	return ret;
}

static int load_params(struct gen_run *r)
{
	const struct gen_options *o = r->o;

	r->load = (struct gen_workload_params){
		.load = (enum gen_load)o->load,
		.size = (uint32_t)o->size,
		.depth = (uint32_t)o->depth,
		.ranks = (uint32_t)o->ranks,
		.messages = o->messages,
		.bps = o->load_mbps * 1000000,
		.gap_ns = o->gap_us * 1000,
		.seed = o->seed,
	};
	memcpy(r->load.weight, o->weight, sizeof(r->load.weight));
	if (o->cdf == NULL)
		return 0;
	r->load.cdf = &r->cdf;
	return load_cdf(&r->cdf, o->cdf);
}

int gen_run_setup(struct gen_run *r, uint64_t now)
{
	struct gen_endpoint_params params;
	int code = gen_options_endpoint(r->o, &params), ret;

	if (code >= 0)
		return code;
	ret = load_params(r);
	if (ret != 0)
		return GEN_EXIT_USAGE;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0 || open_signals(r) != 0)
		return GEN_EXIT_FAILED;
	if (gen_port_open(&r->port, r->o->interface, params.first_qpn) != 0)
		return GEN_EXIT_FAILED;
	if (r->port.mtu < r->o->mtu + 60) {
		hp3_message("roce-gen: --mtu %llu: packets of up to %llu bytes do not fit the MTU "
			    "%u of %s: raise it, or lower --mtu",
			(unsigned long long)r->o->mtu, (unsigned long long)r->o->mtu + 60,
			r->port.mtu, r->o->interface);
		return GEN_EXIT_FAILED;
	}
	ret = gen_endpoint_init(&r->ep, &params, now);
	if (ret == 0)
		ret = watch_fd(r->epoll, r->port.fd, GEN_TAG_PORT);
	if (ret != 0) {
		hp3_message("roce-gen: %s: lower --qps", strerror(-ret));
		return GEN_EXIT_FAILED;
	}
	if (gen_report_open(&r->report, r->o, &r->ep, &r->w) != 0 ||
		gen_control_open(&r->control, r->o, &r->ep, &r->port, r->epoll, now) != 0)
		return GEN_EXIT_FAILED;
	r->phase = SETUP;
	r->phase_end = now + r->o->setup_ms * GEN_NS_PER_MS;
	return -1;
}

void gen_run_teardown(struct gen_run *r)
{
	if (r->control.o != NULL)
		gen_control_close(&r->control);
	gen_report_close(&r->report);
	gen_workload_free(&r->w);
	gen_endpoint_free(&r->ep);
	gen_port_close(&r->port);
	if (r->signals >= 0)
		close(r->signals);
	if (r->epoll >= 0)
		close(r->epoll);
}
