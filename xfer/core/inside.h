/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Functions that the files of the core call of each other, by file. */
#include <errno.h>
#include "xfer/core/state.h"

/* chunks.c: copies of pages and messages, in chained chunks. */
/* NULL: too few are free. */
struct hp3xc_chunk *hp3xc_chunks_take(struct hp3x_core *c, uint32_t n);
void hp3xc_chunks_free(struct hp3x_core *c, struct hp3xc_chunk *first);

/* ends.c */
/* The op may have ended: looks when acts are written. */
void hp3xc_op_touch(struct hp3x_core *c, struct hp3xc_op *op);
/* The op ends with a status that is not OK, as soon as no rail accesses its memory. */
void hp3xc_op_stop(struct hp3x_core *c, struct hp3xc_op *op, enum hp3x_status status);
void hp3xc_op_time(struct hp3x_core *c, struct hp3xc_op *op);
void hp3xc_ops_check(struct hp3x_core *c);
/* Writes the act of the next op that has ended, and frees the op. */
bool hp3xc_ended_act(struct hp3x_core *c, struct hp3x_act *act);

/* paths.c */
void hp3xc_path_init(struct hp3xc_peer *peer, struct hp3xc_path *p, uint32_t number);
/* Opens the path when the back-off is over. */
void hp3xc_path_schedule(struct hp3x_core *c, struct hp3xc_path *p);
void hp3xc_path_time(struct hp3x_core *c, struct hp3xc_path *p);
void hp3xc_path_want(struct hp3x_core *c, struct hp3xc_path *p, enum hp3xc_want want);
void hp3xc_path_note(struct hp3x_core *c, struct hp3xc_path *p, enum hp3xc_note note);
/* Messages of the peer. Errors: -EPROTO. */
int hp3xc_path_offer(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, const void *end,
	size_t length);
int hp3xc_path_answer(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, const void *end,
	size_t length);
void hp3xc_path_ready(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening);
void hp3xc_path_probed(struct hp3x_core *c, struct hp3xc_path *p, bool success);
bool hp3xc_path_act(struct hp3x_core *c, struct hp3x_act *act);

/* fences.c */
/* The path has failed, for whatever reason: it is shut at both ends. */
void hp3xc_path_fail(struct hp3x_core *c, struct hp3xc_path *p);
void hp3xc_path_down(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening);
/* `arrived`: immediates that the peer has received. -EPROTO: more than were sent. */
int hp3xc_path_fenced(
	struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, uint32_t arrived);
/* A peer that is gone sends no FENCED. */
void hp3xc_path_abandon(struct hp3x_core *c, struct hp3xc_path *p);
/* Down, if it is shut at both ends, and both know. */
void hp3xc_path_settle(struct hp3x_core *c, struct hp3xc_path *p);

/* flights.c */
struct hp3xc_flight *hp3xc_flight_take(struct hp3x_core *c, struct hp3xc_op *op);
void hp3xc_flight_free(struct hp3x_core *c, struct hp3xc_flight *f);
/* Requests of a failed path: their slices are sent again. */
void hp3xc_flights_release(struct hp3x_core *c, struct hp3xc_path *p);
/* The path is fenced: of its slices, the peer has executed those of `arrived` immediates. */
void hp3xc_flights_resolve(struct hp3x_core *c, struct hp3xc_path *p, uint32_t arrived);
/* Time at which the oldest request makes the path hang. UINT64_MAX: none. */
uint64_t hp3xc_flights_limit(const struct hp3xc_path *p);

/* slices.c */
/* Sets the pages' slices. False: too many. */
bool hp3xc_slices_plan(struct hp3x_core *c, struct hp3xc_op *op);
/* Length of the next slice. */
uint32_t hp3xc_slice_length(const struct hp3xc_op *op);
/* Cuts the next slice. */
void hp3xc_slice_cut(struct hp3xc_op *op, struct hp3xc_flight *f);

