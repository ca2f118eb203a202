/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_METRICS_ACCEPT_H
#define HP3D_METRICS_ACCEPT_H
/*
 * Chooses the format by a client's Accept header (RFC 9110, 12.5.1). The format is OpenMetrics if
 * the header accepts OpenMetrics, in version 1.0.0 or without a version, and does not prefer
 * text/plain. Otherwise, the format is text/plain, even if the header accepts neither.
 */
#include <stdbool.h>

/* `accept` may be NULL: no such header. */
bool hp3d_accepts_openmetrics(const char *accept);

#endif
