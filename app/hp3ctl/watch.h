/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3CTL_WATCH_H
#define HP3CTL_WATCH_H
/* What watch has read of hp3d, and how it is to be shown (watch.c); the terminal (screen.c). */
#include "app/hp3ctl/columns.h"
#include "app/hp3ctl/hp3ctl.h"

#define HP3CTL_FILTER_MAX 128u

struct hp3ctl_view {
	json_t *flows; /* sorted; NULL: none were read yet */
	json_t *before; /* of the read before, for the rates */
	json_t *decisions; /* flow id -> the last event about it */
	json_int_t since; /* events up to here are in `decisions` */
	char mode[16];
	char error[HP3CTL_ERROR_MAX]; /* what went wrong last; "": nothing */
	unsigned sort; /* column */
	bool reverse;
	char filter[HP3CTL_FILTER_MAX], typed[HP3CTL_FILTER_MAX];
	bool typing; /* a filter is being typed */
	unsigned top; /* rows scrolled off */
};

/* Why a flow is where it is: its last decision, in a few words. */
void hp3ctl_decision(const struct hp3ctl_view *v, json_t *flow, char *text, size_t cap);

int hp3ctl_screen_open(void); /* -1: this terminal cannot */
void hp3ctl_screen_close(void);
void hp3ctl_screen_draw(struct hp3ctl_view *v);
/* A key, or -1 if none came in so many milliseconds, or a signal did. */
int hp3ctl_screen_key(int timeout_ms);
enum { HP3CTL_KEY_LEFT = 0x10000, HP3CTL_KEY_RIGHT, HP3CTL_KEY_UP, HP3CTL_KEY_DOWN };

#endif
