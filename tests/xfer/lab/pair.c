/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: xfer-pair --listen ADDRESS:PORT | --connect ADDRESS:PORT [--provider NAME]
 *                  [--rails NAME,NAME] [--rounds N] [--block-mib N] [--seconds N]
 *                  [--hang-ms N] [--op-kib N]
 *
 * Two processes, each of which writes a block into the other's memory in ops of 1 MiB (--op-kib),
 * with a counter, in rounds: until --rounds (4) are over, or (--seconds) that time. After each
 * round, each side checks every byte that it has received and that the counter is exact. Prints a
 * JSON line at the start (the monotonic clock, ms), one every 100 ms (MiB that have been
 * acknowledged, ms since the start), and one at the end. Exit code 0: all right.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "xfer/hp3x.h"

#define MIB      ((size_t)1 << 20)
#define COUNTER  7u
#define STEP_NS  100000000ull
#define LIMIT_NS 120000000000ull /* of an op, and of what the other side does */

static struct {
	const char *listen, *connect, *provider;
	const char *rail[HP3X_RAILS];
	uint32_t rails;
	unsigned rounds, seconds, hang_ms;
	size_t block, op;
} options = {.rounds = 4, .block = 64 * MIB, .op = MIB};

static struct hp3x_domain *domain;
static struct hp3x_peer *peer;
static uint64_t began, reported, acknowledged, slices, again, most_again;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	struct hp3x_path path[64];
	int n = domain != NULL ? hp3x_paths(domain, path, 64) : 0;

	fprintf(stderr, "xfer-pair: %s: %s\n", what, hp3x_error());
	for (int i = 0; i < n && i < 64; i++)
		fprintf(stderr, "path %u: rails %u-%u state %d rate %.1f MB/s failures %llu\n",
			path[i].number, path[i].local_rail, path[i].remote_rail, path[i].state,
			(double)path[i].rate / 1e6, (unsigned long long)path[i].failures);
	exit(1);
}

static void report_progress(void)
{
	uint64_t now = now_ns();

	if (now - reported < STEP_NS)
		return;
	reported = now;
	printf("{\"ms\":%llu,\"mib\":%.1f}\n", (unsigned long long)((now - began) / 1000000),
		(double)acknowledged / MIB);
	fflush(stdout);
}

static void wait_for_news(void)
{
	struct pollfd p = {.fd = hp3x_fd(domain), .events = POLLIN};
	uint64_t n;

	poll(&p, 1, 20);
	if (p.revents != 0 && read(p.fd, &n, sizeof(n)) < 0)
		return;
	report_progress();
}

static void take_completions(void)
{
	struct hp3x_completion c[32];
	int n;

	while ((n = hp3x_poll(domain, c, 32)) > 0) {
		for (int i = 0; i < n; i++) {
			if (c[i].status != HP3X_OK) {
				fprintf(stderr, "xfer-pair: an op ended with %s\n",
					hp3x_status_name(c[i].status));
				fail("op");
			}
			acknowledged += c[i].length > 4096 ? c[i].length : 0;
			slices += c[i].slices;
			again += c[i].again;
			if (c[i].again > most_again)
				most_again = c[i].again;
		}
	}
}

/* Takes a message of at most `room` bytes. */
static size_t receive_message(void *data, size_t room)
{
	uint64_t end = now_ns() + LIMIT_NS;
	struct hp3x_peer *from;
	int n;

	while ((n = hp3x_receive(domain, data, room, &from)) == -EAGAIN) {
		take_completions();
		if (now_ns() > end || (peer != NULL && hp3x_peer_state(peer) == HP3X_PEER_GONE))
			fail("the other side says nothing");
		wait_for_news();
	}
	if (n < 0)
		fail("message");
	peer = from;
	return (size_t)n;
}

static void send_message(const void *data, size_t length)
{
	const struct hp3x_common common = {.deadline = now_ns() + LIMIT_NS};

	if (hp3x_send(peer, data, length, &common) < 0)
		fail("send");
}

static uint64_t word_of(uint64_t round, uint64_t side, uint64_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15u ^ round << 56 ^ side << 48;
}

static void fill_block(uint64_t *block, uint64_t round, uint64_t side)
{
	for (size_t i = 0; i < options.block / 8; i++)
		block[i] = word_of(round, side, i);
}

static void check_block(uint64_t *block, uint64_t round, uint64_t side)
{
	for (size_t i = 0; i < options.block / 8; i++) {
		if (block[i] != word_of(round, side, i)) {
			fprintf(stderr, "round %llu, byte %zu is wrong\n",
				(unsigned long long)round, 8 * i);
			fail("content");
		}
	}
	memset(block, 0, options.block);
}

/* What a side says before a round: that its block may be written, or that it has ended. */
struct ready {
	uint64_t round, more;
};

static void write_block(const struct hp3x_region *from, const struct hp3x_remote *to)
{
	for (size_t at = 0; at < options.block;) {
		struct hp3x_write w = {.common = {.deadline = now_ns() + LIMIT_NS},
			.from = from,
			.from_offset = at,
			.to = to,
			.to_offset = at,
			.length = options.op,
			.counter = COUNTER,
			.add = 1};
		int64_t op = hp3x_write(peer, &w);

		take_completions();
		if (op == -EAGAIN)
			wait_for_news();
		else if (op < 0)
			fail("write");
		else
			at += options.op;
	}
}

