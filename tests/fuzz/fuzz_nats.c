/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes from a NATS server to hp3-fleet, which runs unchanged, with libnats: INFO;
 * messages with any subject, reply subject, size and payload; errors; lines that are not of the
 * protocol; in pieces. Checks: hp3-fleet ends when it is asked to. It publishes only keep-alives
 * and plans, on their subjects, and answers in JSON to requests, never on subjects of the fleet.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include "app/fleet/answer.h"
#include "app/fleet/planner.h"
#include "app/fleet/process.h"
#include "base/minmax.h"
#include "history.h"
#include "input.h"

#define WAIT_MS 200 /* for what hp3-fleet is to say at first */
#define SOON_MS 50 /* and in the end: it may wait for the rest of a message itself */
#define MESSAGE 9000u
#define HEARD   (1u << 20)

static int listener, line;
static bool done; /* atomic */
static char heard[HEARD + 1];
static size_t n_heard, owed; /* owed: bytes of a payload that were announced and not sent */

const char *__lsan_default_suppressions(void);

/* libnats forgets the part of a message that it has when its line ends. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libnats";
}

/* --- hp3-fleet's process --- */

bool fleet_is_over(const struct hp3_bus *bus)
{
	return __atomic_load_n(&done, __ATOMIC_ACQUIRE);
}

uint64_t fleet_clock_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

void fleet_ends_by_signals(void)
{
}

int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg)
{
	return FLEET_DONE;
}

int fleet_http_start(struct fleet_planner *p)
{
	return 0;
}

void fleet_http_stop(void)
{
}

struct hp3_bus *fleet_bus_open(const struct fleet_config *cfg)
{
	const struct hp3_bus_options options = {.servers = cfg->fleet.servers, .name = "fuzz"};
	char why[256];

	return hp3_bus_open(&options, why, sizeof(why));
}

/* --- the server --- */

/* Until hp3-fleet has said it, for so long at most. */
static bool hear(const char *what, size_t from)
{
	while (n_heard < from || strstr(heard + from, what) == NULL) {
		ssize_t n = recv(line, heard + n_heard, HEARD - n_heard, 0);

		if (n <= 0)
			return false;
		n_heard += (size_t)n;
		heard[n_heard] = '\0';
	}
	return true;
}

/* What has come. */
static void hear_rest(void)
{
	ssize_t n = recv(line, heard + n_heard, HEARD - n_heard, MSG_DONTWAIT);

	if (n > 0)
		n_heard += (size_t)n;
	heard[n_heard] = '\0';
}

static void say(const void *what, size_t n)
{
	uint8_t piece = u8();
	size_t step = piece < 0x80 ? n : 1u + piece % 64;

	owed -= hp3_min_u64(owed, n);
	for (size_t at = 0; at < n; at += step)
		if (send(line, (const char *)what + at, hp3_min_u64(n - at, step), MSG_NOSIGNAL) <
			0)
			return;
}

/* n bytes of the input, or what is left of it. */
static size_t some_bytes(char *to, size_t n)
{
	size_t left = (size_t)(end - in);

	n = n < left ? n : left;
	memcpy(to, in, n);
	in += n;
	return n;
}

static size_t some_subject(char *to, size_t cap)
{
	static const char *const known[] = {"hp3.report.a", "hp3.report.", "hp3.keepalive",
		"hp3.plan", "hp3.ask", "h", "_INBOX.a.1"};
	uint8_t what = u8();

	if (what < 0x80)
		return (size_t)snprintf(to, cap, "%s", known[what % 7]);
	return some_bytes(to, what % (cap - 1));
}

static void message(void)
{
	static char text[MESSAGE + 600], payload[MESSAGE];
	char subject[128] = "", reply[128] = "";
	uint8_t sid = 1 + u8() % 5, how = u8();
	size_t n, said;
	int head;

	some_subject(subject, sizeof(subject));
	if (how & 1)
		some_subject(reply, sizeof(reply));
	n = some_bytes(payload, how & 2 ? u16() % MESSAGE : u8());
	said = how < 0xf0 ? n : u32();
	head = snprintf(text, sizeof(text), "MSG %s %u %s%s%zu\r\n", subject, sid, reply,
		how & 1 ? " " : "", said);
	memcpy(text + head, payload, n);
	memcpy(text + head + n, "\r\n", 2);
	say(text, (size_t)head + n + 2);
	if (said > n + 2 && owed == 0)
		owed = said - n - 2;
}

static void play(void)
{
	static const char *const lines[] = {"PING\r\n", "PONG\r\n", "+OK\r\n", "-ERR\r\n",
		"-ERR 'Authorization Violation'\r\n", "-ERR 'Permissions Violation'\r\n",
		"INFO {}\r\n", "INFO {\"max_payload\":1}\r\n", "HMSG hp3.plan 3 12 12\r\n"};
	char bytes[256];

	while (in < end) {
		uint8_t op = u8();

		if (op < 0xb0)
			message();
		else if (op < 0xe0)
			say(lines[op % 9], strlen(lines[op % 9]));
		else
			say(bytes, some_bytes(bytes, u8()));
	}
}

