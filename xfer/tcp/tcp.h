/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The provider on TCP: a rail is an address of an interface, an endpoint is one TCP connection
 * between the addresses of two rails. Data go straight from and into registered memory.
 *
 * Each rail listens on its address, on a port that the kernel chose. The description of an endpoint
 * has this address and port, and a secret of 16 bytes. Of two endpoints, the one with the lesser
 * secret connects. Both ends then send a greeting with both secrets, so a connection from anybody
 * else is closed before it has any effect.
 *
 * On a connection, each request is answered in order. So an answer needs no name: it belongs to the
 * oldest request without an answer. The token is sent for a check only.
 */
#include <netinet/in.h>
#include <sys/queue.h>
#include <sys/uio.h>
#include "xfer/provider.h"

#define SECRET       16u
#define STAGED       16u /* frames that are passed to the kernel at a time */
#define GUESTS       32u /* connections that have not sent their greeting */
#define GREETING_MS  3000u /* within which a greeting must arrive */
#define FRAME        sizeof(struct frame)
#define BUCKETS      256u /* of keys of memory */
#define MOST_RECEIVE (4u << 20) /* bytes of one connection before the next one has its turn */

enum frame_kind {
	FRAME_WRITE, /* and data */
	FRAME_READ,
	FRAME_PROBE,
	FRAME_ANSWER, /* to WRITE and PROBE */
	FRAME_DATA, /* answer to READ, and data unless refused */
};

/* All fields little-endian. */
struct frame {
	uint8_t kind, has_imm, refused, reserved;
	uint32_t length, key, imm;
	uint64_t address, token;
};

struct greeting {
	char magic[8];
	uint8_t to[SECRET], from[SECRET]; /* secrets of the receiver and of the sender */
};

#define MAGIC "hp3x-t1"

/* First member of all that epoll reports. */
struct source {
	enum source_kind {
		SOURCE_LISTENER,
		SOURCE_GUEST,
		SOURCE_ENDPOINT,
		SOURCE_WAKE,
		SOURCE_NETLINK
	} kind;
	int fd;
};

struct rail {
	struct source listener;
	struct sockaddr_storage address; /* with the port of the listener */
	char name[HP3X_RAIL_NAME], interface[HP3X_RAIL_NAME];
	bool up, change; /* change: an event is due */
};

struct guest {
	struct source source; /* fd -1: free */
	uint32_t have;
	uint64_t since;
	struct greeting greeting;
};

struct hp3x_memory {
	LIST_ENTRY(hp3x_memory) next;
	uint8_t *base;
	uint64_t length;
	uint32_t key;
};

struct answer {
	uint8_t kind;
	bool refused;
	uint32_t length;
	uint64_t token;
	struct hp3x_memory *memory; /* DATA */
	const uint8_t *data;
};

struct staged {
	struct frame frame;
	const uint8_t *data;
	size_t length; /* of data */
	struct hp3x_memory *memory; /* of data of an answer */
};

struct hp3x_endpoint {
	struct source source;
	struct hp3x_rails *rails;
	struct hp3x_place place;
	LIST_ENTRY(hp3x_endpoint) all;
	TAILQ_ENTRY(hp3x_endpoint) report, flush, again;
	uint8_t own[SECRET], other[SECRET];
	enum endpoint_state {
		ENDPOINT_OPEN, /* knows only itself */
		ENDPOINT_WAITING, /* for the other end's connection */
		ENDPOINT_CONNECTING, /* TCP */
		ENDPOINT_GREETING, /* has sent its greeting, waits for that of the other end */
		ENDPOINT_UP,
		ENDPOINT_FAILED,
		ENDPOINT_SHUT,
	} state;
	bool knows_other, has_other; /* by endpoint_connect(); by a greeting */
	bool reporting, flushing, unread; /* in these lists of `rails` */
	bool blocked; /* the kernel takes no bytes now */
	bool say_connected, say_failed, say_success;

	/* Requests of this end: done <= staged <= added; answers are due for done to staged. */
	struct hp3x_post post[HP3X_POSTS];
	uint64_t posts_added, posts_staged, posts_done;
	/* Answers to the other end. */
	struct answer answer[HP3X_POSTS];
	uint64_t answers_added, answers_staged;
	struct staged staged[STAGED];
	uint32_t n_staged, first_staged;
	size_t sent; /* bytes of the first staged frame */

