/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The shell of libhp3x: a domain with its core, provider, peers and ops, and who calls whom.
 *
 *     caller's thread ----- op.c, peer.c, region.c, counter.c ----+
 *                                                                 +-- core (xfer/core)
 *     thread of the domain, or hp3x_progress() -- drive.c --------+        |
 *         control.c: messages of peers                                     v
 *         provider: completions, arrivals                          act.c: acts of the core
 *
 * Locks: all functions below need the domain's lock, if their comment does not say otherwise. The
 * thread of the domain must not starve callers: it yields the lock to them (lock.c).
 */
#include <pthread.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include "xfer/lib/frame.h"
#include "xfer/provider.h"

#define HP3X_PEERS 256u /* of a domain */
#define HP3X_OPS   4096u /* that have not ended, or whose completion waits */
/* Messages that wait for hp3x_receive(); with more, the peer's control channel is not read. */
#define HP3X_MOST_INBOX  (16u << 20)
#define HP3X_MOST_REASON 160u

struct hp3x_op {
	STAILQ_ENTRY(hp3x_op) next;
	hp3x_done_fn *done;
	struct hp3x_region *region;
	struct hp3x_completion completion; /* context and peer from the submission on */
};

STAILQ_HEAD(hp3x_ops, hp3x_op);

struct hp3x_region {
	LIST_ENTRY(hp3x_region) next;
	struct hp3x_domain *domain;
	uint64_t address, length;
	struct hp3x_memory *memory;
	uint32_t key[HP3X_RAILS];
	uint32_t ops; /* that have not ended */
};

/* First member of all that the domain's epoll reports. */
struct hp3x_source {
	enum hp3x_source_kind {
		HP3X_SOURCE_LISTENER,
		HP3X_SOURCE_GUEST,
		HP3X_SOURCE_CHANNEL,
		HP3X_SOURCE_KICK,
		HP3X_SOURCE_PROVIDER,
	} kind;
	int fd;
};

/* The control channel: one peer, several TCP connections one after the other (control.c). */
struct hp3x_channel {
	struct hp3x_source source; /* fd -1: not connected */
	enum hp3x_channel_state {
		HP3X_CHANNEL_BROKEN, /* the dialler connects again, the other end waits for it */
		HP3X_CHANNEL_CONNECTING,
		HP3X_CHANNEL_GREETING, /* has sent its hello, waits for that of the peer */
		HP3X_CHANNEL_UP,
		HP3X_CHANNEL_CLOSED, /* for good */
	} state;
	bool dialler; /* this end connects */
	bool met; /* hellos were exchanged once */
	bool paused; /* not read: the inbox is full */
	bool held; /* the core may not send: the outbox is full */
	bool blocked; /* waits for EPOLLOUT */
	bool flushing; /* in domain->flush */
	bool ack_due; /* messages were received since the last ACK */
	uint32_t refusals; /* connection attempts without success that met no listener */
	uint32_t ack_left; /* bytes of `ack` that were not sent */
	struct hp3x_frame ack;
	/* Where the dialler connects: as the user said, then as the peer said (channel_address.c).
	 */
	struct sockaddr_storage address[1 + HP3X_RAILS];
	uint32_t n_addresses, place, reached; /* place: in use; reached: led to the peer last */
	struct hp3x_hello hello; /* as this end sends it */
	uint64_t heard, said, retry, back_off; /* retry: when to connect again */
	struct hp3x_outbox out;
	struct hp3x_inbound in;
};

struct hp3x_peer {
	LIST_ENTRY(hp3x_peer) next;
	STAILQ_ENTRY(hp3x_peer) waiting; /* for hp3x_accept() */
	SLIST_ENTRY(hp3x_peer) flush;
	struct hp3x_domain *domain;
	uint32_t index; /* in the core */
	enum hp3x_peer_state state;
	bool accepting; /* in domain->waiting */
	bool closing; /* the caller has freed it */
	void *context;
	uint64_t identity; /* 0: unknown */
	char reason[HP3X_MOST_REASON];
	struct hp3x_channel channel;
	size_t inbox; /* bytes that wait for hp3x_receive() */
	struct hp3x_endpoint *endpoint[HP3X_MOST_PATHS];
};

/* A connection that has not sent its hello, or whose peer was closed. */
struct hp3x_guest {
	struct hp3x_source source; /* fd -1: free */
	bool leaving; /* BYE was sent: waits until the other end closes, too */
	uint64_t since;
	uint32_t n;
	uint8_t bytes[sizeof(struct hp3x_frame) + sizeof(struct hp3x_hello)];
};

#define HP3X_GUESTS 32u

struct hp3x_letter {
	STAILQ_ENTRY(hp3x_letter) next;
	struct hp3x_peer *peer;
	uint32_t length;
	uint8_t data[];
};

struct hp3x_domain {
	pthread_mutex_t lock, turn; /* lock.c */
	pthread_cond_t counted;
	uint32_t waiters; /* for counted */
	pthread_t thread;
	bool own_progress, has_thread, stop;
	const struct hp3x_provider *provider;
	struct hp3x_rails *rails;
	uint32_t n_rails;
	struct hp3x_rail_info rail[HP3X_RAILS];
	struct hp3x_core_config config;
	struct hp3x_core *core;
	char address[80];

