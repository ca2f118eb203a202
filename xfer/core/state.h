/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * State of the core: peers, their paths and slots, ops and their requests in flight.
 *
 * All memory is laid out when the core is created (core.c). Inputs change state and put ops on the
 * list `check` and peers on the lists `ready` and `talkers`. hp3x_core_act() then works on these
 * lists, so no input calls another.
 */
#include "base/random.h"
#include "xfer/core/core.h"
#include "xfer/core/estimate.h"
#include "xfer/core/links.h"
#include "xfer/core/timers.h"
#include "xfer/core/window.h"

#define HP3XC_CHUNK        480u /* bytes of pages or of a message */
#define HP3XC_CHUNK_PAGES  (HP3XC_CHUNK / sizeof(struct hp3x_page))
#define HP3XC_SMALL        64u /* most slices of an op in a small slot */
#define HP3XC_LARGE_SLOTS  64u /* the first slots have bitmaps for ops of any number of slices */
#define HP3XC_WORDS        (HP3X_MOST_PAGES / 64)
#define HP3XC_UNKNOWN_RATE 1250000000u /* bytes/s; of a path before the first data */
#define HP3XC_SLOWEST      1250000u /* bytes/s; a path may be so slow until it was measured */
#define HP3XC_HANG_TIMES   8u /* a request may take so many times what was expected */
#define HP3XC_NO_SLOT      UINT16_MAX
#define HP3XC_PATH_WORDS   (HP3X_MOST_PATHS / 64)

struct hp3xc_chunk {
	struct hp3xc_chunk *next;
	union {
		struct hp3x_page page[HP3XC_CHUNK_PAGES];
		uint8_t byte[HP3XC_CHUNK];
	};
};

/* A set of paths of a peer. */
struct hp3xc_paths {
	uint64_t word[HP3XC_PATH_WORDS];
};

enum hp3xc_op_kind { HP3XC_WRITE, HP3XC_READ, HP3XC_SEND };

/* A message of an op, which the peer's core acknowledges. */
enum hp3xc_talk { HP3XC_TALK_NONE, HP3XC_TALK_WAITS, HP3XC_TALK_SENT, HP3XC_TALK_DONE };

struct hp3xc_op {
	struct hp3xc_link in_peer; /* or in the list of free ops, or of ended ones */
	struct hp3xc_link in_queue; /* has slices to cut: in a queue of the peer */
	struct hp3xc_link in_talk; /* or in the list of ops with a BEGIN to send */
	struct hp3xc_link in_check;
	struct hp3xc_peer *peer;
	uint32_t index, number; /* of this use of the entry */
	uint8_t kind, talk;
	bool begin; /* a BEGIN waits to be sent */
	bool ending; /* with `status`, which is not OK */
	bool ended;
	enum hp3x_status status;
	uint16_t slot;
	uint32_t counter, add; /* add 0: no counter */
	uint32_t message; /* number of its message among those of the peer */
	/* Slices. `cut` and `done` count them; the next one is cut from `page` at `at`. */
	uint32_t n_slices, cut, done, in_flight, slice_bytes;
	struct hp3xc_chunk *chunks, *chunk;
	uint32_t n_pages, page;
	uint64_t at;
	const void *region;
	struct hp3x_page whole; /* the only page, if there are no chunks; its length is `length` */
	uint64_t length, remote;
	uint64_t remote_domain;
	uint32_t remote_rails, key[HP3X_RAILS];
	/* Failed paths that had requests of this op, and are not shut at this end, at the other. */
	struct hp3xc_paths unshut, unfenced;
	uint32_t sent, again;
	uint64_t deadline, began;
	void *context;
};

