/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_KEYS_H
#define HP3D_KEYS_H
/*
 * This module: what pairs of hosts that agree on keys ([probes] keys = auto) need beside the
 * lcores: this host's identity, and a thread that computes X25519s for all pipes. Without keys =
 * auto no function here does anything. All are for the main thread.
 */
#include "config/config.h"

/* Reads or makes the identity, before there are pipes. 0, or -1 after a message on stderr. */
int hp3d_keys_open(const struct hp3_config *cfg);

/* The thread begins; pipes must be there, and stay until hp3d_keys_stop(). 0, or -1 after a message
 * on stderr. */
int hp3d_keys_start(const struct hp3_config *cfg);
void hp3d_keys_stop(void);

/* What the thread does, once: one X25519 for each pipe that has one to be done. False: none has. */
bool hp3d_keys_compute(void);

/* Has another host been found with this host's identity? Then a new one is drawn, and all lcores
 * have it. */
void hp3d_keys_watch(const struct hp3_config *cfg);

#endif
