/* SPDX-License-Identifier: BSD-3-Clause */
#include "elf_file.h"
#include <string.h>

enum { SYMBOLS = 1, VERSIONS, DEFINITIONS, NAMES, SECTIONS };

enum name { NAME_NONE = 0, NAME_F = 1, NAME_G = 3, NAME_FILE = 5, NAME_OLD = 10, NAME_NEW = 14 };

static const char names[] = "\0f\0g\0file\0OLD\0NEW";

#define PART(member) .sh_offset = offsetof(struct elf_file, member), .sh_size = sizeof(f->member)

static Elf64_Sym function(enum name name, unsigned behind)
{
	return (Elf64_Sym){.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = ELF_FILE_CODE + behind};
}

void elf_file(struct elf_file *f)
{
	static const enum name versions[] = {NAME_FILE, NAME_OLD, NAME_NEW};

	memset(f, 0, sizeof(*f));
	f->h = (Elf64_Ehdr){.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct elf_file, segment),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = offsetof(struct elf_file, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS};
	memcpy(f->h.e_ident, ELFMAG, SELFMAG);
	f->h.e_ident[EI_CLASS] = ELFCLASS64;
	f->h.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	f->segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof(*f)};
	f->symbols[1] = function(NAME_G, 0);
	f->symbols[2] = function(NAME_F, 16);
	f->symbols[3] = function(NAME_F, 32);
	f->versions[1] = f->versions[3] = 3;
	f->versions[2] = 0x8000 | 2;
	for (unsigned i = 0; i < 3; i++) {
		f->definitions[i].def = (Elf64_Verdef){.vd_ndx = (Elf64_Half)(i + 1),
			.vd_aux = sizeof(Elf64_Verdef),
			.vd_next = i < 2 ? sizeof(f->definitions[0]) : 0};
		f->definitions[i].aux.vda_name = versions[i];
	}
	memcpy(f->names, names, sizeof(names));
	f->sections[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_DYNSYM, PART(symbols), .sh_link = NAMES};
	f->sections[VERSIONS] = (Elf64_Shdr){.sh_type = SHT_GNU_versym, PART(versions)};
	f->sections[DEFINITIONS] =
		(Elf64_Shdr){.sh_type = SHT_GNU_verdef, PART(definitions), .sh_link = NAMES};
	f->sections[NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB, PART(names)};
}
