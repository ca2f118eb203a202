/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_METRICS_ACCEPT_H
#define HP3D_METRICS_ACCEPT_H
/*
 * Chooses the format by a client's Accept header (RFC 9110, 12.5.1). It is OpenMetrics if the
 * header names it, in version 1.0.0 or without one, and does not prefer text/plain. Otherwise, even
 * if the header accepts neither, it is text/plain.
 */
#include <stdbool.h>

/* `accept` may be NULL: no such header. */
bool hp3d_accepts_openmetrics(const char *accept);

#endif
