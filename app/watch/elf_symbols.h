/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_ELF_SYMBOLS_H
#define HP3_WATCH_ELF_SYMBOLS_H
/*
 * Where the functions of a shared library begin, version by version. A name alone is ambiguous:
 * libibverbs exports ibv_modify_qp twice, @IBVERBS_1.0 and @@IBVERBS_1.1.
 *
 * Pure, and nothing in the file is believed: it reads inside `size` bytes only, and its time is
 * bounded by them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp3_elf_symbol {
	uint64_t offset; /* in the file: what a uprobe takes */
	char version[32]; /* such as IBVERBS_1.1; empty: none */
	bool latest; /* what programs that are linked today get (@@), or there are no versions */
};

/* All versions of a function in the dynamic symbol table of a file, up to max. Returns how many;
 * -ENOEXEC if it is no 64-bit ELF file of this machine's byte order. */
int hp3_elf_symbols(
	const void *file, size_t size, const char *name, struct hp3_elf_symbol *out, unsigned max);

#endif