/* choice.c */
/* A path for the next slice. NULL: it waits. */
struct hp3xc_path *hp3xc_path_choose(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t length);
/* A path for a slice that is sent again: it must have answered since the slice failed. */
struct hp3xc_path *hp3xc_path_choose_again(
	struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_flight *f);
/* Expected time until `length` more bytes are acknowledged. */
uint64_t hp3xc_path_finish(const struct hp3x_core *c, const struct hp3xc_path *p, uint32_t length);

/* pairs.c */
void hp3xc_peer_window_init(const struct hp3x_core *c, struct hp3xc_peer *peer);
/* The window of all paths to the peer has room for a slice. False: the slice waits. */
bool hp3xc_peer_has_room(struct hp3x_core *c, const struct hp3xc_peer *peer, uint32_t length);
/* A request of the peer was acknowledged: measures rate and window. */
void hp3xc_peer_measure(struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_flight *f);

/* posts.c */
/* The peer may have something to send. */
void hp3xc_peer_ready(struct hp3x_core *c, struct hp3xc_peer *peer);
bool hp3xc_post_act(struct hp3x_core *c, struct hp3x_act *act);

/* slots.c: the sender's. */
void hp3xc_slots_init(struct hp3xc_peer *peer);
bool hp3xc_slot_take(struct hp3x_core *c, struct hp3xc_op *op);
/* The op has ended. */
void hp3xc_slot_leave(struct hp3x_core *c, struct hp3xc_op *op);
void hp3xc_slots_fenced(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t path);
uint32_t hp3xc_slot_imm(const struct hp3xc_op *op, uint32_t slice);
bool hp3xc_op_has_begin(const struct hp3xc_op *op);
/* Messages of the peer. `named`: slot and generation. Errors: -EPROTO. */
int hp3xc_slot_counted(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named);
int hp3xc_slot_forgotten(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named);
int hp3xc_slots_flushed(struct hp3x_core *c, struct hp3xc_peer *peer);
void hp3xc_slots_put(struct hp3xc_peer *peer, struct hp3xc_slot_list *list, uint16_t slot);

/* counts.c: the receiver's. */
struct hp3xc_begin {
	uint32_t named, counter, add, n_slices;
};
int hp3xc_count_begin(
	struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_begin *begin);
int hp3xc_count_forget(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named);
void hp3xc_counter_add(struct hp3x_core *c, uint32_t counter, uint32_t add);
bool hp3xc_count_act(struct hp3x_core *c, struct hp3x_act *act);
/* The peer's FLUSH: begins, names paths, is complete. Errors: -EPROTO. */
int hp3xc_flush_begin(struct hp3xc_peer *peer);
int hp3xc_flush_path(struct hp3xc_path *p, uint32_t opening, uint32_t immediates);
void hp3xc_flush_ready(struct hp3x_core *c, struct hp3xc_peer *peer);
/* All immediates that the flush waits for on this path have arrived. */
void hp3xc_flush_check(struct hp3x_core *c, struct hp3xc_path *p);

/* talk.c: messages of the core. */
void hp3xc_peer_talk(struct hp3x_core *c, struct hp3xc_peer *peer);
bool hp3xc_talk_act(struct hp3x_core *c, struct hp3x_act *act);

/* peers.c */
void hp3xc_peer_time(struct hp3x_core *c, struct hp3xc_peer *peer);
bool hp3xc_peer_act(struct hp3x_core *c, struct hp3x_act *act);
void hp3xc_peer_gone(struct hp3x_core *c, struct hp3xc_peer *peer, enum hp3x_status status);
/* NULL: no such path of this peer. */
struct hp3xc_path *hp3xc_path_of(const struct hp3x_core *c, uint32_t peer, uint32_t path);
/* NULL: no peer with this index. */
struct hp3xc_peer *hp3xc_peer_of(const struct hp3x_core *c, uint32_t peer);
