/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/file.h"
#include <elf.h>
#include <errno.h>
#include <string.h>

#define HIDDEN       0x8000 /* of a versym: not the default version */
#define SEGMENTS_MAX 256u /* no library has more; bounds the time for each symbol */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

/* A part that is within the file. */
struct part {
	const uint8_t *at;
	size_t size;
};

struct file {
	struct part all;
	Elf64_Ehdr h;
	struct part symbols, versions, definitions; /* .dynsym, .gnu.version, .gnu.version_d */
	struct part symbol_names, definition_names;
};

static bool read_part(struct part p, uint64_t offset, void *to, size_t size)
{
	if (offset > p.size || size > p.size - offset)
		return false;
	memcpy(to, p.at + offset, size);
	return true;
}

static bool read_section(const struct file *f, unsigned index, Elf64_Shdr *s, struct part *p)
{
	uint64_t at = f->h.e_shoff + (uint64_t)index * sizeof(*s);

	if (index >= f->h.e_shnum || f->h.e_shoff > f->all.size ||
		!read_part(f->all, at, s, sizeof(*s)) || s->sh_type == SHT_NOBITS ||
		s->sh_offset > f->all.size || s->sh_size > f->all.size - s->sh_offset)
		return false;
	*p = (struct part){f->all.at + s->sh_offset, s->sh_size};
	return true;
}

static void find_sections(struct file *f)
{
	for (unsigned i = 0; i < f->h.e_shnum; i++) {
		Elf64_Shdr s, names;
		struct part p;

		if (!read_section(f, i, &s, &p))
			continue;
		switch (s.sh_type) {
		case SHT_DYNSYM:
			f->symbols = p;
			read_section(f, s.sh_link, &names, &f->symbol_names);
			break;
		case SHT_GNU_versym:
			f->versions = p;
			break;
		case SHT_GNU_verdef:
			f->definitions = p;
			read_section(f, s.sh_link, &names, &f->definition_names);
			break;
		default:
			break;
		}
	}
}

static bool is_called(struct part names, uint32_t at, const char *name, size_t len)
{
	return at <= names.size && len < names.size - at &&
	       memcmp(names.at + at, name, len + 1) == 0;
}

static void copy_text(struct part names, uint32_t at, char *to, size_t cap)
{
	size_t len;

	if (at >= names.size)
		return;
	len = strnlen((const char *)names.at + at, names.size - at);
	if (len >= cap)
		len = cap - 1;
	memcpy(to, names.at + at, len);
	to[len] = '\0';
}

static void put_version(const struct file *f, Elf64_Versym v, char *to, size_t cap)
{
	Elf64_Verdef def;
	Elf64_Verdaux aux;

	for (uint64_t at = 0; read_part(f->definitions, at, &def, sizeof(def)); at += def.vd_next) {
		if (def.vd_ndx == (v & ~HIDDEN)) {
			if (read_part(f->definitions, at + def.vd_aux, &aux, sizeof(aux)))
				copy_text(f->definition_names, aux.vda_name, to, cap);
			return;
		}
		/* The next entry must be behind this one, so that the chain ends. */
		if (def.vd_next < sizeof(def))
			return;
	}
}

/* The file offset of an address in memory. */
static bool file_offset(const struct file *f, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < f->h.e_phnum; i++) {
		Elf64_Phdr p;

		if (!read_part(f->all, f->h.e_phoff + (uint64_t)i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return p.p_offset < f->all.size && address - p.p_vaddr < f->all.size - p.p_offset;
	}
	return false;
}

static bool is_elf(const struct file *f)
{
	return memcmp(f->h.e_ident, ELFMAG, SELFMAG) == 0 && f->h.e_ident[EI_CLASS] == ELFCLASS64 &&
	       f->h.e_ident[EI_DATA] == HOST_DATA && f->h.e_shentsize == sizeof(Elf64_Shdr) &&
	       f->h.e_phentsize == sizeof(Elf64_Phdr) && f->h.e_phnum <= SEGMENTS_MAX &&
	       f->h.e_phoff <= f->all.size;
}

int hp3_elf_symbols(
	const void *file, size_t size, const char *name, struct hp3_elf_symbol *out, unsigned max)
{
	struct file f = {.all = {file, size}};
	size_t len = strlen(name);
	Elf64_Sym sym;
	unsigned n = 0;

	if (!read_part(f.all, 0, &f.h, sizeof(f.h)) || !is_elf(&f))
		return -ENOEXEC;
	find_sections(&f);
	for (uint64_t i = 0; n < max && read_part(f.symbols, i * sizeof(sym), &sym, sizeof(sym));
		i++) {
		struct hp3_elf_symbol *s = &out[n];
		Elf64_Versym v;

		*s = (struct hp3_elf_symbol){.latest = true};
		if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) != STT_FUNC ||
			!is_called(f.symbol_names, sym.st_name, name, len) ||
			!file_offset(&f, sym.st_value, &s->offset))
			continue;
		if (read_part(f.versions, i * sizeof(v), &v, sizeof(v))) {
			s->latest = (v & HIDDEN) == 0;
			put_version(&f, v, s->version, sizeof(s->version));
		}
		n++;
	}
	return (int)n;
}
