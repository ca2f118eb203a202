/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer of roce-gen on a real RNIC stack: speaks roce-gen's set-up lines over TCP, verbs for the
 * rest. Prints {"received":N,"sent":N,"wrong":N} at the end.
 *
 * usage: verbs_peer PORT KEY=VALUE...
 *
 * keys: device, mtu, qps, size (bytes of every message), op (what this end does: none, write, send,
 * read, mix: READ and WRITE), messages (on each queue pair), depth, expect (messages received
 * before it is done; with WRITEs none are), memory (read: holds what a READ must find; write: must
 * hold one whole message at the end). Exit code 1 if anything is wrong.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <jansson.h>
#include <sys/socket.h>
#include "verbs_peer.h"

static struct peer peer;
static struct peer_params params = {
	.device = "rxe0", .mtu = 1024, .qps = 1, .size = 4096, .depth = 1};
static const char *memory = "";
static uint64_t expect;
static int fd;
static FILE *in;

static void fail(const char *what)
{
	fprintf(stderr, "verbs_peer: %s\n", what);
	exit(1);
}

static void set(const char *text)
{
	const char *value = strchr(text, '=');
	size_t n = value != NULL ? (size_t)(value++ - text) : 0;
	unsigned long number = value != NULL ? strtoul(value, NULL, 0) : 0;

#define KEY(name) (n == strlen(name) && strncmp(text, name, n) == 0)
	if (KEY("device"))
		params.device = value;
	else if (KEY("mtu"))
		params.mtu = (uint32_t)number;
	else if (KEY("qps") && number <= PEER_QPS_MAX)
		params.qps = (uint32_t)number;
	else if (KEY("size") && number >= 8 && number <= PEER_MEMORY)
		params.size = (uint32_t)number;
	else if (KEY("depth") && number >= 1 && number <= PEER_DEPTH)
		params.depth = (uint32_t)number;
	else if (KEY("messages"))
		params.messages = number;
	else if (KEY("expect"))
		expect = number;
	else if (KEY("memory"))
		memory = value;
	else if (KEY("op"))
		params.op = strcmp(value, "write") == 0  ? PEER_WRITE
			    : strcmp(value, "send") == 0 ? PEER_SEND
			    : strcmp(value, "read") == 0 ? PEER_READ
			    : strcmp(value, "mix") == 0  ? PEER_MIX
							 : PEER_NONE;
	else
		fail(text);
#undef KEY
}

static void take_connection(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(s, 1) != 0)
		fail("cannot listen");
	puts("listening");
	fflush(stdout);
	fd = accept(s, NULL, NULL);
	close(s);
	in = fdopen(dup(fd), "r");
	if (fd < 0 || in == NULL)
		fail("nobody came");
}

static json_t *line(const char *type)
{
	char *text = NULL;
	size_t room = 0;
	json_t *j;

	if (getline(&text, &room, in) < 0)
		fail("the other end went away");
	j = json_loads(text, 0, NULL);
	if (j == NULL || strcmp(json_string_value(json_object_get(j, "type")), type) != 0)
		fail(text);
	free(text);
	return j;
}

static void say(json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT);

	dprintf(fd, "%s\n", text);
	free(text);
	json_decref(j);
}

static void greet(const char *own)
{
	json_t *qps = json_array();

	for (uint32_t i = 0; i < params.qps; i++)
		json_array_append_new(qps, json_pack("[II]", (json_int_t)peer.qps[i].qp->qp_num,
						   (json_int_t)peer.qps[i].psn));
	say(json_pack("{ss si ss sI sI sI sI sb so}", "type", "hello", "v", 1, "address", own,
		"mtu", (json_int_t)params.mtu, "rkey", (json_int_t)peer.memory->rkey, "va",
		(json_int_t)(uintptr_t)peer.memory_at, "size", (json_int_t)PEER_MEMORY, "marks", 0,
		"qps", qps));
}

static void take_hello(void)
{
	json_t *j = line("hello"), *qps = json_object_get(j, "qps"), *pair;
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	uint8_t ip[4];
	size_t i;

	if (json_array_size(qps) != params.qps ||
		inet_pton(AF_INET, json_string_value(json_object_get(j, "address")), ip) != 1)
		fail("hello does not fit");
	peer.remote_rkey = (uint32_t)json_integer_value(json_object_get(j, "rkey"));
	peer.remote_va = (uint64_t)json_integer_value(json_object_get(j, "va"));
	json_array_foreach (qps, i, pair)
		peer_connect(&peer, (uint32_t)i, ip,
			(uint32_t)json_integer_value(json_array_get(pair, 0)),
			(uint32_t)json_integer_value(json_array_get(pair, 1)));
	getsockname(fd, (struct sockaddr *)&own, &len);
	greet(inet_ntoa(own.sin_addr));
	json_decref(j);
}

/* Until both ends are done; "done" may be all that is still to come. */
static void work(void)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool told = false, done = false;

	while (!told || !done) {
		peer_poll(&peer);
		if (!told && peer_sent_all(&peer) && peer.received >= expect) {
			told = true;
			say(json_pack("{ss}", "type", "done"));
		}
		if (!done && poll(&p, 1, 0) > 0) {
			json_decref(line("done"));
			done = true;
		}
	}
}

int main(int argc, char **argv)
{
	bool ok;

	if (argc < 2)
		fail("usage: verbs_peer PORT KEY=VALUE...");
	for (int i = 2; i < argc; i++)
		set(argv[i]);
	peer_open(&peer, &params);
	if (strcmp(memory, "read") == 0)
		peer_fill_memory(&peer);
	take_connection((uint16_t)atoi(argv[1]));
	take_hello();
	say(json_pack("{ss}", "type", "ready"));
	json_decref(line("ready"));
	work();
	ok = peer.wrong == 0 && peer.received == expect &&
	     (strcmp(memory, "write") != 0 || peer_memory_ok(&peer));
	printf("{\"received\":%llu,\"sent\":%llu,\"wrong\":%llu}\n",
		(unsigned long long)peer.received, (unsigned long long)peer.sent,
		(unsigned long long)peer.wrong);
	return ok ? 0 : 1;
}
