/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_BUS_H
#define HP3_APP_BUS_H
/*
 * NATS (core, no JetStream) for hp3-fleet and hp3d. libnats is loaded at run time, so that neither
 * needs it to be installed before it is asked for; what it can be told of servers and credentials
 * is in hp3_bus_options.
 *
 * A connection is kept up by libnats's own threads: servers that are away, or go away, are tried
 * again without end, and whatever is published meanwhile is dropped, for it would be old. What a
 * connection publishes does not come back to it. Functions that were subscribed run on a thread of
 * libnats, one at a time for each subscription.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_BUS_RETRY_MS 500

struct hp3_bus;

struct hp3_bus_options {
	const char *servers; /* URLs by comma */
	const char *name; /* told to the server, for its logs */
	/* "" or NULL: without */
	const char *credentials; /* file with a user's JWT and seed */
	const char *nkey, *nkey_seed; /* public key, and the file with its seed */
	const char *tls_ca, *tls_cert, *tls_key; /* files; any of them: TLS only */
};

/* A message; reply is NULL where no answer is wanted. Nothing of it outlives the call. */
typedef void hp3_bus_fn(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len);

/*
 * Returns after one attempt where no server answers (2 s for each that is silent), and goes on
 * trying. NULL: *why (of `cap` bytes) says what is wrong and what to do about it.
 */
struct hp3_bus *hp3_bus_open(const struct hp3_bus_options *o, char *why, size_t cap);
/* After it none of the functions that were subscribed runs any more. */
void hp3_bus_close(struct hp3_bus *b);
bool hp3_bus_is_up(const struct hp3_bus *b);
/* The servers refuse this user, or do not show who they are (TLS): libnats tries no more. */
bool hp3_bus_is_refused(const struct hp3_bus *b);

/* `group`: one of its members gets each message; NULL: all do. 0, or -EIO. */
int hp3_bus_subscribe(
	struct hp3_bus *b, const char *subject, const char *group, hp3_bus_fn *fn, void *arg);
/* Messages that found no room before they were read: 32 MiB for each subscription, 1,024 messages
 * for a member of a group. */
uint64_t hp3_bus_dropped(const struct hp3_bus *b);
/* 0; -ENOTCONN: dropped; -EIO. */
int hp3_bus_publish(struct hp3_bus *b, const char *subject, const void *data, size_t len);
/* Asks, and hands the first answer to fn. 0; -ETIMEDOUT; -ENOTCONN: nobody is there; -EIO. */
int hp3_bus_ask(struct hp3_bus *b, const char *subject, const void *data, size_t len,
	unsigned timeout_ms, hp3_bus_fn *fn, void *arg);

#endif
