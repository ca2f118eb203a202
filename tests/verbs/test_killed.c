/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d is killed in each state of a move, while the application goes on. Its queue pair pauses no
 * longer than outstanding work takes, plus BOUND (docs/internals/verbs.md).
 */
#include "tests/verbs/fabric.h"
#include "tests/verbs/rig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define OTHER     0xd004
#define MS        UINT64_C(1000000)
#define DELAY_NS  (5 * MS) /* until a work request is acknowledged */
#define RESEND_NS (20 * MS) /* the fake's time-out */
#define BOUND_NS  (50 * MS)
#define WAIT_US   1000000u /* hp3d's own patience: nobody may have to wait for it */
#define WINDOW    8u
#define TRIES     4 /* who is late himself has measured nothing */

enum state {
	CONNECTED,
	SENT_SUSPEND, /* and has not rung */
	DRAINING,
	DRAINED,
	SENT_MOVE,
	MOVED,
	SENT_RESUME,
	SENT_LEAVE, /* off a dead path, and has not rung */
	STATES
};
static const char *const names[STATES] = {
	"connected", "suspend", "draining", "drained", "moving", "moved", "resuming", "leaving"};

static uint32_t *paths;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* A port by another path than the one in use. */
static uint16_t port_for(const struct app *a)
{
	return (uint16_t)(0xd000 + (a->fake->port + 1) % FABRIC_PATHS);
}

/* Written where the library looks for it, without a bell: killed in between. */
static void write_want(
	struct hp3d *h, struct hp3_verbs_cell *c, enum hp3_verbs_op op, uint16_t port)
{
	__atomic_store_n(&c->want, hp3_verbs_pack(c->generation, ++h->seq, (uint8_t)op, port),
		__ATOMIC_RELEASE);
}

/* An hp3d that gets so far, says so, and is killed. */
static void get_to(enum state state, uint32_t qpn, uint16_t port, int said)
{
	struct hp3_verbs_cell *c;
	struct hp3d h;

	hp3d_start(&h, WAIT_US, WAIT_US);
	c = hp3d_cell(&h, qpn, HP3_VERBS_RTS);
	rig_sleep_us(10000); /* the library has looked at all that it shares, and waits */
	if (state == DRAINING)
		hp3d_want(&h, c, HP3_VERBS_SUSPEND, 0);
	else if (state >= DRAINED && state <= SENT_RESUME)
		hp3d_do(&h, c, HP3_VERBS_SUSPEND, 0, NULL);
	if (state == SENT_SUSPEND)
		write_want(&h, c, HP3_VERBS_SUSPEND, 0);
	else if (state == SENT_MOVE)
		write_want(&h, c, HP3_VERBS_MOVE, port);
	else if (state == SENT_RESUME)
		write_want(&h, c, HP3_VERBS_RESUME, 0);
	else if (state == SENT_LEAVE)
		write_want(&h, c, HP3_VERBS_MOVE_NOW, port);
	else if (state == MOVED)
		hp3d_do(&h, c, HP3_VERBS_MOVE, port, NULL);
	if (write(said, "x", 1) == 1)
		pause();
	_exit(0);
}

struct pace {
	uint64_t last, longest; /* something completed; pause between two such times */
};

/* Posts and polls for `ns`, or until something can be read. */
static void go_on(struct app *a, struct pace *p, uint64_t ns, int fd)
{
	struct pollfd in = {fd, POLLIN, 0};

	for (uint64_t end = now_ns() + ns; now_ns() < end && poll(&in, fd >= 0, 0) == 0;) {
		uint64_t before = a->polled, now;

		while (a->posted - a->polled < WINDOW && app_post(a, 1, 1) == 0)
			;
		app_poll(a);
		now = now_ns();
		if (now - p->last > p->longest)
			p->longest = now - p->last;
		if (a->polled != before)
			p->last = now;
		rig_sleep_us(50);
	}
}

static void kill_it(pid_t child, const int said[2])
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(said[0]);
	close(said[1]);
}

/* The longest pause from where hp3d is killed on. */
static uint64_t pause_of(struct app *a, enum state state)
{
	struct pace p = {now_ns(), 0};
	uint16_t port = port_for(a);
	int said[2];
	pid_t child;

	go_on(a, &p, 2 * DELAY_NS, -1); /* something has completed */
	assert_int_equal(pipe(said), 0);
	child = fork();
	if (child == 0)
		get_to(state, a->qp->qp_num, port, said[1]);
	if (state == SENT_LEAVE)
		paths[a->fake->port % FABRIC_PATHS] = FABRIC_DEAD;
	go_on(a, &p, 5000 * MS, said[0]);
	kill_it(child, said);
	p = (struct pace){now_ns(), 0};
	go_on(a, &p, 10 * (DELAY_NS + BOUND_NS), -1);
	return p.longest;
}

/* Drained, and then as long until the first one after that has come back. */
static uint64_t bound_of(enum state state)
{
	return 2 * DELAY_NS + (state == SENT_LEAVE ? RESEND_NS : 0) + BOUND_NS;
}

static void kill_in(enum provider provider, enum state state)
{
	uint64_t longest = UINT64_MAX;

	for (int i = 0; i < TRIES && longest > bound_of(state); i++) {
		struct app a;

		app_start(&a, provider, NULL);
		a.device->faults.delay_ns = DELAY_NS;
		longest = pause_of(&a, state);
		for (unsigned path = 0; path < FABRIC_PATHS; path++)
			paths[path] = 0;
		app_finish(&a);
		app_check_order(&a);
		assert_int_equal(a.polled, a.posted);
		assert_int_equal(a.errors, 0);
		assert_int_equal(a.qp->state, IBV_QPS_RTS);
		app_stop(&a);
	}
	print_message("%d %-10s paused %5.1f ms\n", provider, names[state], longest / 1e6);
	assert_in_range(longest, 0, bound_of(state));
}

static void test_pauses_are_short(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++)
		for (enum state s = CONNECTED; s < STATES; s++)
			kill_in(p, s);
}

/* What the last one had said and nobody heard is no report of the next one's. */
static void test_old_commands_are_void(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct hp3d h;
		struct app a;

		app_start(&a, p, NULL);
		pause_of(&a, SENT_SUSPEND);
		hp3d_start(&h, WAIT_US, WAIT_US);
		c = hp3d_cell(&h, a.qp->qp_num, HP3_VERBS_RTS);
		rig_sleep_us(20000);
		assert_int_not_equal(
			hp3_verbs_unpack_code(__atomic_load_n(&c->did, __ATOMIC_ACQUIRE)),
			HP3_VERBS_DRAINED);
		app_finish(&a);
		assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, OTHER, NULL), HP3_VERBS_MOVED);
		app_post(&a, 4, 1);
		app_finish(&a);
		app_check_order(&a);
		app_stop(&a);
		hp3d_stop(&h);
	}
}

static int start(void **state)
{
	char directory[] = "/tmp/hp3-killed-XXXXXX", path[200];
	int fd;

	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/paths", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, FABRIC_PATHS * sizeof(*paths)) != 0)
		return -1;
	paths = mmap(
		NULL, FABRIC_PATHS * sizeof(*paths), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	setenv("HP3_FAKE_FABRIC", directory, 1);
	rig_load();
	return paths == MAP_FAILED ? -1 : 0;
}

static int end(void **state)
{
	const char *directory = getenv("HP3_FAKE_FABRIC");
	char path[200];

	snprintf(path, sizeof(path), "%s/paths", directory);
	unlink(path);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses_are_short),
		cmocka_unit_test(test_old_commands_are_void),
	};

	return cmocka_run_group_tests(tests, start, end);
}
