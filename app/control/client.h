/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One client of the control socket: reads request lines, passes each to the answering function, and
 * writes the answers in order.
 *
 * Bounds for every client: a line has at most HP3D_LINE_MAX bytes (a longer line gets an error and
 * ends the connection). While HP3D_OUT_HIGH bytes of answers wait, no request is read. A client
 * that reads no answer for HP3D_STALL_MS is disconnected. A call answers at most
 * HP3D_LINES_PER_CALL requests.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HP3D_LINE_MAX       65536u
#define HP3D_OUT_HIGH       262144u
#define HP3D_STALL_MS       10000u
#define HP3D_LINES_PER_CALL 64u

struct hp3d_client {
	int fd;
	char *in; /* HP3D_LINE_MAX bytes */
	char *out; /* grows to HP3D_OUT_HIGH and one answer */
	size_t in_len, out_off, out_len, out_cap;
	bool eof; /* the peer sends no more */
	bool closing; /* no more requests: flush, then close */
	uid_t uid; /* user of the client */
	bool guest; /* uid is neither root's nor this process's */
	/* when the latest request was answered; before the first one, when the client connected */
	uint64_t asked_ms;
	uint64_t stalled_ms; /* since when the client reads no answer; 0: it reads answers */
};

/* The answer to one request line without its '\n'; NULL: no memory, which ends the connection. */
typedef json_t *(*hp3d_answer_fn)(void *arg, const char *line, size_t len);

/* Takes over a non-blocking socket. Returns 0, or -ENOMEM: the caller still owns fd. now_ms: as for
 * hp3d_client_service(). */
int hp3d_client_open(struct hp3d_client *c, int fd, uint64_t now_ms);
void hp3d_client_close(struct hp3d_client *c);

short hp3d_client_wants(const struct hp3d_client *c); /* events for poll() */
/* True: a whole request has been read, so do not sleep. */
bool hp3d_client_ready(const struct hp3d_client *c);

/*
 * Reads, answers, writes. `revents`: from poll(). now_ms: monotonic, and above 0. False: close the
 * client.
 */
bool hp3d_client_service(
	struct hp3d_client *c, short revents, uint64_t now_ms, hp3d_answer_fn answer, void *arg);
