/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The two ends of a program connect over TCP. Errors end the program, as in verbs.h. */
#include <stddef.h>
#include <stdint.h>

/* Connects to `peer`; if it is NULL, waits for a connection. Returns the descriptor. */
int meet(uint16_t port, const char *peer);
void say(const void *what, size_t n);
void hear(void *what, size_t n);
