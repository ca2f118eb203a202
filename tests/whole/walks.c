/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records which functions hp3d enters, for walks.py. All files that docs/internals/walks.md names
 * are compiled with -finstrument-functions, and linked to the module together with this file.
 *
 * HP3_WALKS=DIR: DIR/functions has one line for each recorded function: its address in the module
 * (hexadecimal) and its number (1 to 255). Each process writes one byte for each entry to
 * a file of its own in DIR, as a mapping of memory. So a killed process loses nothing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/pass/burst.h"

#define CODE_MOST (8u << 20) /* bytes of code */
#define LOG_MOST  (64u << 20)
#define RAW       __attribute__((no_instrument_function))

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static unsigned char numbers[CODE_MOST];
static unsigned char *entries;
static size_t n_entries;

/* The loops over bursts exist once per instruction set: this one is instrumented. */
const struct hp3_isa *__wrap_hp3_isa_best(void) RAW;
const struct hp3_isa *__wrap_hp3_isa_best(void)
{
	return &hp3_isa_base;
}

RAW void __cyg_profile_func_enter(void *function, void *caller);
RAW void __cyg_profile_func_exit(void *function, void *caller);

/* stdio would allocate memory that the world takes for hp3d's. */
static RAW int load_numbers(const char *dir)
{
	static char text[64 * 1024];
	char path[256], *at = text, *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/functions", dir);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0 || (size_t)len == sizeof(text) - 1)
		return -1;
	syscall(SYS_close, fd);
	for (; *at != '\0'; at = end) {
		unsigned long address = strtoul(at, &end, 16), number = strtoul(end, &end, 10);

		if (address >= CODE_MOST || number == 0 || number > 255)
			return -1;
		numbers[address] = (unsigned char)number;
		end += *end == '\n';
	}
	return 0;
}

static RAW __attribute__((constructor)) void open_log(void)
{
	static const int most = 1000;
	const char *dir = getenv("HP3_WALKS");
	char path[256];
	int fd = -1;

	if (dir == NULL || load_numbers(dir) < 0)
		abort();
	for (int i = 0; i < most && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/%03d", dir, i);
		fd = (int)syscall(
			SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (fd < 0 || ftruncate(fd, LOG_MOST) < 0)
		abort();
	entries = mmap(NULL, LOG_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (entries == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
}

static RAW __attribute__((destructor)) void close_log(void)
{
	munmap(entries, LOG_MOST);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	size_t address = (size_t)((const char *)function - __ehdr_start);

	(void)caller;
	if (address < CODE_MOST && numbers[address] != 0 && n_entries < LOG_MOST)
		entries[n_entries++] = numbers[address];
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
