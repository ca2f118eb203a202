/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stream sockets by name. A name with a '/' is the path of a Unix socket; ADDRESS:PORT is a TCP
 * socket. The sockets do not block. Functions return a descriptor, or 0 if they open no socket; on
 * errors, they return a negative errno.
 */
#include <stdbool.h>
#include <stddef.h>

/*
 * Connects to a socket. If the connection is not complete yet, returns the descriptor (and not
 * -EINPROGRESS), and sets *pending.
 */
int gen_stream_connect(const char *where, bool *pending);
/*
 * Listens on a socket. If no process listens on an existing Unix socket, replaces its file. Sets
 * `path` (108 bytes) to the file to remove at the end, or to "".
 */
int gen_stream_listen(const char *where, char *path);
/* Returns the result of a pending connection. */
int gen_stream_connected(int fd);
/* Sends `len` bytes. Each time that the socket has no room, waits at most one second. */
int gen_stream_send(int fd, const char *text, size_t len);
