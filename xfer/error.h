/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The sentence of hp3x_error(): what was wrong with the last call of this thread. */

/* Sets the sentence, which names what to change, and returns `error` (a negative errno). */
int hp3x_error_set(int error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
