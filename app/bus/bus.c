/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bus/bus.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <nats/nats.h>
#include <semaphore.h>
#include "base/urls.h"

#define LIBRARY     "libnats.so.3.4"
#define PACKAGE     "libnats3.4"
#define SERVERS_MAX 16
#define SUBS_MAX    8
#define PING_MS     2000 /* between pings; after three without a reply, the server counts as gone */
#define CONNECT_MS  2000
#define SIGNED      3 /* attempts to connect with a signature */
#define PENDING     262144 /* messages waiting in a subscription */
#define PENDING_MAX (32 * 1024 * 1024) /* their bytes */
#define QUESTIONS   1024 /* messages waiting for a member of a group: answered within seconds */

/* The functions of libnats in use. */
#define CALLS(X)                                                                                   \
	X(nats_GetLastError)                                                                       \
	X(natsStatus_GetText)                                                                      \
	X(natsOptions_Create)                                                                      \
	X(natsOptions_Destroy)                                                                     \
	X(natsOptions_SetServers)                                                                  \
	X(natsOptions_SetName)                                                                     \
	X(natsOptions_SetTimeout)                                                                  \
	X(natsOptions_SetPingInterval)                                                             \
	X(natsOptions_SetMaxReconnect)                                                             \
	X(natsOptions_SetReconnectWait)                                                            \
	X(natsOptions_SetRetryOnFailedConnect)                                                     \
	X(natsOptions_SetNoEcho)                                                                   \
	X(natsOptions_SetErrorHandler)                                                             \
	X(natsOptions_SetUserCredentialsFromFiles)                                                 \
	X(natsOptions_SetNKeyFromSeed)                                                             \
	X(natsOptions_SetSecure)                                                                   \
	X(natsOptions_LoadCATrustedCertificates)                                                   \
	X(natsOptions_LoadCertificatesChain)                                                       \
	X(natsConnection_Connect)                                                                  \
	X(natsConnection_Close)                                                                    \
	X(natsConnection_Destroy)                                                                  \
	X(natsConnection_Status)                                                                   \
	X(natsConnection_Publish)                                                                  \
	X(natsConnection_Request)                                                                  \
	X(natsConnection_Subscribe)                                                                \
	X(natsConnection_QueueSubscribe)                                                           \
	X(natsSubscription_SetPendingLimits)                                                       \
	X(natsSubscription_GetDropped)                                                             \
	X(natsSubscription_SetOnCompleteCB)                                                        \
	X(natsSubscription_Destroy)                                                                \
	X(natsMsg_GetSubject)                                                                      \
	X(natsMsg_GetReply)                                                                        \
	X(natsMsg_GetData)                                                                         \
	X(natsMsg_GetDataLength)                                                                   \
	X(natsMsg_Destroy)

static struct {
#define X(name) __typeof__(&name) name;
	CALLS(X)
#undef X
	void *library;
} nats;

struct subscription {
	natsSubscription *sub;
	hp3_bus_fn *fn;
	void *arg;
	bool waits; /* hp3_bus_close() waits for `complete` */
	sem_t complete; /* the subscription is closed, and `fn` has returned */
};

struct hp3_bus {
	natsConnection *connection;
	struct subscription sub[SUBS_MAX];
	unsigned n_subs;
};