/* A slice that was cut: in flight on a path, or waiting to be sent again. */
struct hp3xc_flight {
	struct hp3xc_link in; /* of a path, of the slices that a peer sends again, or free */
	struct hp3xc_op *op;
	uint32_t index, number; /* number: of this request; part of the token */
	uint64_t local, remote;
	uint32_t length;
	uint16_t slice;
	uint8_t path, times; /* times: sent */
	uint64_t sent, failed, limit, due; /* due: expected; limit: after it, the path hangs */
	uint64_t bytes; /* in flight on the path, with this slice, when it was sent */
	uint64_t delivered; /* of all paths to the peer, when it was sent */
	uint32_t imm_number; /* among the immediates of the path's opening; 0: none */
};

enum hp3xc_stage {
	HP3XC_DOWN,
	HP3XC_MAKING, /* OPEN was asked */
	HP3XC_OFFERED, /* opener: waits for the answer */
	HP3XC_CONNECTING, /* CONNECT was asked */
	HP3XC_ANSWERED, /* acceptor: waits until the opener has connected */
	HP3XC_PROBING,
	HP3XC_UP,
	HP3XC_SHUTTING, /* has failed; is not shut at both ends yet */
};

/* Messages of a path that wait to be sent. They leave in this order. */
enum hp3xc_note {
	HP3XC_NOTE_DOWN = 1,
	HP3XC_NOTE_FENCED = 2,
	HP3XC_NOTE_OFFER = 4,
	HP3XC_NOTE_ANSWER = 8,
	HP3XC_NOTE_READY = 16,
};

enum hp3xc_want {
	HP3XC_WANT_SHUT = 1,
	HP3XC_WANT_OPEN = 2,
	HP3XC_WANT_CONNECT = 4,
	HP3XC_WANT_PROBE = 8
};

struct hp3xc_path {
	struct hp3xc_peer *peer;
	struct hp3xc_link in_wants; /* has acts to write */
	struct hp3xc_link in_notes; /* has messages to send */
	struct hp3xc_link flights; /* oldest first */
	struct hp3xc_link unsure; /* of this failed opening: the peer will say which it executed */
	uint8_t number, local_rail, remote_rail, stage, wants, notes;
	uint32_t opening;
	bool made; /* OPEN was written as an act: SHUT has to follow */
	bool known; /* the peer's core knows of this opening */
	bool shut, fenced; /* of a failed opening: shut at this end, at the other */
	bool probing; /* a probe is under way */
	uint32_t probe; /* its number */
	uint8_t hung; /* times in a row that a slice took too long: each doubles the patience */
	uint64_t began, up_since, probe_sent, answered; /* answered: last success */
	uint64_t back_off, retry_at;
	uint64_t in_flight;
	struct hp3xc_estimate estimate;
	/* Immediates of this opening: sent, known to have been executed, and received. */
	uint32_t imm_sent, imm_done, arrived;
	bool flush; /* the peer waits until `flush_until` immediates have arrived */
	uint32_t flush_until;
	uint8_t own_length, other_length;
	uint8_t own[HP3X_ENDPOINT], other[HP3X_ENDPOINT];
	uint64_t bytes, slices, again, failures;
};

enum hp3xc_slot_state {
	HP3XC_SLOT_FREE,
	HP3XC_SLOT_USED, /* its op has not ended */
	HP3XC_SLOT_FENCE, /* waits until failed paths of its op are fenced */
	HP3XC_SLOT_FLUSH, /* waits until the peer has seen all immediates */
	HP3XC_SLOT_COUNT, /* waits for COUNTED only */
	HP3XC_SLOT_RESET, /* FORGET is to be sent: the peer forgets what it has seen of the op */
	HP3XC_SLOT_FORGET, /* waits for FORGOTTEN */
};

/* The sender's view of a slot. */
struct hp3xc_slot {
	uint8_t state;
	bool generation, counted, complete; /* complete: its op ended with OK */
	uint16_t next; /* in its list */
	struct hp3xc_paths unfenced;
};

/* The receiver's view of a slot. */
struct hp3xc_count {
	bool generation, open; /* open: immediates of this generation are missing */
	bool counted, forgotten; /* answers that wait to be sent */
	uint16_t next; /* in the list of answers */
	uint16_t counter, n_slices, seen; /* n_slices 0: BEGIN has not arrived */
	uint32_t add;
	uint64_t bitmap; /* of a small slot */
};

