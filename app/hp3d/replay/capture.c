/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/capture.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <rte_mbuf.h>
#include "app/hp3d/replay/pcapng.h"
#include "base/minmax.h"

#define NS_PER_SEC 1000000000ull
#define SNAPLEN    262144 /* of an output whose input is pcapng */

/* The program that unpacks a compressed file, by its first bytes; NULL: not compressed. */
static const char *unpacker_of(const uint8_t magic[4])
{
	static const struct {
		uint8_t magic[4];
		uint32_t n;
		const char *program;
	} kinds[] = {{{0x1f, 0x8b}, 2, "gunzip -k"}, {{0x28, 0xb5, 0x2f, 0xfd}, 4, "zstd -d"},
		{{0xfd, '7', 'z', 'X'}, 4, "unxz -k"}, {{'B', 'Z', 'h'}, 3, "bunzip2 -k"}};

	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		if (memcmp(magic, kinds[i].magic, kinds[i].n) == 0)
			return kinds[i].program;
	}
	return NULL;
}

static int refuse_capture(struct hp3d_replay_capture *c, const char *why)
{
	fprintf(stderr, "hp3d: %s: %s; check the path, give a pcap or pcapng file\n", c->in_path,
		why);
	return -1;
}

static int open_pcap(struct hp3d_replay_capture *c)
{
	char err[PCAP_ERRBUF_SIZE];
	int link;

	c->in = pcap_fopen_offline_with_tstamp_precision(c->file, PCAP_TSTAMP_PRECISION_NANO, err);
	if (c->in == NULL) {
		fclose(c->file);
		return refuse_capture(c, err);
	}
	link = pcap_datalink(c->in);
	if (link != DLT_RAW && !hp3d_replay_frame_link((uint32_t)link)) {
		const char *name = pcap_datalink_val_to_name(link);

		fprintf(stderr,
			"hp3d: %s: link type %d (%s) cannot be read; record on one Ethernet "
			"interface (tcpdump -i IF -s 0 udp port 4791)\n",
			c->in_path, link, name != NULL ? name : "unknown");
		return -1;
	}
	return 0;
}

/* The first bytes decide which reader gets the file. A pipe cannot be set back, and is pcap. */
int hp3d_replay_capture_open(struct hp3d_replay_capture *c, const char *path)
{
	static const uint8_t pcapng[4] = {0x0a, 0x0d, 0x0d, 0x0a};
	uint8_t magic[4] = {0};
	const char *program;

	c->in_path = path;
	c->n = 0;
	c->file = fopen(path, "rb");
	if (c->file == NULL)
		return refuse_capture(c, strerror(errno));
	if (fseek(c->file, 0, SEEK_SET) == 0 && fread(magic, 1, sizeof(magic), c->file) > 0)
		rewind(c->file);
	program = unpacker_of(magic);
	if (program != NULL) {
		fprintf(stderr, "hp3d: %s: is compressed; unpack it first (%s %s)\n", path, program,
			path);
		fclose(c->file);
		return -1;
	}
	if (memcmp(magic, pcapng, sizeof(magic)) != 0)
		return open_pcap(c);
	c->ng = hp3d_pcapng_open(c->file);
	if (c->ng == NULL) {
		fclose(c->file);
		return refuse_capture(c, "not enough memory");
	}
	return 0;
}

/* OUT must not be IN, which would be truncated before it is read. */
int hp3d_replay_capture_create(struct hp3d_replay_capture *c, const char *path)
{
	struct stat in, out;
	pcap_t *shape = c->in;

	c->out_path = path;
	if (fstat(fileno(c->file), &in) == 0 && stat(c->out_path, &out) == 0 &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		fprintf(stderr, "hp3d: %s: is the capture to read; give --out another file\n",
			c->out_path);
		return -1;
	}
	if (shape == NULL)
		shape = c->shape = pcap_open_dead_with_tstamp_precision(
			DLT_EN10MB, SNAPLEN, PCAP_TSTAMP_PRECISION_NANO);
	c->out = shape != NULL ? pcap_dump_open(shape, c->out_path) : NULL;
	if (c->out == NULL) {
		fprintf(stderr, "hp3d: %s; give --out a file that can be written\n",
			shape != NULL ? pcap_geterr(shape) : "not enough memory");
		return -1;
	}
	return 0;
}

