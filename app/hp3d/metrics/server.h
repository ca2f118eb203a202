/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_METRICS_SERVER_H
#define HP3D_METRICS_SERVER_H
/*
 * The HTTP server (libmicrohttpd), in one thread on the CPUs that data lcores leave free: GET and
 * HEAD of /metrics, one request per connection.
 *
 * Bounds, whatever clients do: so many connections of a listener at once, others wait in the
 * kernel's backlog; a connection ends that was silent for SILENCE_S or lives for LIFE_MS; a request
 * has at most REQUEST_BYTES; a page is written at most once in FRESH_MS and shared by all who ask
 * meanwhile.
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

/* n non-blocking sockets that listen; they stay the caller's. 0 or a negative errno. */
int hp3d_server_start(const int *listener, unsigned n, hp3d_page_fn *page, void *arg);
void hp3d_server_stop(void);

#endif
