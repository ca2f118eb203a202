/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/port_news.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_NS  100000000u
#define FRESH_NS (2u * READ_NS)
#define NONE     UINT8_MAX
#define PORTS    4u /* per device, at most */

/* By driver: mlx5 and newer bnxt_re; older bnxt_re. */
static const char *const names[] = {"rp_cnp_handled", "rx_cnp_pkts"};

static bool read_count(int fd, uint64_t *count)
{
	char text[32], *end;
	ssize_t got = pread(fd, text, sizeof(text) - 1u, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	*count = strtoull(text, &end, 10);
	return end != text;
}

static int open_counter(const char *sysfs, const char *device, unsigned port)
{
	char path[PATH_MAX];
	int fd = -1;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u/hw_counters/%s",
			sysfs, device, port, names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	return fd;
}

static void add_port(struct hp3d_port_news *n, const char *sysfs, const char *device, unsigned port)
{
	int fd;

	if (n->n == HP3D_PORT_NEWS_MAX || strlen(device) >= sizeof(n->ports[0].device))
		return;
	fd = open_counter(sysfs, device, port);
	if (fd < 0)
		return;
	if (!read_count(fd, &n->ports[n->n].cnps)) {
		close(fd);
		return;
	}
	strcpy(n->ports[n->n].device, device);
	n->ports[n->n].number = port;
	n->ports[n->n++].fd = fd;
}

void hp3d_port_news_open(struct hp3d_port_news *n, const char *sysfs)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	memset(n, 0, sizeof(*n));
	snprintf(path, sizeof(path), "%s/class/infiniband", sysfs);
	d = opendir(path);
	if (d == NULL)
		return; /* no RNIC */
	while ((e = readdir(d)) != NULL)
		for (unsigned port = 1; e->d_name[0] != '.' && port <= PORTS; port++)
			add_port(n, sysfs, e->d_name, port);
	closedir(d);
}

void hp3d_port_news_close(struct hp3d_port_news *n)
{
	while (n->n > 0)
		close(n->ports[--n->n].fd);
}

void hp3d_port_news_read(struct hp3d_port_news *n, uint64_t now)
{
	uint64_t count;

	if (n->n == 0 || now - n->read_at < READ_NS)
		return;
	n->read_at = now;
	for (uint32_t i = 0; i < n->n; i++) {
		if (!read_count(n->ports[i].fd, &count) || count == n->ports[i].cnps)
			continue;
		if (count > n->ports[i].cnps) { /* smaller: the counter was reset */
			__atomic_store_n(&n->ports[i].cnps_at, now, __ATOMIC_RELAXED);
			__atomic_store_n(&n->newest, now, __ATOMIC_RELAXED);
		}
		n->ports[i].cnps = count;
	}
}

static bool is_fresh(const uint64_t *at, uint64_t now)
{
	uint64_t t = __atomic_load_n(at, __ATOMIC_RELAXED);

	return t != 0 && (t > now || now - t < FRESH_NS);
}

static uint8_t find_port(const struct hp3d_port_news *n, const char *device, unsigned port)
{
	for (uint32_t i = 0; i < n->n; i++)
		if (n->ports[i].number == port &&
			strncmp(n->ports[i].device, device, sizeof(n->ports[i].device)) == 0)
			return (uint8_t)(i + 1u);
	return NONE;
}

bool hp3d_port_news_cnps(const struct hp3d_port_news *n, const char *device, unsigned port,
	uint8_t *known, uint64_t now)
{
	if (!is_fresh(&n->newest, now))
		return false;
	if (*known == HP3D_PORT_UNKNOWN)
		*known = find_port(n, device, port);
	return *known != NONE && is_fresh(&n->ports[*known - 1u].cnps_at, now);
}
