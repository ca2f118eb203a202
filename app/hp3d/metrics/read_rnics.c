/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RNICs of this host, from class/infiniband in sysfs: DEVICE/ports/PORT/state and
 * DEVICE/ports/PORT/hw_counters/NAME. A missing device or file has no series.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"
#include "app/one_line.h"

#define PATH_MAX_LEN 1024
#define PORT_ACTIVE  "4:" /* IB_PORT_ACTIVE; the file says "4: ACTIVE" */

typedef void entry_fn(struct hp3d_page *page, const char *path, const struct hp3d_labels *at);

/* Calls fn for each entry of a directory with its path; *label is its name during the call. */
static void each_entry(struct hp3d_page *page, const char *dir, struct hp3d_labels *at,
	unsigned label, entry_fn *fn)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);
	char path[PATH_MAX_LEN];

	for (int i = 0; i < n; i++) {
		at->value[label] = names[i]->d_name;
		if (names[i]->d_name[0] != '.' && (size_t)snprintf(path, sizeof(path), "%s/%s", dir,
							  names[i]->d_name) < sizeof(path))
			fn(page, path, at);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static void put_port(struct hp3d_page *page, const char *path, const struct hp3d_labels *at)
{
	char file[PATH_MAX_LEN + 16], line[64];

	snprintf(file, sizeof(file), "%s/state", path);
	if (hp3_read_line(file, line, sizeof(line)) == 0)
		hp3d_page_count(page, *at, strncmp(line, PORT_ACTIVE, 2) == 0);
}

/* The file lifespan is no counter, but a maximum age of counters. */
static void put_counter(struct hp3d_page *page, const char *path, const struct hp3d_labels *at)
{
	char line[64];
	uint64_t value;

	if (strcmp(at->value[2], "lifespan") != 0 && hp3_read_line(path, line, sizeof(line)) == 0 &&
		sscanf(line, "%" SCNu64, &value) == 1)
		hp3d_page_count(page, *at, value);
}

static void put_counters(struct hp3d_page *page, const char *path, const struct hp3d_labels *at)
{
	struct hp3d_labels inner = *at;
	char dir[PATH_MAX_LEN + 16];

	snprintf(dir, sizeof(dir), "%s/hw_counters", path);
	each_entry(page, dir, &inner, 2, put_counter);
}

static void each_port(
	struct hp3d_page *page, const char *path, const struct hp3d_labels *at, entry_fn *fn)
{
	struct hp3d_labels inner = *at;
	char dir[PATH_MAX_LEN + 16];

	snprintf(dir, sizeof(dir), "%s/ports", path);
	each_entry(page, dir, &inner, 1, fn);
}

static void ports_of_device(struct hp3d_page *page, const char *path, const struct hp3d_labels *at)
{
	each_port(page, path, at, put_port);
}

static void counters_of_device(
	struct hp3d_page *page, const char *path, const struct hp3d_labels *at)
{
	each_port(page, path, at, put_counters);
}

static void each_device(struct hp3d_page *page, const struct hp3d_source *from, entry_fn *fn)
{
	struct hp3d_labels at = {{NULL}};
	char dir[PATH_MAX_LEN];

	snprintf(dir, sizeof(dir), "%s/class/infiniband", from->cfg->metrics.sysfs);
	each_entry(page, dir, &at, 0, fn);
}

void hp3d_read_rnic_ports(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_device(page, from, ports_of_device);
}

void hp3d_read_rnic_counters(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	each_device(page, from, counters_of_device);
}