static void send_info(void)
{
	static const char info[] = "INFO {\"server_id\":\"F\",\"version\":\"2.9.0\",\"proto\":1,"
				   "\"headers\":true,\"max_payload\":1048576}\r\n";
	char bytes[256];
	size_t n;

	if (u8() < 0xe0) {
		say(info, strlen(info));
		return;
	}
	n = some_bytes(bytes, u8());
	say("INFO ", 5);
	say(bytes, n);
	say("\r\n", 2);
}

static void set_wait(unsigned ms)
{
	const struct timeval wait = {.tv_usec = ms * 1000};

	setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

/*
 * hp3-fleet answers requests in their order. "SUB hp3.ask GROUP SID" was heard. If a payload is not
 * complete, it is completed before, unless it is too long.
 */
static void ask_last(void)
{
	static char rest[MESSAGE];
	char text[96];
	unsigned sid = 0;

	if (owed != 0 && owed <= MESSAGE) {
		send(line, rest, owed, MSG_NOSIGNAL);
		send(line, "\r\n", 2, MSG_NOSIGNAL);
	}
	sscanf(strstr(heard, "SUB hp3.ask"), "SUB hp3.ask %*s %u", &sid);
	snprintf(text, sizeof(text), "MSG hp3.ask %u _INBOX.last 2\r\n{}\r\n", sid);
	send(line, text, strlen(text), MSG_NOSIGNAL);
}

/* Until it has taken all that was said, or the line has ended. */
static void serve_line(void)
{
	size_t from;

	send_info();
	if (!hear("PING", 0))
		return;
	say("PONG\r\n", 6);
	if (!hear("SUB hp3.ask", 0))
		return;
	play();
	from = n_heard;
	set_wait(SOON_MS);
	ask_last();
	hear("PUB _INBOX.last ", from);
	usleep(2000); /* threads of its other subscriptions hand messages over */
	hear_rest();
}

static void *serve(void *unused)
{
	static char rest[MESSAGE];
	const int on = 1;

	line = accept(listener, NULL, NULL);
	if (line >= 0) {
		set_wait(WAIT_MS);
		setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		serve_line();
		__atomic_store_n(&done, true, __ATOMIC_RELEASE);
		while (recv(line, rest, sizeof(rest), 0) >
			0) /* if it ends first, it does not reconnect */
			continue;
		close(line);
	}
	close(listener);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return unused;
}

/* --- what it published --- */

static bool is_subject(const char *subject, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(subject, name, n) == 0;
}

static void check_publication(const char *subject, size_t n, const char *payload)
{
	if (is_subject(subject, n, "hp3.keepalive") || is_subject(subject, n, "hp3.plan")) {
		MUST(*payload != '{');
		return;
	}
	MUST(n < 4 || memcmp(subject, "hp3.", 4) != 0);
	MUST(*payload == '{');
}

static void check_heard(void)
{
	const char *at = heard, *to = heard + n_heard, *eol;
	char subject[256];
	unsigned long len;

	while (at < to && (eol = memchr(at, '\n', (size_t)(to - at))) != NULL) {
		if (sscanf(at, "PUB %255s %lu", subject, &len) == 2 && eol + 1 + len < to) {
			check_publication(subject, strlen(subject), eol + 1);
			eol += len + 2;
		}
		at = eol + 1;
	}
}

static void listen_somewhere(char servers[HP3_INI_VALUE_MAX])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	MUST(listener >= 0 && bind(listener, (struct sockaddr *)&at, len) == 0 &&
		listen(listener, 1) == 0 &&
		getsockname(listener, (struct sockaddr *)&at, &len) == 0);
	snprintf(servers, HP3_INI_VALUE_MAX, "nats://127.0.0.1:%u", ntohs(at.sin_port));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fleet_config cfg = {
		.fleet = {.name = "p", .keepalive_ms = 5, .takeover_ms = 1},
		.plan = {.interval_ms = 5},
		.p = {.max_hosts = 4,
			.max_links = 24,
			.age_ms = 3000,
			.mark_permille = 10,
			.full_percent = 75,
			.improve_percent = 20,
			.moves = 4,
			.hold_ms = 1000,
			.valid_ms = 1,
			.period_ms = 1000,
			.alarm_marks = 500,
			.middle_periods = 3,
			.high_alarms = 5,
			.window_ms = 3000}};
	pthread_t server;
	char told[4096];
	FILE *own;
	int ret;

	in = data;
	end = data + size;
	n_heard = owed = 0;
	heard[0] = '\0';
	done = false;
	listen_somewhere(cfg.fleet.servers);
	MUST(pthread_create(&server, NULL, serve, NULL) == 0);
	own = fuzz_keep(&stderr, told, sizeof(told));
	ret = fleet_run(&cfg);
	MUST(ret == FLEET_DONE || ret == FLEET_FAILED); /* it is no server by its first words */
	fuzz_keep_end(&stderr, own);
	pthread_join(server, NULL);
	check_heard();
	return 0;
}
