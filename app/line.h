/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The client's end of a control socket of hp3d: each request and each answer is one line of JSON.
 * All strings of an answer are plain text (plain_json.h).
 */
#include <jansson.h>
#include <signal.h>
#include <stddef.h>

struct hp3_line {
	int fd; /* -1: not connected */
	const volatile sig_atomic_t *stop; /* not 0: stop waiting for an answer; NULL: none */
	char *buf; /* bytes received after the last answer */
	size_t len, cap;
};

/*
 * The next functions return 0 or a negative errno. -EAGAIN: hp3d did not send or receive for
 * `wait_s` seconds (0: there is no limit). -ENODATA: hp3d closed the connection. -EBADMSG: the
 * answer is not a JSON object, or is longer than 64 MiB. -EINTR: *stop was set. Call
 * hp3_line_close() even after errors.
 */
int hp3_line_connect(struct hp3_line *l, const char *path, int wait_s);
int hp3_line_send(struct hp3_line *l, const json_t *req);
int hp3_line_receive(struct hp3_line *l, json_t **answer);
/* Disconnects, and frees the received bytes. Does nothing if not connected. */
void hp3_line_close(struct hp3_line *l);
