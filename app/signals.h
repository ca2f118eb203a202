/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The signals that hp3d's main thread handles. All other threads block them. */
#include <signal.h>

static inline void hp3_main_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}
