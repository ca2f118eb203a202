/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A file whose code uprobes patch in memory, in every process that runs it. A path may name another
 * file a moment later. So the watcher resolves the path once, and uses only the descriptor for all
 * later steps. The watcher opens only regular files, because a FIFO would block, and opening a
 * device has effects.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_FILE_BYTES_MAX (64u << 20)

struct hp3_file {
	int fd;
	char path[32]; /* /proc path of the descriptor: always this file, in this process */
};

/* A file as /proc/PID/maps shows it. */
struct hp3_mapped {
	unsigned major, minor;
	uint64_t inode;
};

/*
 * Opens a file named by the operator; follows symbolic links. The file must be regular, have at
 * most HP3_FILE_BYTES_MAX bytes, and not be on FUSE. It must belong to root, and must not be
 * writable by others. Returns 0 or a negative errno. -ELIBACC: the file violates a condition, which
 * *why names.
 */
int hp3_file_open(const char *path, struct hp3_file *f, const char **why);

/*
 * As hp3_file_open(), for a path below `root`, the root directory of another process. The file must
 * be the one that the other process has mapped. Follows no symbolic links, because paths in
 * /proc/PID/maps contain none.
 */
int hp3_file_open_mapped(const char *root, const char *path, const struct hp3_mapped *m,
	struct hp3_file *f, const char **why);

void hp3_file_close(struct hp3_file *f);

/* Parses one line of /proc/PID/maps. False: the line is not of a mapped file. *path points into the
 * line. */
bool hp3_file_maps_line(char *line, struct hp3_mapped *m, char **path);

/*
 * Offsets of the functions of a shared library, for each symbol version. A name alone is ambiguous:
 * libibverbs exports ibv_modify_qp twice, @IBVERBS_1.0 and @@IBVERBS_1.1.
 *
 * Pure. The file is untrusted, so reads stay within its `size` bytes. `size` also bounds the time.
 */
struct hp3_elf_symbol {
	uint64_t offset; /* offset in the file, as a uprobe needs it */
	char version[32]; /* such as IBVERBS_1.1; empty: none */
	/* the default version (@@) for programs linked today, or there are no versions */
	bool latest;
};

/*
 * Writes all versions of a function in the dynamic symbol table of a file to `out`, at most `max`.
 * Returns their number; -ENOEXEC: not a 64-bit ELF file of this machine's byte order.
 */
int hp3_elf_symbols(
	const void *file, size_t size, const char *name, struct hp3_elf_symbol *out, unsigned max);
