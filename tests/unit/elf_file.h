/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* A minimal shared library: it has only the parts that a symbol look-up reads. Its symbols are two
 * versions of f, and g. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_CODE 0x2000u /* address of g; the two f are 16 and 32 bytes after g */

struct elf_file {
	Elf64_Ehdr h;
	Elf64_Phdr segment; /* address 0x1000: offset 0 */
	Elf64_Sym symbols[4]; /* none, g@@NEW, f@OLD, f@@NEW */
	Elf64_Versym versions[4];
	struct {
		Elf64_Verdef def;
		Elf64_Verdaux aux;
	} definitions[3]; /* of the file, OLD, NEW */
	char names[32];
	Elf64_Shdr sections[5]; /* none, symbols, versions, definitions, names */
	uint8_t code[0x1100];
};

void elf_file(struct elf_file *f);
