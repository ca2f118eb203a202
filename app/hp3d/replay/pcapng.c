/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/pcapng.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SECTION   0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET    2u /* obsolete */
#define BLOCK_SIMPLE    3u
#define BLOCK_ENHANCED  6u

#define ORDER_MAGIC      0x1a2b3c4du
#define OPT_END          0u
#define OPT_TSRESOL      9u
#define OPT_TSOFFSET     14u
#define BLOCK_MAX        (16u << 20) /* bytes; libpcap has the same bound */
#define INTERFACES_MAX   4096u
#define NS_PER_SEC       1000000000ull
#define RESOLUTION_MICRO 6u
#define RESOLUTION_POW2  0x80u

struct interface {
	uint32_t link, snaplen;
	uint8_t resolution; /* if_tsresol */
	int64_t offset_s; /* if_tsoffset */
};

struct hp3d_pcapng {
	FILE *f;
	bool swapped; /* byte order of the current section */
	uint8_t *block; /* body of the current block */
	uint32_t cap; /* of `block`, bytes */
	struct interface *interfaces; /* of the current section */
	uint32_t n;
	const char *error;
};

static int fail_file(struct hp3d_pcapng *p, const char *why)
{
	p->error = why;
	return -1;
}

static uint32_t read_u32(const struct hp3d_pcapng *p, const void *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t read_u16(const struct hp3d_pcapng *p, const void *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap16(v) : v;
}

static uint64_t read_u64(const struct hp3d_pcapng *p, const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap64(v) : v;
}

/* The byte order of a section follows the length of its first block. */
static int read_order(struct hp3d_pcapng *p, uint32_t *len)
{
	uint32_t magic;

	if (fread(&magic, sizeof(magic), 1, p->f) != 1)
		return fail_file(p, "truncated section header");
	p->swapped = magic == __builtin_bswap32(ORDER_MAGIC);
	if (magic != ORDER_MAGIC && !p->swapped)
		return fail_file(p, "section header without byte order");
	*len = p->swapped ? __builtin_bswap32(*len) : *len;
	p->n = 0;
	return 0;
}

/* Reads a block. `*len`: length of its body. 1, 0 at the end of the file, or -1. */
static int read_block(struct hp3d_pcapng *p, uint32_t *type, uint32_t *len)
{
	uint32_t head[2], whole, done = 8, trailer;
	size_t got = fread(head, 1, sizeof(head), p->f);
	uint8_t *block;

	if (got == 0 && !ferror(p->f))
		return 0;
	if (got != sizeof(head))
		return fail_file(p, "truncated block");
	*type = read_u32(p, &head[0]);
	whole = read_u32(p, &head[1]);
	if (head[0] == BLOCK_SECTION) { /* a palindrome: equal in both byte orders */
		whole = head[1];
		if (read_order(p, &whole) < 0)
			return -1;
		done = 12;
	}
	if (whole % 4 != 0 || whole < done + 4 || whole > BLOCK_MAX)
		return fail_file(p, "block with a wrong length");
	*len = whole - done - 4;
	if (*len > p->cap) {
		block = realloc(p->block, *len);
		if (block == NULL)
			return fail_file(p, "not enough memory for a block");
		p->block = block;
		p->cap = *len;
	}
	if (*len > 0 && fread(p->block, *len, 1, p->f) != 1)
		return fail_file(p, "truncated block");
	if (fread(&trailer, sizeof(trailer), 1, p->f) != 1)
		return fail_file(p, "truncated block");
	if (read_u32(p, &trailer) != whole)
		return fail_file(p, "block with two different lengths");
	return 1;
}

static void read_options(
	const struct hp3d_pcapng *p, uint32_t at, uint32_t len, struct interface *i)
{
	uint32_t code, n;

	while (len - at >= 4) {
		code = read_u16(p, p->block + at);
		n = read_u16(p, p->block + at + 2);
		at += 4;
		if (code == OPT_END || n > len - at)
			return;
		if (code == OPT_TSRESOL && n == 1)
			i->resolution = p->block[at];
		if (code == OPT_TSOFFSET && n == 8)
			i->offset_s = (int64_t)read_u64(p, p->block + at);
		n = (n + 3) & ~3u; /* options are padded to 4 bytes */
		if (n > len - at)
			return;
		at += n;
	}
}

static int add_interface(struct hp3d_pcapng *p, uint32_t len)
{
	struct interface *list, i = {.resolution = RESOLUTION_MICRO};

	if (len < 8)
		return fail_file(p, "truncated interface");
	if (p->n == INTERFACES_MAX)
		return fail_file(p, "too many interfaces");
	i.link = read_u16(p, p->block);
	i.snaplen = read_u32(p, p->block + 4);
	read_options(p, 8, len, &i);
	list = realloc(p->interfaces, (p->n + 1) * sizeof(*list));
	if (list == NULL)
		return fail_file(p, "not enough memory for an interface");
	p->interfaces = list;
	list[p->n++] = i;
	return 0;
}

/* Seconds and nanoseconds of a time stamp in units of the interface. */
static void set_time(struct pcap_pkthdr *h, const struct interface *i, uint64_t t)
{
	uint32_t power = i->resolution & 0x7fu;
	uint64_t unit = 1, ns;

	if (i->resolution & RESOLUTION_POW2) {
		unit = power < 64 ? 1ull << power : 0;
	} else {
		for (uint32_t k = 0; k < power && unit != 0; k++)
			unit = unit > UINT64_MAX / 10 ? 0 : unit * 10;
	}
	/* unit 0: too fine for 64 bits of time to reach a second */
	ns = unit == 0 ? 0 : (uint64_t)((unsigned __int128)(t % unit) * NS_PER_SEC / unit);
	h->ts.tv_sec = (time_t)((unit == 0 ? 0 : t / unit) + (uint64_t)i->offset_s);
	h->ts.tv_usec = (suseconds_t)ns;
}

/* The packet of a block: `head` bytes in front of it, `cap` of it in the file. */
static int give_packet(struct hp3d_pcapng *p, uint32_t head, uint32_t len, struct pcap_pkthdr *h,
	const u_char **data)
{
	if (h->caplen > len - head)
		return fail_file(p, "packet longer than its block");
	*data = p->block + head;
	return 1;
}

/* 1: a packet; 0: a block of another type; -1. */
static int read_packet(struct hp3d_pcapng *p, uint32_t type, uint32_t len, struct pcap_pkthdr *h,
	const u_char **data, uint32_t *link)
{
	const uint8_t *b = p->block;
	const bool simple = type == BLOCK_SIMPLE;
	const uint32_t head = simple ? 4 : 20;
	uint32_t number = 0;

	if (type != BLOCK_PACKET && type != BLOCK_SIMPLE && type != BLOCK_ENHANCED)
		return 0;
	if (len < head)
		return fail_file(p, "truncated packet block");
	if (!simple)
		number = type == BLOCK_PACKET ? read_u16(p, b) : read_u32(p, b);
	if (number >= p->n)
		return fail_file(p, "packet of an interface that the file does not have");
	const struct interface *i = &p->interfaces[number];

	*link = i->link;
	*h = (struct pcap_pkthdr){0};
	if (simple) {
		h->len = h->caplen = read_u32(p, b);
		if (i->snaplen != 0 && h->caplen > i->snaplen)
			h->caplen = i->snaplen;
	} else {
		set_time(h, i, (uint64_t)read_u32(p, b + 4) << 32 | read_u32(p, b + 8));
		h->caplen = read_u32(p, b + 12);
		h->len = read_u32(p, b + 16);
	}
	return give_packet(p, head, len, h, data);
}

struct hp3d_pcapng *hp3d_pcapng_open(FILE *f)
{
	struct hp3d_pcapng *p = calloc(1, sizeof(*p));

	if (p != NULL)
		p->f = f;
	return p;
}

void hp3d_pcapng_close(struct hp3d_pcapng *p)
{
	fclose(p->f);
	free(p->block);
	free(p->interfaces);
	free(p);
}

int hp3d_pcapng_next(
	struct hp3d_pcapng *p, struct pcap_pkthdr *h, const u_char **data, uint32_t *link)
{
	uint32_t type, len;
	int ret;

	while ((ret = read_block(p, &type, &len)) == 1) {
		if (type == BLOCK_INTERFACE && add_interface(p, len) < 0)
			return -1;
		ret = read_packet(p, type, len, h, data, link);
		if (ret != 0)
			return ret;
	}
	return ret;
}

const char *hp3d_pcapng_error(const struct hp3d_pcapng *p)
{
	return p->error;
}
