/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* What the files of the control channel (channel*.c) have in common. With the domain's lock. */
#include "xfer/lib/internal.h"

/* hp3x_channels_tick() has to be called at this time, or before. */
void hp3x_channel_due(struct hp3x_domain *domain, uint64_t at);
/* Tells epoll which events matter now. `again`: the connection is watched already. */
void hp3x_channel_watch(struct hp3x_peer *peer, bool again);
/* The connection is of no use any more. */
void hp3x_channel_break(struct hp3x_peer *peer, uint64_t now);
/* The hello of the peer names its other addresses; the present one has reached it. */
void hp3x_channel_learn(struct hp3x_channel *channel, const struct hp3x_hello *hello);
/* The next connection goes to the next address. */
void hp3x_channel_turn(struct hp3x_channel *channel);
/* True: the address in use may belong to another host than the peer. */
bool hp3x_channel_doubts(const struct hp3x_channel *channel);
/* TCP is connected, or has failed: sends the hello. */
void hp3x_channel_connected(struct hp3x_peer *peer, uint64_t now);
/* Hellos are exchanged on this connection. */
void hp3x_channel_up(struct hp3x_peer *peer, uint64_t now, const struct hp3x_hello *hello);
/* Passes as much as possible to the kernel. */
void hp3x_channel_flush(struct hp3x_peer *peer);
