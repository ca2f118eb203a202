/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Lists through links in their elements. A list is a ring: its head is a link, too. An element can
 * be removed without its list, and removed again without harm.
 */
#include <stdbool.h>
#include <stddef.h>

struct hp3xc_link {
	struct hp3xc_link *next, *prev;
};

/* The element that contains a link. */
#define HP3XC_ELEMENT(link, type, field) ((type *)((char *)(link)-offsetof(type, field)))

static inline void hp3xc_link_init(struct hp3xc_link *l)
{
	l->next = l->prev = l;
}

/* Of a list: it has elements. Of an element: it is in a list. */
static inline bool hp3xc_link_is_used(const struct hp3xc_link *l)
{
	return l->next != l;
}

static inline void hp3xc_link_remove(struct hp3xc_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	hp3xc_link_init(l);
}

/* Moves `l` to the place before `next`; a list as `next`: to its end. */
static inline void hp3xc_link_put(struct hp3xc_link *next, struct hp3xc_link *l)
{
	hp3xc_link_remove(l);
	l->next = next;
	l->prev = next->prev;
	next->prev->next = l;
	next->prev = l;
}

static inline void hp3xc_link_put_first(struct hp3xc_link *list, struct hp3xc_link *l)
{
	hp3xc_link_put(list->next == l ? l->next : list->next, l);
}