	int epoll, news; /* news: hp3x_fd() */
	struct hp3x_source listener, kick, provided;
	struct hp3x_guest guest[HP3X_GUESTS];
	uint64_t sleeps_until; /* of the thread; 0: it does not sleep */
	uint64_t channels_due; /* when control.c has to look at the channels */

	LIST_HEAD(, hp3x_region) regions;
	LIST_HEAD(, hp3x_peer) peers;
	STAILQ_HEAD(, hp3x_peer) waiting;
	SLIST_HEAD(, hp3x_peer) flush;
	struct hp3x_peer *peer[HP3X_PEERS]; /* by index in the core */
	STAILQ_HEAD(, hp3x_letter) letters;
	struct hp3x_op *op; /* HP3X_OPS of them */
	struct hp3x_ops free, ended, calls; /* calls: whose done() is due */
	uint32_t n_closing; /* peers that the caller has freed, and the core not yet */
	uint64_t counter[HP3X_COUNTERS];
};

/* --- lock.c (without the lock) --- */

void hp3x_lock(struct hp3x_domain *domain);
void hp3x_unlock(struct hp3x_domain *domain);

/* --- act.c --- */

/* Carries out what the core wants, until it wants nothing. After each input of the core. */
void hp3x_acts(struct hp3x_domain *domain, uint64_t now);

/* --- drive.c --- */

/* Handles all that has happened. */
void hp3x_drive(struct hp3x_domain *domain);
/* Takes events of the provider. */
void hp3x_drive_provider(struct hp3x_domain *domain);
/* Ns until hp3x_drive() has something to do without an event. */
uint64_t hp3x_drive_wait(const struct hp3x_domain *domain);
/* Calls the done() of ops that have ended. Without the lock. */
void hp3x_drive_calls(struct hp3x_domain *domain);
/* The thread of the domain; `domain` is a struct hp3x_domain. */
void *hp3x_drive_thread(void *domain);
/* After an input from a caller: wakes the thread if it sleeps too long now. */
void hp3x_drive_wake(struct hp3x_domain *domain);
/* hp3x_fd() becomes readable. */
void hp3x_drive_news(struct hp3x_domain *domain);
int hp3x_watch(struct hp3x_domain *domain, struct hp3x_source *source, uint32_t events, bool again);

/* --- op.c --- */

void hp3x_op_ended(struct hp3x_domain *domain, const struct hp3x_completion *ended);

/* --- peer.c --- */

/* A peer without a connection. NULL: too many. */
struct hp3x_peer *hp3x_peer_new(struct hp3x_domain *domain, uint64_t now);
/* The peer is gone, for this reason. */
void hp3x_peer_lose(struct hp3x_peer *peer, uint64_t now, const char *reason);
/* Frees the peer if it is closed, and all its paths are shut. */
bool hp3x_peer_free(struct hp3x_peer *peer);

/* --- inbox.c --- */

void hp3x_inbox_add(struct hp3x_peer *peer, const void *data, uint32_t length);
/* Removes all messages of a peer. */
void hp3x_inbox_forget(struct hp3x_peer *peer);

/* --- control.c --- */

/* Listens on "ADDRESS:PORT"; NULL: all addresses, any port. */
int hp3x_control_listen(struct hp3x_domain *domain, const char *address);
void hp3x_control_accept(struct hp3x_domain *domain);
void hp3x_guest_ready(struct hp3x_domain *domain, struct hp3x_guest *guest);
void hp3x_guest_close(struct hp3x_guest *guest);
/* Lets the other end read all that was sent: a plain close(2) may delete it there. */
void hp3x_guest_leave(struct hp3x_domain *domain, int fd);
/* True: a connection waits for the other end. */
bool hp3x_guests_leave(const struct hp3x_domain *domain);

/* --- channel.c --- */

int hp3x_channel_open(struct hp3x_peer *peer, uint64_t now);
/* A guest was the dialler of this peer: its connection carries the channel from now on. */
void hp3x_channel_adopt(
	struct hp3x_peer *peer, struct hp3x_guest *guest, const struct hp3x_hello *hello);
void hp3x_channel_ready(struct hp3x_peer *peer, uint32_t events);
/* What is due without an event: connects again, keep-alives, silence. Sets channels_due. */
void hp3x_channels_tick(struct hp3x_domain *domain, uint64_t now);
/* Adds a message of the core. */
void hp3x_channel_send(struct hp3x_peer *peer, const void *data, uint32_t length);
void hp3x_channels_flush(struct hp3x_domain *domain);
/* The inbox has room again. */
void hp3x_channel_resume(struct hp3x_peer *peer);
/* Says goodbye, and closes. */
void hp3x_channel_close(struct hp3x_peer *peer);

/* --- hello.c --- */

/* Own hello of a channel, with a random session. */
void hp3x_hello_make(struct hp3x_peer *peer);
/* Names the addresses where this domain listens. */
void hp3x_hello_addresses(const struct hp3x_domain *domain, struct hp3x_hello *hello);
/* NULL: the hello is right. Else a sentence for the peer's user. */
const char *hp3x_hello_wrong(const struct hp3x_domain *domain, const struct hp3x_hello *hello);
/* Hellos are exchanged: the core learns of the peer, once. False: the peer is lost. */
bool hp3x_hello_met(struct hp3x_peer *peer, uint64_t now, const struct hp3x_hello *hello);