static bool load_library(char *why, size_t cap)
{
	if (nats.library != NULL)
		return true;
	nats.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (nats.library == NULL) {
		snprintf(why, cap, LIBRARY " is not here: install " PACKAGE);
		return false;
	}
#define X(name)                                                                                    \
	nats.name = (__typeof__(&name))dlsym(nats.library, #name);                                 \
	if (nats.name == NULL) {                                                                   \
		snprintf(why, cap, LIBRARY " has no " #name ": install " PACKAGE);                 \
		dlclose(nats.library);                                                             \
		nats.library = NULL;                                                               \
		return false;                                                                      \
	}
	CALLS(X)
#undef X
	return true;
}

static bool is_given(const char *text)
{
	return text != NULL && *text != '\0';
}

static natsStatus set_servers(natsOptions *o, const char *servers)
{
	char text[1024], *save, *url;
	const char *list[SERVERS_MAX];
	int n = 0;

	snprintf(text, sizeof(text), "%s", servers);
	for (url = strtok_r(text, ", ", &save); url != NULL && n < SERVERS_MAX;
		url = strtok_r(NULL, ", ", &save))
		list[n++] = url;
	return nats.natsOptions_SetServers(o, list, n);
}

static natsStatus set_tls(natsOptions *o, const struct hp3_bus_options *b)
{
	natsStatus s = NATS_OK;

	if (is_given(b->tls_ca) || is_given(b->tls_cert))
		s = nats.natsOptions_SetSecure(o, true);
	if (s == NATS_OK && is_given(b->tls_ca))
		s = nats.natsOptions_LoadCATrustedCertificates(o, b->tls_ca);
	if (s == NATS_OK && is_given(b->tls_cert))
		s = nats.natsOptions_LoadCertificatesChain(o, b->tls_cert, b->tls_key);
	return s;
}

/*
 * With this callback, connecting returns if no server answers, and continues in a thread of
 * libnats.
 */
static void on_connected(natsConnection *c, void *arg)
{
}

/* Without this callback, libnats prints errors of permissions and of slow subscribers. */
static void ignore_error(natsConnection *c, natsSubscription *s, natsStatus err, void *arg)
{
}

static natsStatus set_options(natsOptions *o, const struct hp3_bus_options *b)
{
	natsStatus s = set_servers(o, b->servers);

	if (s == NATS_OK && is_given(b->name))
		s = nats.natsOptions_SetName(o, b->name);
	if (s == NATS_OK)
		s = nats.natsOptions_SetTimeout(o, CONNECT_MS);
	if (s == NATS_OK)
		s = nats.natsOptions_SetPingInterval(o, PING_MS);
	if (s == NATS_OK)
		s = nats.natsOptions_SetMaxReconnect(o, -1);
	if (s == NATS_OK)
		s = nats.natsOptions_SetReconnectWait(o, HP3_BUS_RETRY_MS);
	if (s == NATS_OK)
		s = nats.natsOptions_SetNoEcho(o, true);
	if (s == NATS_OK)
		s = nats.natsOptions_SetErrorHandler(o, ignore_error, NULL);
	if (s == NATS_OK && is_given(b->credentials))
		s = nats.natsOptions_SetUserCredentialsFromFiles(o, b->credentials, NULL);
	if (s == NATS_OK && is_given(b->nkey))
		s = nats.natsOptions_SetNKeyFromSeed(o, b->nkey, b->nkey_seed);
	return s == NATS_OK ? set_tls(o, b) : s;
}

/*
 * Connects at once if a server answers, otherwise later in a thread of libnats. One signature in
 * 256 begins with a zero byte. Then libnats sends no signature (nats.c 3.4.1, _base64Encode), and
 * servers refuse the connection. A new connection has another nonce, so its signature is another
 * one.
 */
static natsStatus connect_now_or_later(
	natsConnection **c, natsOptions *o, const struct hp3_bus_options *b)
{
	const bool signs = is_given(b->nkey) || is_given(b->credentials);
	natsStatus s = NATS_CONNECTION_AUTH_FAILED;

	for (unsigned i = 0; s == NATS_CONNECTION_AUTH_FAILED && i < (signs ? SIGNED : 1); i++)
		s = nats.natsConnection_Connect(c, o);
	if (s == NATS_OK)
		return s;
	s = nats.natsOptions_SetRetryOnFailedConnect(o, true, on_connected, NULL);
	return s == NATS_OK ? nats.natsConnection_Connect(c, o) : s;
}

struct hp3_bus *hp3_bus_open(const struct hp3_bus_options *o, char *why, size_t cap)
{
	struct hp3_bus *b = load_library(why, cap) ? calloc(1, sizeof(*b)) : NULL;
	char text[512], masked[512];
	natsOptions *options = NULL;
	natsStatus s;

	if (b == NULL)
		return NULL;
	s = nats.natsOptions_Create(&options);
	if (s == NATS_OK)
		s = set_options(options, o);
	if (s == NATS_OK)
		s = connect_now_or_later(&b->connection, options, o);
	nats.natsOptions_Destroy(options);
	if (s == NATS_OK || s == NATS_NOT_YET_CONNECTED)
		return b;
	snprintf(text, sizeof(text), "%s: %s", o->servers,
		nats.nats_GetLastError(NULL) != NULL ? nats.nats_GetLastError(NULL)
						     : nats.natsStatus_GetText(s));
	snprintf(why, cap, "%s; see servers=, credentials and files of [fleet]",
		hp3_urls_shown(text, masked, sizeof(masked)));
	free(b);
	return NULL;
}

void hp3_bus_close(struct hp3_bus *b)
{
	if (b == NULL)
		return;
	nats.natsConnection_Close(b->connection);
	for (unsigned i = 0; i < b->n_subs; i++) {
		while (b->sub[i].waits && sem_wait(&b->sub[i].complete) < 0 && errno == EINTR)
			;
		nats.natsSubscription_Destroy(b->sub[i].sub);
		sem_destroy(&b->sub[i].complete);
	}
	nats.natsConnection_Destroy(b->connection);
	free(b);
}

bool hp3_bus_is_up(const struct hp3_bus *b)
{
	return nats.natsConnection_Status(b->connection) == NATS_CONN_STATUS_CONNECTED;
}

bool hp3_bus_is_refused(const struct hp3_bus *b)
{
	return nats.natsConnection_Status(b->connection) == NATS_CONN_STATUS_CLOSED;
}

static void hand_over(hp3_bus_fn *fn, void *arg, natsMsg *m)
{
	fn(arg, nats.natsMsg_GetSubject(m), nats.natsMsg_GetReply(m),
		(const uint8_t *)nats.natsMsg_GetData(m), (size_t)nats.natsMsg_GetDataLength(m));
	nats.natsMsg_Destroy(m);
}

static void on_message(natsConnection *c, natsSubscription *sub, natsMsg *m, void *arg)
{
	const struct subscription *s = arg;

	hand_over(s->fn, s->arg, m);
}

static void on_complete(void *arg)
{
	struct subscription *s = arg;

	sem_post(&s->complete);
}

int hp3_bus_subscribe(
	struct hp3_bus *b, const char *subject, const char *group, hp3_bus_fn *fn, void *arg)
{
	struct subscription *s = &b->sub[b->n_subs];
	natsStatus ret;

	if (b->n_subs == SUBS_MAX)
		return -EIO;
	*s = (struct subscription){.fn = fn, .arg = arg};
	if (group != NULL)
		ret = nats.natsConnection_QueueSubscribe(
			&s->sub, b->connection, subject, group, on_message, s);
	else
		ret = nats.natsConnection_Subscribe(&s->sub, b->connection, subject, on_message, s);
	if (ret != NATS_OK)
		return -EIO;
	sem_init(&s->complete, 0, 0);
	/* fails if the connection was closed meanwhile */
	s->waits = nats.natsSubscription_SetOnCompleteCB(s->sub, on_complete, s) == NATS_OK;
	nats.natsSubscription_SetPendingLimits(
		s->sub, group != NULL ? QUESTIONS : PENDING, PENDING_MAX);
	b->n_subs++;
	return 0;
}

uint64_t hp3_bus_dropped(const struct hp3_bus *b)
{
	uint64_t all = 0;
	int64_t n;

	for (unsigned i = 0; i < b->n_subs; i++)
		if (nats.natsSubscription_GetDropped(b->sub[i].sub, &n) == NATS_OK)
			all += (uint64_t)n;
	return all;
}

int hp3_bus_publish(struct hp3_bus *b, const char *subject, const void *data, size_t len)
{
	if (!hp3_bus_is_up(b))
		return -ENOTCONN;
	return nats.natsConnection_Publish(b->connection, subject, data, (int)len) == NATS_OK
		       ? 0
		       : -EIO;
}

int hp3_bus_ask(struct hp3_bus *b, const char *subject, const void *data, size_t len,
	unsigned timeout_ms, hp3_bus_fn *fn, void *arg)
{
	natsMsg *m = NULL;
	natsStatus s;

	if (!hp3_bus_is_up(b))
		return -ENOTCONN;
	s = nats.natsConnection_Request(
		&m, b->connection, subject, data, (int)len, (int64_t)timeout_ms);
	if (s != NATS_OK)
		return s == NATS_TIMEOUT ? -ETIMEDOUT : s == NATS_NO_RESPONDERS ? -ENOTCONN : -EIO;
	hand_over(fn, arg, m);
	return 0;
}
