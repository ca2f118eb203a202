/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/service/service.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "app/clock.h"
#include "app/interface.h"
#include "config/devargs.h"

#define NOTE    "/run/hp3/down-%llu-%u" /* network namespace, interface index */
#define LOOK_MS 1000 /* in case a netlink message is lost */
#define NONE    (-1)
#define LINK_MS 30000 /* longest time from setting up an interface to its link */

struct rail {
	const char *name;
	unsigned index[2]; /* interfaces: rnic, net */
	int held; /* the side that this process has set down, or NONE */
	/* NICs need seconds to have a link after they were set up, as at the start of hp3d. Until
	 * then (ms), or until the side has a link, the other side stays up. */
	uint64_t trained_by[2];
	bool overruled; /* another process set it up again: wait for a link on both sides */
};

static const char *const sides[] = {"rnic", "net"};
static struct rail rails[HP3_CONFIG_RAILS_MAX];
static unsigned n_rails;
static int way = -1; /* pipe to the process */
static pid_t process;

/* 0: there is no such interface. */
static unsigned flags_of(unsigned index)
{
	struct ifreq ifr = {0};

	if (if_indextoname(index, ifr.ifr_name) == NULL ||
		hp3_interface_ioctl(SIOCGIFFLAGS, &ifr) < 0)
		return 0;
	return (unsigned short)ifr.ifr_flags;
}

static int set_up(unsigned index, bool up)
{
	struct ifreq ifr = {0};

	if (if_indextoname(index, ifr.ifr_name) == NULL ||
		hp3_interface_ioctl(SIOCGIFFLAGS, &ifr) < 0)
		return -1;
	ifr.ifr_flags = (short)(up ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP);
	return hp3_interface_ioctl(SIOCSIFFLAGS, &ifr);
}

static void note_of(unsigned index, char path[64])
{
	struct stat ns = {0};

	stat("/proc/self/ns/net", &ns);
	snprintf(path, 64, NOTE, (unsigned long long)ns.st_ino, index);
}

/* The file is written first and removed last: a superfluous file only sets up an interface that is
 * up. */