	/* The frame that arrives. */
	struct frame in, ahead; /* ahead: of the next frame, read with the data of this one */
	uint32_t have; /* bytes of `in` */
	uint64_t left; /* bytes of its data that have not arrived */
	uint8_t *into; /* where they go; NULL: nowhere */
	struct hp3x_memory *memory; /* where `into` is, for a WRITE */
	bool sealed; /* a write was refused: so are all after it */
	struct greeting greeting;
};

TAILQ_HEAD(endpoints, hp3x_endpoint);

struct hp3x_rails {
	int epoll;
	struct source wake, netlink;
	uint32_t n_rails;
	struct rail rail[HP3X_RAILS];
	struct guest guest[GUESTS];
	LIST_HEAD(, hp3x_endpoint) all;
	struct endpoints report, flush, unread;
	LIST_HEAD(bucket, hp3x_memory) bucket[BUCKETS];
};

/* Where rails_poll() puts events. */
struct report {
	struct hp3x_event *event;
	int n, most;
};

/* --- rails.c --- */

int hp3x_tcp_rails_open(const char *const *names, uint32_t n_names, struct hp3x_rails **rails);
void hp3x_tcp_rails_close(struct hp3x_rails *rails);
int hp3x_tcp_watch(struct hp3x_rails *rails, struct source *source, uint32_t events);
/* Reads what the kernel says of links and addresses. */
void hp3x_tcp_links_changed(struct hp3x_rails *rails);

/* --- find.c --- */

/* Fills rails->rail with the rails of these names. */
int hp3x_tcp_rails_find(struct hp3x_rails *rails, const char *const *names, uint32_t n_names);
/* True: the interface of the rail runs, and has the rail's address. */
bool hp3x_tcp_rail_runs(const struct rail *rail);
void hp3x_tcp_address_text(const struct sockaddr_storage *address, char text[HP3X_RAIL_NAME]);
uint64_t hp3x_tcp_rail_rate(const struct rail *rail);

/* --- memory.c --- */

int hp3x_tcp_memory_add(struct hp3x_rails *rails, void *base, size_t length,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS]);
void hp3x_tcp_memory_remove(struct hp3x_rails *rails, struct hp3x_memory *memory);
/* The memory with this key, if it contains these bytes; else NULL. */
struct hp3x_memory *hp3x_tcp_memory_find(
	struct hp3x_rails *rails, uint32_t key, uint64_t address, uint64_t length);

/* --- endpoint.c --- */

int hp3x_tcp_endpoint_open(struct hp3x_rails *rails, const struct hp3x_place *place,
	void *description, struct hp3x_endpoint **endpoint);
int hp3x_tcp_endpoint_connect(
	struct hp3x_endpoint *endpoint, const void *description, size_t length);
void hp3x_tcp_endpoint_shut(struct hp3x_endpoint *endpoint);
/* Closes the connection at once. rails_poll() reports FAILED. */
void hp3x_tcp_endpoint_fail(struct hp3x_endpoint *endpoint);
/* What epoll says of an endpoint that is not up: its connection or greeting goes on. */
void hp3x_tcp_endpoint_ready(struct hp3x_endpoint *endpoint, uint32_t events);
/* rails_poll() must look at this endpoint. */
void hp3x_tcp_endpoint_report(struct hp3x_endpoint *endpoint);

/* --- guest.c --- */

void hp3x_tcp_guests_accept(struct hp3x_rails *rails, struct rail *rail);
void hp3x_tcp_guest_ready(struct hp3x_rails *rails, struct guest *guest);

/* --- send.c --- */

int hp3x_tcp_endpoint_post(struct hp3x_endpoint *endpoint, const struct hp3x_post *post);
void hp3x_tcp_rails_flush(struct hp3x_rails *rails);
/* Adds an answer; it leaves with the next flush. */
void hp3x_tcp_answer_add(struct hp3x_endpoint *endpoint, const struct answer *answer);
/* Passes as much as possible to the kernel. */
void hp3x_tcp_endpoint_flush(struct hp3x_endpoint *endpoint);
/* True: an answer with bytes of this memory waits. */
bool hp3x_tcp_answers_use(const struct hp3x_endpoint *endpoint, const struct hp3x_memory *memory);

/* --- receive.c --- */

/* True: there may be more to read. */
bool hp3x_tcp_endpoint_receive(struct hp3x_endpoint *endpoint, struct report *report);

/* --- poll.c --- */

int hp3x_tcp_rails_poll(struct hp3x_rails *rails, struct hp3x_event *event, int n);
struct hp3x_event *hp3x_tcp_event_add(
	struct report *report, const struct hp3x_endpoint *endpoint, enum hp3x_event_kind kind);