static void await_counter(uint64_t value)
{
	uint64_t end = now_ns() + LIMIT_NS, have = 0;

	while (hp3x_counter(domain, COUNTER, &have) == 0 && have < value) {
		take_completions();
		if (now_ns() > end)
			fail("the counter does not rise");
		wait_for_news();
	}
	if (have != value) {
		fprintf(stderr, "counter %llu instead of %llu\n", (unsigned long long)have,
			(unsigned long long)value);
		fail("counter");
	}
}

static void await_acknowledged(uint64_t bytes)
{
	uint64_t end = now_ns() + LIMIT_NS;

	while (acknowledged < bytes) {
		take_completions();
		if (now_ns() > end)
			fail("ops do not end");
		wait_for_news();
	}
}

static bool goes_on(uint64_t round)
{
	if (options.seconds > 0)
		return now_ns() - began < options.seconds * 1000000000ull;
	return round < options.rounds;
}

static uint64_t run_rounds(void)
{
	uint64_t *out = aligned_alloc(4096, options.block);
	uint64_t *in = aligned_alloc(4096, options.block), round = 0;
	uint64_t side = options.connect != NULL, ops = options.block / options.op;
	struct hp3x_region *from, *to;
	struct hp3x_remote there;
	uint8_t text[HP3X_DESCRIPTION];
	int length;

	memset(in, 0, options.block);
	if (hp3x_region_add(domain, out, options.block, &from) < 0 ||
		hp3x_region_add(domain, in, options.block, &to) < 0)
		fail("region");
	if (options.listen != NULL)
		receive_message(text, sizeof(text)); /* "hello": names the peer */
	else
		send_message("hello", 5);
	length = hp3x_region_describe(to, text, sizeof(text));
	send_message(text, (size_t)length);
	if (hp3x_remote_read(text, receive_message(text, sizeof(text)), &there) < 0)
		fail("descriptor");
	began = reported = now_ns();
	printf("{\"began\":%llu}\n", (unsigned long long)(began / 1000000));
	for (;; round++) {
		struct ready own = {round, goes_on(round)}, other;

		fill_block(out, round, side);
		send_message(&own, sizeof(own));
		if (receive_message(&other, sizeof(other)) != sizeof(other) || other.round != round)
			fail("the other side is in another round");
		if (!own.more || !other.more)
			break;
		write_block(from, &there);
		await_acknowledged((round + 1) * options.block);
		await_counter((round + 1) * ops);
		check_block(in, round, !side);
	}
	return round;
}

static void read_rails(char *list)
{
	for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
		if (options.rails < HP3X_RAILS)
			options.rail[options.rails++] = name;
	}
}

static void read_options(int argc, char **argv)
{
	static const struct option names[] = {{"listen", required_argument, NULL, 'l'},
		{"connect", required_argument, NULL, 'c'},
		{"provider", required_argument, NULL, 'p'}, {"rails", required_argument, NULL, 'r'},
		{"rounds", required_argument, NULL, 'n'}, {"hang-ms", required_argument, NULL, 'h'},
		{"block-mib", required_argument, NULL, 'b'},
		{"op-kib", required_argument, NULL, 'o'}, {"seconds", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'l':
			options.listen = optarg;
			break;
		case 'c':
			options.connect = optarg;
			break;
		case 'p':
			options.provider = optarg;
			break;
		case 'r':
			read_rails(optarg);
			break;
		case 'n':
			options.rounds = (unsigned)atoi(optarg);
			break;
		case 'b':
			options.block = (size_t)atoi(optarg) * MIB;
			break;
		case 'o':
			options.op = (size_t)atoi(optarg) * 1024;
			break;
		case 'h':
			options.hang_ms = (unsigned)atoi(optarg);
			break;
		case 's':
			options.seconds = (unsigned)atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if ((options.listen == NULL) == (options.connect == NULL) || options.block == 0 ||
		options.op == 0 || options.block % options.op != 0)
		exit(2);
}

int main(int argc, char **argv)
{
	struct hp3x_options o = {0};
	uint64_t rounds;
	double seconds;

	read_options(argc, argv);
	o.provider = options.provider;
	o.rails = options.rail;
	o.n_rails = options.rails;
	o.listen = options.listen;
	o.hang_ms = options.hang_ms;
	if (hp3x_open(&o, &domain) < 0)
		fail("open");
	if (options.connect != NULL && hp3x_connect(domain, options.connect, &peer) < 0)
		fail("connect");
	rounds = run_rounds();
	seconds = (double)(now_ns() - began) / 1e9;
	printf("{\"rounds\":%llu,\"seconds\":%.3f,\"mib_per_s\":%.1f,\"slices\":%llu,\"again\":%"
	       "llu,"
	       "\"most_again\":%llu}\n",
		(unsigned long long)rounds, seconds, (double)acknowledged / MIB / seconds,
		(unsigned long long)slices, (unsigned long long)again,
		(unsigned long long)most_again);
	take_completions();
	usleep(300000); /* the last message reaches the other side */
	hp3x_close(domain);
	return 0;
}