static void take_down(struct rail *r, int side)
{
	char note[64];
	int fd;

	note_of(r->index[side], note);
	fd = open(note, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
	if (set_up(r->index[side], false) < 0) {
		fprintf(stderr, "hp3d: [rail.%s] %s: cannot be set down: %s\n", r->name,
			sides[side], strerror(errno));
		unlink(note);
		r->overruled = true;
		return;
	}
	r->held = side;
	fprintf(stderr, "hp3d: [rail.%s] %s: set down, for as long as %s has no link\n", r->name,
		sides[side], sides[!side]);
}

static void let_go(struct rail *r)
{
	char note[64];
	int side = r->held;

	r->held = NONE;
	r->trained_by[side] = hp3_clock_ms() + LINK_MS;
	note_of(r->index[side], note);
	if (set_up(r->index[side], true) == 0)
		fprintf(stderr, "hp3d: [rail.%s] %s: set up again\n", r->name, sides[side]);
	unlink(note);
}

static bool is_lost(const struct rail *r, const bool runs[2], int side)
{
	return !runs[side] && runs[!side] && hp3_clock_ms() >= r->trained_by[side];
}

static void look_at(struct rail *r)
{
	unsigned flags[2] = {flags_of(r->index[0]), flags_of(r->index[1])};
	bool runs[2] = {flags[0] & IFF_RUNNING, flags[1] & IFF_RUNNING};

	for (int side = 0; side < 2; side++) {
		if (runs[side])
			r->trained_by[side] = 0;
	}
	if (r->held != NONE && runs[!r->held]) {
		let_go(r);
	} else if (r->held != NONE && (flags[r->held] & IFF_UP)) {
		r->overruled = true;
		let_go(r);
	} else if (r->held == NONE && !r->overruled &&
		   (is_lost(r, runs, 0) || is_lost(r, runs, 1))) {
		take_down(r, runs[0] ? 0 : 1);
	} else if (r->held == NONE && runs[0] && runs[1]) {
		r->overruled = false;
	}
}

static void keep_one_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	data[0].permitted = data[0].effective = 1u << CAP_NET_ADMIN;
	syscall(SYS_capset, &header, data);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* A netlink socket for link changes; -1: links are only polled. */
static int open_link_changes(void)
{
	struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&all, sizeof(all)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Closes all descriptors of hp3d (locks, sockets) but the pipe. */
static void serve_links(int fd)
{
	struct pollfd on[] = {{.fd = fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	bool begun = false;
	char text[4096];

	signal(SIGTERM, SIG_IGN); /* meant for hp3d */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "hp3d-carry");
	if (fd != STDERR_FILENO + 1) {
		dup2(fd, STDERR_FILENO + 1);
		on[0].fd = STDERR_FILENO + 1;
	}
	close_range(STDERR_FILENO + 2, ~0u, 0);
	keep_one_capability();
	on[1].fd = open_link_changes();
	for (;;) {
		poll(on, 2, LOOK_MS);
		while (on[1].fd >= 0 && recv(on[1].fd, text, sizeof(text), 0) > 0)
			;
		if (on[0].revents != 0) {
			if (read(on[0].fd, text, 1) != 1)
				break;
			begun = true;
			for (unsigned i = 0; i < n_rails; i++)
				rails[i].trained_by[0] = rails[i].trained_by[1] =
					hp3_clock_ms() + LINK_MS;
		}
		for (unsigned i = 0; begun && i < n_rails; i++)
			look_at(&rails[i]);
	}
	for (unsigned i = 0; i < n_rails; i++) {
		if (rails[i].held != NONE)
			let_go(&rails[i]);
	}
	_exit(0);
}

static unsigned interface_of(const char *devargs)
{
	char name[IF_NAMESIZE];

	return hp3_devargs_interface(devargs, name, sizeof(name)) ? if_nametoindex(name) : 0;
}

/* Sets up an interface that a killed process left down. */
static void restore_interface(const struct hp3_config_rail *r, const char *side, unsigned index)
{
	char note[64];

	note_of(index, note);
	if (index == 0 || access(note, F_OK) != 0)
		return;
	if (set_up(index, true) == 0)
		fprintf(stderr, "hp3d: [rail.%s] %s: set up again, after an hp3d that was killed\n",
			r->name, side);
	unlink(note);
}

static void find_rails(const struct hp3_config *cfg)
{
	n_rails = 0;
	for (uint32_t i = 0; i < cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &cfg->rails[i];
		struct rail *mine = &rails[n_rails];

		*mine = (struct rail){
			r->name, {interface_of(r->rnic), interface_of(r->net)}, NONE, {0}, false};
		restore_interface(r, sides[0], mine->index[0]);
		restore_interface(r, sides[1], mine->index[1]);
		if (cfg->bypass.carry_link && !mine->index[0] != !mine->index[1])
			fprintf(stderr,
				"hp3d: [rail.%s] %s: stays up if the other port has no link: only "
				"one of them is a kernel interface\n",
				r->name, sides[mine->index[1] != 0]);
		n_rails += mine->index[0] != 0 && mine->index[1] != 0;
	}
}

int hp3d_carry_begin(const struct hp3_config *cfg)
{
	int ends[2];

	find_rails(cfg);
	if (!cfg->bypass.carry_link || n_rails == 0)
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0 || (process = fork()) < 0) {
		fprintf(stderr, "hp3d: [bypass] carry_link: no process: %s\n", strerror(errno));
		return -1;
	}
	if (process == 0) {
		close(ends[1]);
		serve_links(ends[0]);
	}
	close(ends[0]);
	way = ends[1];
	return 0;
}

void hp3d_carry_start(void)
{
	if (way >= 0 && write(way, "", 1) != 1)
		fprintf(stderr, "hp3d: [bypass] carry_link: its process is gone\n");
}

void hp3d_carry_end(void)
{
	if (way < 0)
		return;
	close(way);
	way = -1;
	while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
		;
}
