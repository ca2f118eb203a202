/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target without libFuzzer, deterministically: first every seed as it is, then
 * seeded mutations.
 *
 *     fuzz-NAME-seeded [--kind frames|text|file] [--seed N] [--runs N] FILE...
 *     fuzz-NAME-seeded [--kind ...] --write DIR FILE...    writes the seeds as files, for libFuzzer
 *
 * frames: a .pcap file has one seed per packet; any other file is one seed (for example, a crash
 * input that libFuzzer stored). Random frames of every shape are added to the seeds. text: every
 * file is a seed, and mutations change lines, words and numbers. file: every file is a seed of
 * bytes. A finding ends the process by abort(), after seed, run and input length were printed.
 */
#include <ctype.h>
#include <pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../unit/roce_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SEEDS     4096u
#define MAX_INPUT     9000u
#define RANDOM_FRAMES 500u

enum kind { FRAMES, TEXT, BYTES };

struct input {
	uint8_t *data;
	uint32_t len;
};

static struct input seeds[MAX_SEEDS];
static uint32_t n_seeds;
static char where[128];
static enum kind kind;

static void add(const uint8_t *data, size_t len)
{
	if (n_seeds == MAX_SEEDS)
		return;
	if (len > MAX_INPUT)
		len = MAX_INPUT;
	uint8_t *copy = malloc(len ? len : 1);
	if (!copy)
		abort();
	memcpy(copy, data, len);
	seeds[n_seeds++] = (struct input){copy, (uint32_t)len};
}

static int add_pcap(const char *path)
{
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *data;
	pcap_t *p = pcap_open_offline(path, err);

	if (!p) {
		fprintf(stderr, "%s\n", err);
		return -1;
	}
	while (pcap_next_ex(p, &h, &data) == 1)
		add(data, h->caplen);
	pcap_close(p);
	return 0;
}

static int add_file(const char *path)
{
	static uint8_t buf[MAX_INPUT];
	size_t n = strlen(path);

	if (kind == FRAMES && n > 5 && !strcmp(path + n - 5, ".pcap"))
		return add_pcap(path);
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return -1;
	}
	add(buf, fread(buf, 1, sizeof(buf), f));
	fclose(f);
	return 0;
}

static void add_random_frames(struct rng *r)
{
	static uint8_t buf[FRAME_CAP];

	for (uint32_t i = 0; i < RANDOM_FRAMES; i++) {
		struct shape s = random_shape(r, 300);
		add(buf, make_frame(buf, &s, r));
	}
}

/* Headers, where nearly all decisions lie, are hit more often than the rest. */
static uint32_t place(struct rng *r, uint32_t len)
{
	return rng_below(r, len > 100 && rng_below(r, 8) ? 100 : len);
}

static uint32_t mutate(uint8_t *b, uint32_t len, struct rng *r)
{
	static const uint8_t edge[] = {0, 1, 4, 6, 17, 44, 60, 0x45, 0x60, 0x7f, 0x80, 0x81, 0xff};

	for (uint32_t n = 1 + rng_below(r, 4); n && len; n--) {
		uint32_t at = place(r, len);
		switch (rng_below(r, 5)) {
		case 0:
			b[at] ^= (uint8_t)(1u << rng_below(r, 8));
			break;
		case 1:
			b[at] = edge[rng_below(r, sizeof(edge))];
			break;
		case 2:
			b[at] = (uint8_t)(b[at] + (rng_below(r, 2) ? 1 : -1));
			break;
		case 3: /* cut the end off */
			len = place(r, len + 1);
			break;
		default: /* cut a piece out */
			memmove(b + at, b + at + 1, len - at - 1);
			len--;
		}
	}
	return len;
}

/* The word (letters, digits) that byte `at` lies in. */
static uint32_t word(const uint8_t *b, uint32_t len, uint32_t *at)
{
	uint32_t end = *at;

	while (*at > 0 && (isalnum(b[*at - 1])))
		(*at)--;
	while (end < len && (isalnum(b[end])))
		end++;
	return end - *at;
}

static uint32_t line(const uint8_t *b, uint32_t len, uint32_t *at)
{
	uint32_t end = *at;

	while (*at > 0 && b[*at - 1] != '\n')
		(*at)--;
	while (end < len && b[end] != '\n')
		end++;
	return end + (end < len) - *at;
}

/* In place of n bytes at `at`, `by` others. Returns the new length. */
static uint32_t replace(
	uint8_t *b, uint32_t len, uint32_t at, uint32_t n, const void *with, uint32_t by)
{
	if (len - n + by > MAX_INPUT)
		return len;
	memmove(b + at + by, b + at + n, len - at - n);
	memcpy(b + at, with, by);
	return len - n + by;
}

