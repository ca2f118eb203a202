/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* State of `hp3ctl watch`. The file watch.c reads data from hp3d and handles keys; screen.c
 * draws. */
#include "app/hp3ctl/columns.h"
#include "app/hp3ctl/hp3ctl.h"

#define HP3CTL_FILTER_MAX 128u

struct hp3ctl_view {
	json_t *flows; /* sorted; NULL: not read yet */
	json_t *before; /* result of hp3ctl_rates() */
	json_t *decisions; /* flow id -> its last event */
	json_int_t since; /* number of the last event in `decisions` */
	char mode[16];
	char error[HP3CTL_ERROR_MAX]; /* error of the last read; "": none */
	unsigned sort; /* column */
	bool reverse;
	char filter[HP3CTL_FILTER_MAX], typed[HP3CTL_FILTER_MAX];
	bool typing; /* a filter is being typed */
	unsigned top; /* rows scrolled off */
};

/* The last decision about a flow, in a few words. */
void hp3ctl_decision(const struct hp3ctl_view *v, json_t *flow, char *text, size_t cap);

int hp3ctl_screen_open(void); /* -1: the terminal is not suitable */
void hp3ctl_screen_close(void);
void hp3ctl_screen_draw(struct hp3ctl_view *v);
/* A key, or -1 after timeout_ms or a signal. */
int hp3ctl_screen_key(int timeout_ms);
enum { HP3CTL_KEY_LEFT = 0x10000, HP3CTL_KEY_RIGHT, HP3CTL_KEY_UP, HP3CTL_KEY_DOWN };