static uint32_t link_of(const struct hp3d_replay_capture *c)
{
	int link = pcap_datalink(c->in);

	return link == DLT_RAW ? HP3D_LINK_RAW : (uint32_t)link;
}

static int next_pcap(struct hp3d_replay_capture *c, struct hp3d_replay_record *r)
{
	struct pcap_pkthdr *h;
	int ret = pcap_next_ex(c->in, &h, &r->data);

	if (ret == 1) {
		r->h = *h;
		r->link = link_of(c);
	}
	return ret == PCAP_ERROR ? -1 : ret == 1;
}

/* Somebody copied the file while a program was still writing it. */
static void tell_cut(struct hp3d_replay_capture *c)
{
	if (!c->told_cut)
		fprintf(stderr, "hp3d: %s: the last packet is cut, and is left out\n", c->in_path);
	c->told_cut = true;
}

int hp3d_replay_capture_next(struct hp3d_replay_capture *c, struct hp3d_replay_record *r)
{
	int ret = c->ng != NULL ? hp3d_pcapng_next(c->ng, &r->h, &r->data, &r->link)
				: next_pcap(c, r);

	if (ret < 0 && c->n != 0 && feof(c->file)) {
		tell_cut(c);
		return 0;
	}
	if (ret < 0)
		fprintf(stderr, "hp3d: %s: %s; the file is damaged: record it again\n", c->in_path,
			c->ng != NULL ? hp3d_pcapng_error(c->ng) : pcap_geterr(c->in));
	c->n += ret == 1;
	return ret;
}

void hp3d_replay_capture_stamp(const struct hp3d_replay_capture *c,
	const struct hp3d_replay_record *r, const struct hp3d_replay_frame *f,
	struct hp3d_replay_stamp *st)
{
	st->ts = r->h.ts;
	st->len = r->h.len;
	st->recorded = f->recorded;
	st->head = f->head;
	st->l3 = f->l3;
	memcpy(st->bytes, r->data, f->head);
	if (c->ng != NULL && r->link != HP3D_LINK_ETHERNET) {
		st->len += f->l3 - f->head;
		st->head = st->l3 = 0;
	}
}

void hp3d_replay_capture_write(struct hp3d_replay_capture *c, struct rte_mbuf *m)
{
	const struct hp3d_replay_stamp *st = rte_mbuf_to_priv(m);
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t rest = hp3_min_u32(rte_pktmbuf_data_len(m), st->recorded) - st->l3;
	struct pcap_pkthdr h = {.ts = st->ts, .caplen = st->head + rest, .len = st->len};

	if (c->out == NULL)
		return;
	memcpy(c->frame, st->bytes, st->head);
	memcpy(c->frame + st->head, data + st->l3, rest);
	pcap_dump((u_char *)c->out, &h, c->frame);
}

static int close_output(struct hp3d_replay_capture *c)
{
	bool failed = pcap_dump_flush(c->out) != 0 || ferror(pcap_dump_file(c->out));

	if (failed)
		fprintf(stderr,
			"hp3d: %s: cannot be written; free space or give --out another file\n",
			c->out_path);
	pcap_dump_close(c->out);
	c->out = NULL;
	return failed ? -1 : 0;
}

int hp3d_replay_capture_close(struct hp3d_replay_capture *c)
{
	int ret = c->out != NULL ? close_output(c) : 0;

	if (c->in != NULL)
		pcap_close(c->in);
	if (c->ng != NULL)
		hp3d_pcapng_close(c->ng);
	if (c->shape != NULL)
		pcap_close(c->shape);
	c->in = c->shape = NULL;
	c->ng = NULL;
	return ret;
}

uint64_t hp3d_replay_capture_time(const struct pcap_pkthdr *h)
{
	return (uint64_t)h->ts.tv_sec * NS_PER_SEC + (uint64_t)h->ts.tv_usec;
}
