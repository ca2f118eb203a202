/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/capture.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <rte_mbuf.h>

#define NS_PER_SEC 1000000000ull

int hp3d_replay_capture_open(struct hp3d_replay_capture *c, const char *path)
{
	char err[PCAP_ERRBUF_SIZE];
	FILE *f = fopen(path, "rb");

	c->in_path = path;
	if (f != NULL)
		c->in = pcap_fopen_offline_with_tstamp_precision(
			f, PCAP_TSTAMP_PRECISION_NANO, err);
	if (c->in == NULL) {
		fprintf(stderr, "hp3d: %s: %s; check the path, give a pcap or pcapng file\n",
			c->in_path, f == NULL ? strerror(errno) : err);
		if (f != NULL)
			fclose(f);
		return -1;
	}
	if (pcap_datalink(c->in) != DLT_EN10MB) {
		fprintf(stderr, "hp3d: %s: link type %s; only Ethernet captures can be replayed\n",
			c->in_path, pcap_datalink_val_to_name(pcap_datalink(c->in)));
		return -1;
	}
	return 0;
}

/* OUT must not be IN, which would be truncated before it is read. */
int hp3d_replay_capture_create(struct hp3d_replay_capture *c, const char *path)
{
	struct stat in, out;

	c->out_path = path;
	if (fstat(fileno(pcap_file(c->in)), &in) == 0 && stat(c->out_path, &out) == 0 &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		fprintf(stderr, "hp3d: %s: is the capture to read; give --out another file\n",
			c->out_path);
		return -1;
	}
	c->out = pcap_dump_open(c->in, c->out_path);
	if (c->out == NULL) {
		fprintf(stderr, "hp3d: %s; give --out a file that can be written\n",
			pcap_geterr(c->in));
		return -1;
	}
	return 0;
}

int hp3d_replay_capture_next(
	struct hp3d_replay_capture *c, struct pcap_pkthdr **h, const u_char **data)
{
	int ret = pcap_next_ex(c->in, h, data);

	if (ret == PCAP_ERROR) {
		fprintf(stderr, "hp3d: %s: %s; the file is damaged: record it again\n", c->in_path,
			pcap_geterr(c->in));
		return -1;
	}
	return ret == 1;
}

void hp3d_replay_capture_write(struct hp3d_replay_capture *c, struct rte_mbuf *m)
{
	const struct hp3d_replay_stamp *st = rte_mbuf_to_priv(m);
	struct pcap_pkthdr h = {.ts = st->ts, .caplen = rte_pktmbuf_data_len(m), .len = st->len};

	if (c->out != NULL)
		pcap_dump((u_char *)c->out, &h, rte_pktmbuf_mtod(m, const void *));
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
	c->in = NULL;
	return ret;
}

uint64_t hp3d_replay_capture_time(const struct pcap_pkthdr *h)
{
	return (uint64_t)h->ts.tv_sec * NS_PER_SEC + (uint64_t)h->ts.tv_usec;
}
