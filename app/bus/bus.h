/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * NATS (core, no JetStream) for hp3-fleet and hp3d. The library libnats is loaded at run time. Only
 * programs that open a connection need libnats.
 *
 * libnats's threads maintain a connection. After an error, they try to reconnect without limit,
 * unless hp3_bus_is_refused() is true. Messages published while there is no connection are dropped,
 * because they would be outdated on arrival. A connection does not receive its own messages.
 * Subscribed functions run on a thread of libnats, one at a time for each subscription.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_BUS_RETRY_MS 500

struct hp3_bus;

struct hp3_bus_options {
	const char *servers; /* URLs, separated by commas */
	const char *name; /* name of this client, for the server's logs */
	/* In the next members, "" or NULL: none. */
	const char *credentials; /* file with a user's JWT and seed */
	const char *nkey, *nkey_seed; /* public key, and the file with its seed */
	const char *tls_ca, *tls_cert, *tls_key; /* files; with tls_ca or tls_cert: TLS only */
};

/*
 * Called for each message; `reply` is NULL if no answer is expected. Pointers are valid during the
 * call.
 */
typedef void hp3_bus_fn(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len);

/*
 * Opens a connection. If two attempts reach no server, returns a connection that is not up yet, and
 * libnats continues to try. An attempt takes 2 s for each server without a reply. NULL: `why` (of
 * `cap` bytes) has the reason and the fix.
 */
struct hp3_bus *hp3_bus_open(const struct hp3_bus_options *o, char *why, size_t cap);
/* Disconnects. When it returns, no subscribed function runs any more. */
void hp3_bus_close(struct hp3_bus *b);
bool hp3_bus_is_up(const struct hp3_bus *b);
/* Do the servers refuse this user, or does their TLS certificate fail the check? In both cases,
 * libnats stops trying. */
bool hp3_bus_is_refused(const struct hp3_bus *b);

/*
 * `group`: one member of the group gets each message; NULL: all subscribers get each message.
 * Returns 0 or -EIO.
 */
int hp3_bus_subscribe(
	struct hp3_bus *b, const char *subject, const char *group, hp3_bus_fn *fn, void *arg);
/* Number of messages dropped because the queue of a subscription was full. A queue is full at 32
 * MiB or 262,144 messages; the queue of a member of a group is full at 1,024 messages. */
uint64_t hp3_bus_dropped(const struct hp3_bus *b);
/* Returns 0; -ENOTCONN: not connected, so the message is dropped; -EIO. */
int hp3_bus_publish(struct hp3_bus *b, const char *subject, const void *data, size_t len);
/*
 * Sends a request, and passes the first answer to fn. Returns 0; -ETIMEDOUT; -ENOTCONN: not
 * connected, or no subscriber; -EIO.
 */
int hp3_bus_ask(struct hp3_bus *b, const char *subject, const void *data, size_t len,
	unsigned timeout_ms, hp3_bus_fn *fn, void *arg);
