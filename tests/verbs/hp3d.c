/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d's end, for tests. */
#include "tests/verbs/rig.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void take_hello(struct hp3d *h)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec iov = {&h->hello, sizeof(h->hello)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fds[2];

	assert_int_equal(recvmsg(h->connection, &m, 0), sizeof(h->hello));
	memcpy(fds, CMSG_DATA(&control.header), sizeof(fds));
	h->cells = mmap(NULL, h->hello.cells * sizeof(*h->cells), PROT_READ | PROT_WRITE,
		MAP_SHARED, fds[0], 0);
	assert_true(h->cells != MAP_FAILED);
	close(fds[0]);
	h->bell = fds[1];
}

void hp3d_start(struct hp3d *h, uint32_t drain_us, uint32_t hold_us)
{
	hp3d_start_placing(h, drain_us, hold_us, 0);
}

void hp3d_start_placing(struct hp3d *h, uint32_t drain_us, uint32_t hold_us, uint32_t place_us)
{
	struct hp3_verbs_welcome w = {
		HP3_VERBS_MAGIC, HP3_VERBS_VERSION, 1, drain_us, hold_us, place_us};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct pollfd p;

	memset(h, 0, sizeof(*h));
	h->seq = (uint16_t)(getpid() * 7 + clock());
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", getenv("HP3_VERBS_SOCKET"));
	unlink(at.sun_path);
	h->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(h->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(h->listener, 4), 0);
	p = (struct pollfd){h->listener, POLLIN, 0};
	assert_int_equal(poll(&p, 1, 60000), 1); /* a busy machine takes seconds */
	h->connection = accept(h->listener, NULL, NULL);
	take_hello(h);
	assert_int_equal(send(h->connection, &w, sizeof(w), MSG_NOSIGNAL), sizeof(w));
}

void hp3d_stop(struct hp3d *h)
{
	close(h->connection);
	close(h->listener);
	close(h->bell);
	munmap(h->cells, h->hello.cells * sizeof(*h->cells));
}

struct hp3_verbs_cell *hp3d_cell(struct hp3d *h, uint32_t qpn, enum hp3_verbs_state state)
{
	for (int tries = 0; tries < 4000; tries++) {
		for (uint32_t i = 0; i < h->hello.cells; i++) {
			struct hp3_verbs_cell *c = &h->cells[i];

			if (__atomic_load_n(&c->qpn, __ATOMIC_ACQUIRE) == qpn && c->state == state)
				return c;
		}
		rig_sleep_us(500);
	}
	return NULL;
}

void hp3d_want(struct hp3d *h, struct hp3_verbs_cell *c, enum hp3_verbs_op op, uint16_t port)
{
	__atomic_store_n(&c->want, hp3_verbs_pack(c->generation, ++h->seq, (uint8_t)op, port),
		__ATOMIC_RELEASE);
	assert_int_equal(send(h->connection, "", 1, MSG_NOSIGNAL), 1);
}

enum hp3_verbs_did hp3d_answer(struct hp3d *h, struct hp3_verbs_cell *c, int *detail)
{
	for (int tries = 0; tries < 25000; tries++) {
		uint64_t did = __atomic_load_n(&c->did, __ATOMIC_ACQUIRE);

		if (hp3_verbs_unpack_seq(did) == h->seq && hp3_verbs_unpack_code(did) != 0) {
			if (detail != NULL)
				*detail = hp3_verbs_unpack_detail(did);
			return hp3_verbs_unpack_code(did);
		}
		rig_sleep_us(200);
	}
	return 0;
}

enum hp3_verbs_did hp3d_after_drained(struct hp3d *h, struct hp3_verbs_cell *c, int *detail)
{
	enum hp3_verbs_did did;

	for (int tries = 0; tries < 20000; tries++) {
		did = hp3d_answer(h, c, detail);
		if (did != HP3_VERBS_DRAINED)
			return did;
		rig_sleep_us(200);
	}
	return 0;
}

enum hp3_verbs_did hp3d_do(
	struct hp3d *h, struct hp3_verbs_cell *c, enum hp3_verbs_op op, uint16_t port, int *detail)
{
	hp3d_want(h, c, op, port);
	return hp3d_answer(h, c, detail);
}
