/* SPDX-License-Identifier: BSD-3-Clause */
/* Files below the root of a host. */
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/doctor/internal.h"
#include "app/one_line.h"

static void path_of(const struct hp3_host *h, char path[PATH_MAX], const char *fmt, va_list ap)
{
	int n = snprintf(path, PATH_MAX, "%s", h->root);

	if (n >= 0 && n < PATH_MAX)
		vsnprintf(path + n, (size_t)(PATH_MAX - n), fmt, ap);
}

bool hp3_host_line(const struct hp3_host *h, char *buf, size_t cap, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	path_of(h, path, fmt, ap);
	va_end(ap);
	return hp3_read_line(path, buf, cap) == 0;
}

long long hp3_host_number(const struct hp3_host *h, long long none, const char *fmt, ...)
{
	char path[PATH_MAX], text[64], *end;
	long long n;
	va_list ap;

	va_start(ap, fmt);
	path_of(h, path, fmt, ap);
	va_end(ap);
	if (hp3_read_line(path, text, sizeof(text)) < 0)
		return none;
	n = strtoll(text, &end, 0);
	return end == text ? none : n;
}

bool hp3_host_exists(const struct hp3_host *h, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	path_of(h, path, fmt, ap);
	va_end(ap);
	return access(path, F_OK) == 0;
}

bool hp3_host_writable(const struct hp3_host *h, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", h->root, path);
	return access(whole, W_OK) == 0;
}

bool hp3_host_link(const struct hp3_host *h, char *buf, size_t cap, const char *fmt, ...)
{
	char path[PATH_MAX], target[PATH_MAX], *last;
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	path_of(h, path, fmt, ap);
	va_end(ap);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(buf, cap, "%s", last != NULL ? last + 1 : target);
	return true;
}

bool hp3_host_field(
	const struct hp3_host *h, const char *path, const char *key, char *buf, size_t cap)
{
	char whole[PATH_MAX], line[4096];
	size_t n = strlen(key);
	bool found = false;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", h->root, path);
	f = fopen(whole, "re");
	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		found = strncmp(line, key, n) == 0;
		if (found) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(buf, cap, "%s", line + n + strspn(line + n, " \t:"));
		}
	}
	fclose(f);
	return found;
}

void hp3_host_each(const struct hp3_host *h, const char *dir,
	void (*fn)(void *arg, const char *name), void *arg)
{
	char path[PATH_MAX];
	struct dirent **list;
	int n;

	snprintf(path, sizeof(path), "%s%s", h->root, dir);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.')
			fn(arg, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

struct pci_walk {
	const struct hp3_host *h;
	void (*fn)(void *arg, const char *name);
	void *arg;
};

static void take_interface_of_pci(void *arg, const char *name)
{
	const struct pci_walk *w = arg;
	char port[32] = "";

	hp3_host_line(w->h, port, sizeof(port), "/sys/class/net/%s/phys_port_name", name);
	if (strstr(port, "pf") == NULL)
		w->fn(w->arg, name);
}

void hp3_each_interface_of_pci(const struct hp3_host *h, const char *address,
	void (*fn)(void *arg, const char *name), void *arg)
{
	struct pci_walk w = {.h = h, .fn = fn, .arg = arg};
	char dir[64];

	snprintf(dir, sizeof(dir), "/sys/bus/pci/devices/%s/net", address);
	hp3_host_each(h, dir, take_interface_of_pci, &w);
}