/* The next number from `at` on becomes another one. */
static uint32_t other_number(uint8_t *b, uint32_t len, uint32_t at, struct rng *r)
{
	char text[16];
	uint32_t n = 0;
	int by = snprintf(
		text, sizeof(text), "%u", (unsigned)rng_below(r, 1u << (1 + rng_below(r, 31))));

	while (at < len && !isdigit(b[at]))
		at++;
	while (at + n < len && isdigit(b[at + n]))
		n++;
	return n ? replace(b, len, at, n, text, (uint32_t)by) : len;
}

/* Lines, words and single bytes go, come twice, or are those of another seed. */
static uint32_t mutate_text(uint8_t *b, uint32_t len, struct rng *r)
{
	static const char *const edge[] = {"0", "1", "-1", "nan", "inf", "1e300", "0.5", "100",
		"255", "256", "65535", "65536", "4294967295", "4294967296", "18446744073709551615",
		"18446744073709551616", "9223372036854775807", "\"", "{", "[]", "null", "true",
		"\"\"", "a", "\n", "=", "#", " ", "0x1p-1074", ""};
	static const char marks[] = "\n\r\t \"'=#;,.:-/[]{}\\<>!@%0129az\x7f\xff";

	for (uint32_t n = 1 + rng_below(r, 4); n && len; n--) {
		const struct input *from = &seeds[rng_below(r, n_seeds)];
		uint32_t at = rng_below(r, len), other = from->len ? rng_below(r, from->len) : 0;
		uint32_t part = rng_below(r, 3) ? word(b, len, &at) : line(b, len, &at), took;
		const char *e = edge[rng_below(r, sizeof(edge) / sizeof(edge[0]))];
		uint8_t copy[256];

		switch (rng_below(r, 8)) {
		case 0:
			len = other_number(b, len, at, r);
			break;
		case 1:
			len = replace(b, len, at, part, e, (uint32_t)strlen(e));
			break;
		case 2:
			took = rng_below(r, 2) ? word(from->data, from->len, &other)
					       : line(from->data, from->len, &other);
			len = replace(
				b, len, at, rng_below(r, 2) ? part : 0, from->data + other, took);
			break;
		case 3: /* twice */
			part = part < sizeof(copy) ? part : (uint32_t)sizeof(copy);
			memcpy(copy, b + at, part);
			len = replace(b, len, at, 0, copy, part);
			break;
		case 4:
			len = replace(b, len, at, part, "", 0);
			break;
		case 5:
			copy[0] = (uint8_t)marks[rng_below(r, sizeof(marks))];
			len = replace(b, len, rng_below(r, len), rng_below(r, 2), copy, 1);
			break;
		default:
			at = rng_below(r, len);
			b[at] = isdigit(b[at]) ? (uint8_t)('0' + rng_below(r, 10))
					       : (uint8_t)(b[at] ^ 1u << rng_below(r, 8));
		}
	}
	return len;
}

static void on_abort(int sig)
{
	ssize_t n = write(STDERR_FILENO, where, strlen(where));
	_exit(n < 0 ? 3 : 2);
}

static int write_seeds(const char *dir)
{
	char path[4096];

	for (uint32_t k = 0; k < n_seeds; k++) {
		snprintf(path, sizeof(path), "%s/seed-%u", dir, k);
		FILE *f = fopen(path, "wb");

		if (!f || fwrite(seeds[k].data, 1, seeds[k].len, f) != seeds[k].len) {
			perror(path);
			return 1;
		}
		fclose(f);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *dir = NULL;
	static uint8_t buf[MAX_INPUT];
	unsigned long seed = 1, runs = 100000;
	int i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--runs"))
			runs = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--write"))
			dir = argv[i + 1];
		else if (!strcmp(argv[i], "--kind"))
			kind = *argv[i + 1] == 't'           ? TEXT
			       : strcmp(argv[i + 1], "file") ? FRAMES
							     : BYTES;
		else
			break;
	}
	for (; i < argc; i++)
		if (add_file(argv[i]))
			return 1;
	struct rng r = {seed};
	if (kind == FRAMES)
		add_random_frames(&r);
	if (dir)
		return write_seeds(dir);
	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);

	printf("seed %lu, %u seeds, %lu mutations\n", seed, n_seeds, runs);
	for (uint32_t k = 0; k < n_seeds; k++) {
		snprintf(where, sizeof(where), "finding in seed input %u\n", k);
		LLVMFuzzerTestOneInput(seeds[k].data, seeds[k].len);
	}
	for (unsigned long k = 0; k < runs; k++) {
		const struct input *in = &seeds[rng_below(&r, n_seeds)];
		memcpy(buf, in->data, in->len);
		uint32_t len =
			kind == TEXT ? mutate_text(buf, in->len, &r) : mutate(buf, in->len, &r);
		snprintf(where, sizeof(where), "finding: seed %lu, mutation %lu, %u bytes\n", seed,
			k, len);
		LLVMFuzzerTestOneInput(buf, len);
	}
	for (uint32_t k = 0; k < n_seeds; k++)
		free(seeds[k].data);
	return 0;
}
