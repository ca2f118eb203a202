/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module has the parts of key agreement ([probes] keys = auto) that do not run on lcores. The
 * parts are this host's identity, and a thread that computes X25519 for all pipes. The main thread
 * calls these functions. Without keys = auto, they do nothing.
 */
#include "config/config.h"

/* Reads or creates the identity, before there are pipes. Returns 0, or -1 after a message on
 * stderr. */
int hp3d_keys_open(const struct hp3_config *cfg);

/* Starts the thread; pipes must exist until hp3d_keys_stop(). Returns 0, or -1 after a message on
 * stderr. */
int hp3d_keys_start(const struct hp3_config *cfg);
void hp3d_keys_stop(void);

/* One round of the thread: computes one X25519 for each pipe that needs one. False: no pipe needs
 * one. */
bool hp3d_keys_compute(void);

/* If another host has the same identity as this host, creates a new identity and passes it to all
 * lcores. */
void hp3d_keys_watch(const struct hp3_config *cfg);
