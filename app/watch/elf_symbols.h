/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_ELF_SYMBOLS_H
#define HP3_WATCH_ELF_SYMBOLS_H
/*
 * Offsets of the functions of a shared library, for each symbol version. A name alone is ambiguous:
 * libibverbs exports ibv_modify_qp twice, @IBVERBS_1.0 and @@IBVERBS_1.1.
 *
 * Pure. The file is untrusted: reads stay within its `size` bytes, which also bound the time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp3_elf_symbol {
	uint64_t offset; /* offset in the file, as a uprobe needs it */
	char version[32]; /* such as IBVERBS_1.1; empty: none */
	bool latest; /* the default version (@@) for programs linked today, or there are no versions
		      */
};

/*
 * Writes all versions of a function in the dynamic symbol table of a file to `out`, at most `max`.
 * Returns their number; -ENOEXEC: not a 64-bit ELF file of this machine's byte order.
 */
int hp3_elf_symbols(
	const void *file, size_t size, const char *name, struct hp3_elf_symbol *out, unsigned max);

#endif