/* Slots in a list, by `next`. */
struct hp3xc_slot_list {
	uint16_t first, last;
};

struct hp3xc_peer {
	struct hp3xc_link in_ready, in_talkers, in_starved;
	struct hp3xc_link ops, queue, no_small, no_large; /* the last two wait for a slot */
	struct hp3xc_link again; /* flights */
	struct hp3xc_link begins, talk, told;
	struct hp3xc_link notes; /* paths */
	uint32_t index;
	bool used, opener, writable;
	bool gone; /* lost or closed: no messages any more */
	bool tell; /* the act PEER waits */
	bool keepalive, acknowledge, flushed; /* messages that wait */
	enum hp3x_peer_state state;
	enum hp3x_status end; /* of ops, if it is gone */
	uint64_t identity, backlog; /* backlog: bytes to be sent */
	struct hp3x_window window; /* of all paths */
	uint64_t sent_at, heard_at;
	uint32_t rails, n_paths, in_flight, n_ops;
	uint32_t told_number, heard_number; /* of USER and ADD: sent, received */
	uint32_t flush_left; /* paths that the peer's FLUSH waits for */
	struct hp3xc_path *paths;
	struct hp3xc_slot *slots;
	struct hp3xc_count *counts;
	uint64_t (*bitmaps)[HP3XC_WORDS];
	struct hp3xc_slot_list free_small, free_large, to_flush, in_flush, to_reset, answers;
};

struct hp3x_core {
	struct hp3x_core_config cfg;
	uint64_t now, random;
	struct hp3xc_timers timers;
	bool rail_down[HP3X_RAILS];
	uint64_t rail_in_flight[HP3X_RAILS];
	uint32_t most_paths; /* of a peer */
	struct hp3xc_peer *peers;
	uint32_t n_peers; /* in use */
	struct hp3xc_op *ops;
	struct hp3xc_flight *flights;
	struct hp3xc_chunk *chunk;
	uint32_t free_chunks, free_flights, probes;
	struct hp3xc_link free_ops, idle_flights, check, ended, ready, talkers, starved, wants;
	uint8_t *out, *in; /* the last message sent, received */
	uint32_t in_length, in_peer; /* in_length 0: no message for hp3x_receive() */
	bool in_waits;
	bool tells; /* the state of a peer has changed */
	uint64_t *adds; /* by counter, to be written as acts */
	uint16_t *changed; /* counters with such adds */
	uint32_t n_changed;
};

static inline void hp3xc_paths_add(struct hp3xc_paths *s, uint32_t path)
{
	s->word[path / 64] |= 1ull << path % 64;
}

static inline void hp3xc_paths_drop(struct hp3xc_paths *s, uint32_t path)
{
	s->word[path / 64] &= ~(1ull << path % 64);
}

static inline bool hp3xc_paths_is_empty(const struct hp3xc_paths *s)
{
	return (s->word[0] | s->word[1]) == 0;
}

/* Timers: of ops, of paths, of peers, and of peers whose slices wait for a better path. */
static inline uint32_t hp3xc_op_timer(const struct hp3x_core *c, const struct hp3xc_op *op)
{
	return op->index;
}

static inline uint32_t hp3xc_path_timer(const struct hp3x_core *c, const struct hp3xc_path *p)
{
	return c->cfg.ops + p->peer->index * c->most_paths + p->number;
}

static inline uint32_t hp3xc_peer_timer(const struct hp3x_core *c, const struct hp3xc_peer *p)
{
	return c->cfg.ops + c->cfg.peers * c->most_paths + p->index;
}

static inline uint32_t hp3xc_wait_timer(const struct hp3x_core *c, const struct hp3xc_peer *p)
{
	return hp3xc_peer_timer(c, p) + c->cfg.peers;
}
