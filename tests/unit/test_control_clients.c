/* SPDX-License-Identifier: BSD-3-Clause */
/* A listening socket and its clients: a client that keeps a connection and sends nothing locks no
 * other out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "app/control/clients.h"

#define COME (HP3D_CLIENTS_MAX + 2)

static struct hp3d_clients clients;
static int listener, peer[COME];

static int setup(void **state)
{
	const struct sockaddr_un nowhere = {.sun_family = AF_UNIX}; /* the kernel finds a name */
	struct sockaddr_un addr;
	socklen_t len = sizeof(addr);

	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&nowhere, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(listener, COME), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	for (unsigned i = 0; i < COME; i++) {
		peer[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(peer[i], (const struct sockaddr *)&addr, len), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	hp3d_clients_close(&clients);
	assert_int_equal(clients.n, 0);
	for (unsigned i = 0; i < COME; i++)
		close(peer[i]);
	close(listener);
	return 0;
}

static json_t *answer(void *arg, const char *line, size_t len)
{
	return json_object();
}

static void serve(uint64_t now_ms)
{
	for (unsigned i = clients.n; i-- > 0;)
		if (!hp3d_client_service(&clients.c[i], POLLIN, now_ms, answer, NULL))
			hp3d_clients_end(&clients, i);
}

static bool is_answered(unsigned i)
{
	char text[16];

	return recv(peer[i], text, sizeof(text), 0) == 3 && memcmp(text, "{}\n", 3) == 0;
}

static bool is_closed(unsigned i)
{
	char c;

	return recv(peer[i], &c, 1, 0) == 0;
}

static void those_that_ask_nothing_give_way(void **state)
{
	uint64_t idle = 1 + HP3D_PLACES_IDLE_MS;

	hp3d_clients_accept(&clients, listener, 1);
	assert_int_equal(clients.n, HP3D_CLIENTS_MAX);
	assert_int_equal(send(peer[0], "hi\n", 3, 0), 3);
	serve(1000);
	assert_true(is_answered(0));
	assert_int_equal(send(peer[COME - 1], "hi\n", 3, 0), 3);
	assert_false(hp3d_clients_open(&clients, idle - 1));
	hp3d_clients_accept(&clients, listener, idle - 1);
	serve(idle - 1);
	assert_false(is_answered(COME - 1));
	assert_true(hp3d_clients_open(&clients, idle));
	hp3d_clients_accept(&clients, listener, idle);
	serve(idle);
	assert_true(is_answered(COME - 1));
	assert_int_equal(clients.n, HP3D_CLIENTS_MAX);
	assert_false(is_closed(0)); /* it has asked since */
	assert_true(is_closed(1));
}

static void places_of_those_that_left(void **state)
{
	hp3d_clients_accept(&clients, listener, 1);
	close(peer[3]);
	serve(2);
	assert_int_equal(clients.n, HP3D_CLIENTS_MAX - 1);
	assert_true(hp3d_clients_open(&clients, 2));
	assert_int_equal(send(peer[HP3D_CLIENTS_MAX], "hi\n", 3, 0), 3);
	assert_int_equal(send(peer[HP3D_CLIENTS_MAX - 1], "hi\n", 3, 0), 3);
	hp3d_clients_accept(&clients, listener, 2);
	serve(3);
	assert_true(is_answered(HP3D_CLIENTS_MAX));
	assert_true(
		is_answered(HP3D_CLIENTS_MAX - 1)); /* which took the place of the one that left */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_ask_nothing_give_way, setup, teardown),
		cmocka_unit_test_setup_teardown(places_of_those_that_left, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
