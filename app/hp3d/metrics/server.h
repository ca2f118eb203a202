/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The HTTP server (libmicrohttpd): GET and HEAD of /metrics, one request per connection. It runs in
 * one control thread of DPDK, on CPUs without lcores if there are any.
 *
 * Bounds for all clients: a listener has at most CONNECTIONS connections at once; further
 * connections wait in the kernel's backlog. A connection ends after SILENCE_S without data, or
 * after LIFE_MS. A request has at most REQUEST_BYTES. A page of each format is built at most once
 * in FRESH_MS; requests within that time share the page.
 */
#include <stdbool.h>
#include <stddef.h>

#define HP3D_SERVER_LISTENERS     2u
#define HP3D_SERVER_CONNECTIONS   16u
#define HP3D_SERVER_SILENCE_S     2u
#define HP3D_SERVER_LIFE_MS       3000u
#define HP3D_SERVER_REQUEST_BYTES 16384u
#define HP3D_SERVER_FRESH_MS      100u

/* The page as text that the server frees; false: no memory. Runs in the server's thread. */
typedef bool hp3d_page_fn(void *arg, bool openmetrics, char **text, size_t *len);

/* listener: n non-blocking listening sockets, which the caller closes. Returns 0 or a negative
 * errno. */
int hp3d_server_start(const int *listener, unsigned n, hp3d_page_fn *page, void *arg);
void hp3d_server_stop(void);

/*
 * Chooses the format by a client's Accept header (RFC 9110, 12.5.1). The format is OpenMetrics if
 * the header accepts OpenMetrics, in version 1.0.0 or without a version, and does not prefer
 * text/plain. Otherwise, the format is text/plain, even if the header accepts neither.
 */

/* `accept` may be NULL: no such header. */
bool hp3d_accepts_openmetrics(const char *accept);
