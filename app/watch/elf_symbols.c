/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/elf_symbols.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN 0x8000 /* of a versym: not the default version */

struct file {
	Elf *elf;
	Elf_Data *symbols, *versions, *definitions; /* .dynsym, .gnu.version, .gnu.version_d */
	size_t n_symbols, symbol_names, definition_names; /* names: sections of strings */
};

static void find_sections(struct file *f)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(f->elf, s)) != NULL) {
		GElf_Shdr h;

		if (gelf_getshdr(s, &h) == NULL)
			continue;
		switch (h.sh_type) {
		case SHT_DYNSYM:
			f->symbols = elf_getdata(s, NULL);
			f->n_symbols = h.sh_entsize > 0 ? h.sh_size / h.sh_entsize : 0;
			f->symbol_names = h.sh_link;
			break;
		case SHT_GNU_versym:
			f->versions = elf_getdata(s, NULL);
			break;
		case SHT_GNU_verdef:
			f->definitions = elf_getdata(s, NULL);
			f->definition_names = h.sh_link;
			break;
		default:
			break;
		}
	}
}

static const char *version_name(const struct file *f, size_t symbol)
{
	GElf_Versym v;
	GElf_Verdef def;
	GElf_Verdaux aux;
	int at = 0;

	if (f->versions == NULL || f->definitions == NULL ||
		gelf_getversym(f->versions, (int)symbol, &v) == NULL)
		return "";
	while (gelf_getverdef(f->definitions, at, &def) != NULL) {
		if (def.vd_ndx == (v & ~HIDDEN)) {
			const char *s = NULL;

			if (gelf_getverdaux(f->definitions, at + (int)def.vd_aux, &aux) != NULL)
				s = elf_strptr(f->elf, f->definition_names, aux.vda_name);
			return s != NULL ? s : "";
		}
		if (def.vd_next == 0)
			break;
		at += (int)def.vd_next;
	}
	return "";
}

static bool is_hidden(const struct file *f, size_t symbol)
{
	GElf_Versym v;

	return f->versions != NULL && gelf_getversym(f->versions, (int)symbol, &v) != NULL &&
	       (v & HIDDEN) != 0;
}

/* From the address in memory to the place in the file. */
static bool file_offset(const struct file *f, uint64_t address, uint64_t *offset)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(f->elf, (int)i, &p) == NULL || p.p_type != PT_LOAD ||
			address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return true;
	}
	return false;
}

static unsigned collect(
	const struct file *f, const char *name, struct hp3_elf_symbol *out, unsigned max)
{
	unsigned n = 0;

	for (size_t i = 0; f->symbols != NULL && i < f->n_symbols && n < max; i++) {
		const char *s;
		GElf_Sym sym;

		if (gelf_getsym(f->symbols, (int)i, &sym) == NULL || sym.st_shndx == SHN_UNDEF ||
			GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		s = elf_strptr(f->elf, f->symbol_names, sym.st_name);
		if (s == NULL || strcmp(s, name) != 0 ||
			!file_offset(f, sym.st_value, &out[n].offset))
			continue;
		snprintf(out[n].version, sizeof(out[n].version), "%s", version_name(f, i));
		out[n].latest = !is_hidden(f, i);
		n++;
	}
	return n;
}

int hp3_elf_symbols(const char *path, const char *name, struct hp3_elf_symbol *out, unsigned max)
{
	struct file f = {0};
	int fd, n = -ENOEXEC;

	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (f.elf != NULL && elf_kind(f.elf) == ELF_K_ELF) {
		find_sections(&f);
		n = (int)collect(&f, name, out, max);
	}
	elf_end(f.elf);
	close(fd);
	return n;
}
