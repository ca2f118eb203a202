/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_METRICS_ACCEPT_H
#define HP3D_METRICS_ACCEPT_H
/*
 * Which form a client wants, by its Accept header (RFC 9110, 12.5.1): OpenMetrics if it asks for
 * that by name, in version 1.0.0 or in any, and likes text/plain no better. All others, also those
 * that accept neither, get text/plain.
 */
#include <stdbool.h>

/* `accept` may be NULL: no such header. */
bool hp3d_accepts_openmetrics(const char *accept);

#endif
