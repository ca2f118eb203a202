/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_COLLECTIVE_MEET_H
#define TEST_COLLECTIVE_MEET_H
/* The two ends of a program connect over TCP. Errors end the program, as in verbs.h. */
#include <stddef.h>
#include <stdint.h>

/* Connects to `peer`; if it is NULL, waits for a connection. Returns the descriptor. */
int meet(uint16_t port, const char *peer);
void say(const void *what, size_t n);
void hear(void *what, size_t n);

#endif
