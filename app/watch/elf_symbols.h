/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_ELF_SYMBOLS_H
#define HP3_WATCH_ELF_SYMBOLS_H
/*
 * Where the functions of a shared library begin, version by version. A name alone is ambiguous:
 * libibverbs exports ibv_modify_qp twice, @IBVERBS_1.0 and @@IBVERBS_1.1.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3_elf_symbol {
	uint64_t offset; /* in the file: what a uprobe takes */
	char version[32]; /* such as IBVERBS_1.1; empty: none */
	bool latest; /* what programs that are linked today get (@@), or there are no versions */
};

/* All versions of a function in path's dynamic symbol table, up to max. Returns how many;
 * -ENOEXEC if the file is no ELF file, or why it cannot be read. */
int hp3_elf_symbols(const char *path, const char *name, struct hp3_elf_symbol *out, unsigned max);

#endif
