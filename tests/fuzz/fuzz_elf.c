/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any file as a shared library in which a function is looked up. The look-up reads
 * nothing beyond the end of the file, ends even if a chain in the file is circular, and returns
 * an address inside the file. Input that is not an ELF file is a list of changes to a valid ELF
 * file: position (two bytes), value, and so on.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include "../unit/elf_file.h"
#include "app/watch/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHANGES_MAX 8u
#define CHANGE      3u /* bytes */
#define ROOM        16384u
#define SYMBOLS_MAX 3u

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static void too_long(int sig)
{
	abort();
}

/* The end of what may be read: the page behind it is nobody's. */
static uint8_t *readable_end(void)
{
	static uint8_t *end;

	if (end == NULL) {
		uint8_t *p = mmap(NULL, ROOM + (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		MUST(p != MAP_FAILED);
		end = p + ROOM;
		MUST(mprotect(end, (size_t)getpagesize(), PROT_NONE) == 0);
		signal(SIGPROF, too_long);
	}
	return end;
}

static void change(struct elf_file *f, const uint8_t *data, size_t size)
{
	/* The code is of no interest. */
	const size_t span = offsetof(struct elf_file, code);

	elf_file(f);
	for (size_t i = 0; i < CHANGES_MAX && (i + 1) * CHANGE <= size; i++) {
		const uint8_t *c = data + i * CHANGE;

		((uint8_t *)f)[(c[0] << 8 | c[1]) % span] = c[2];
	}
}

static void look_up(const uint8_t *file, size_t size)
{
	struct itimerval limit = {.it_value.tv_sec = 1}, none = {0};
	struct hp3_elf_symbol s[SYMBOLS_MAX];
	uint8_t *at = readable_end() - size;
	int n;

	memcpy(at, file, size);
	setitimer(ITIMER_PROF, &limit, NULL);
	n = hp3_elf_symbols(at, size, "f", s, SYMBOLS_MAX);
	setitimer(ITIMER_PROF, &none, NULL);
	MUST(n <= (int)SYMBOLS_MAX);
	for (int i = 0; i < n; i++) {
		MUST(s[i].offset < size);
		MUST(memchr(s[i].version, '\0', sizeof(s[i].version)) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file f;

	if (size >= SELFMAG && size <= ROOM && memcmp(data, ELFMAG, SELFMAG) == 0) {
		look_up(data, size);
		return 0;
	}
	change(&f, data, size);
	look_up((const uint8_t *)&f, sizeof(f));
	/* Cut off, too: by what is left of the input. */
	if (size > CHANGES_MAX * CHANGE + 2)
		look_up((const uint8_t *)&f,
			(size_t)(data[CHANGES_MAX * CHANGE] << 8 | data[CHANGES_MAX * CHANGE + 1]) %
				sizeof(f));
	return 0;
}
