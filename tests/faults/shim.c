/* SPDX-License-Identifier: BSD-3-Clause */
#include "numbers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <jansson.h>

struct call {
	const char *name;
	long value;
	int err;
};

static const struct call calls[] = {
#define X(name, value, err) {#name, value, err},
#define H                   X
#include CALLS
#undef X
#undef H
};

_Static_assert(NUMBERS <= HP3_FAULT_CALLS, "numbers");

static struct hp3_fault_page own = {.fails = HP3_FAULT_CALLS}, *page = &own;
extern const char __executable_start;

/* --- which call fails --- */

int hp3_fault(unsigned number, uintptr_t back)
{
	uint32_t n = __atomic_add_fetch(&page->count[number], 1, __ATOMIC_RELAXED);

	if (__atomic_load_n(&page->fails, __ATOMIC_ACQUIRE) != number || n < page->first ||
		n > page->last)
		return 0;
	if (__atomic_fetch_add(&page->hits, 1, __ATOMIC_RELAXED) == 0)
		page->by = back - (uintptr_t)&__executable_start;
	return 1;
}

__attribute__((weak)) void hp3_fault_reported(int err)
{
}

long hp3_fault_answer(unsigned number)
{
	errno = calls[number].err;
	hp3_fault_reported(errno);
	return calls[number].value;
}

static void map_page(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "HP3_FAULT_PAGE = %s: %s\n", path, strerror(errno));
		_exit(2);
	}
	close(fd);
	page = p;
	page->calls = NUMBERS;
	for (unsigned i = 0; i < NUMBERS; i++)
		snprintf(page->name[i], HP3_FAULT_NAME, "%s", calls[i].name);
}

static void choose(const char *text)
{
	const char *colon = strchr(text, ':');
	char *end;

	for (unsigned i = 0; colon != NULL && i < NUMBERS; i++) {
		if (strlen(calls[i].name) != (size_t)(colon - text) ||
			strncmp(calls[i].name, text, (size_t)(colon - text)) != 0)
			continue;
		page->first = (uint32_t)strtoul(colon + 1, &end, 10);
		page->last = *end == '+' ? UINT32_MAX : page->first;
		page->fails = i;
		return;
	}
	fprintf(stderr, "HP3_FAULT = %s: no such call\n", text);
	_exit(2);
}

void *__real_malloc(size_t size);

static void *json_get(size_t size)
{
	if (hp3_fault(NUMBER_json, (uintptr_t)__builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_malloc(size);
}

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("HP3_FAULT_PAGE"), *what = getenv("HP3_FAULT");

	if (file != NULL)
		map_page(file);
	if (what != NULL)
		choose(what);
	json_set_alloc_funcs(json_get, free);
}

int64_t hp3_fault_wall(void)
{
	return page->wall_s;
}
