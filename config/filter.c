/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/filter.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_MAX 64u /* bytes of the longest item, with NUL */
#define QPN_MAX  0xffffffu

bool hp3_list_each(const char *text, hp3_list_fn *fn, void *ctx)
{
	for (;;) {
		char item[ITEM_MAX];
		size_t n;

		text += strspn(text, " \t");
		n = strcspn(text, ",");
		if (n >= sizeof(item))
			return false;
		memcpy(item, text, n);
		item[n] = '\0';
		text += n;
		while (n > 0 && (item[n - 1] == ' ' || item[n - 1] == '\t'))
			item[--n] = '\0';
		if (!fn(ctx, item))
			return false;
		if (*text++ == '\0')
			return true;
	}
}

static bool parse_number(const char *text, uint32_t max, uint32_t *value)
{
	unsigned long long v;
	char *end;

	if (strspn(text, "0123456789") == 0)
		return false;
	errno = 0;
	v = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	*value = (uint32_t)v;
	return errno == 0 && *end == '\0' && v <= max;
}

/* N or N-M */
static bool parse_range(const char *item, uint32_t max, struct hp3_qpns *r)
{
	char first[ITEM_MAX], *dash;

	strcpy(first, item);
	dash = strchr(first, '-');
	if (dash != NULL)
		*dash = '\0';
	return parse_number(first, max, &r->from) &&
	       parse_number(dash != NULL ? dash + 1 : first, max, &r->to) && r->from <= r->to;
}

/* An address, or ADDRESS/BITS. */
static bool parse_prefix(const char *item, struct hp3_prefix *p)
{
	char addr[ITEM_MAX], *slash;
	uint32_t bits;

	strcpy(addr, item);
	slash = strchr(addr, '/');
	if (slash != NULL)
		*slash = '\0';
	p->ipv6 = strchr(addr, ':') != NULL;
	bits = p->ipv6 ? 128 : 32;
	if (inet_pton(p->ipv6 ? AF_INET6 : AF_INET, addr, p->addr) != 1 ||
		(slash != NULL && !parse_number(slash + 1, bits, &bits)))
		return false;
	p->bits = (uint8_t)bits;
	return true;
}

/* Adds an item to a filter; false: it is invalid, or there is no room. */
static bool add_peer(void *ctx, const char *item)
{
	struct hp3_filter *f = ctx;

	if (f->peers == HP3_FILTER_MAX || !parse_prefix(item, &f->peer[f->peers]))
		return false;
	f->peers++;
	return true;
}

static bool add_dscp(void *ctx, const char *item)
{
	struct hp3_filter *f = ctx;
	struct hp3_qpns r;

	if (!parse_range(item, HP3_DSCPS - 1, &r))
		return false;
	for (uint32_t i = r.from; i <= r.to; i++)
		f->dscp |= 1ull << i;
	return true;
}

static bool add_qpns(void *ctx, const char *item)
{
	struct hp3_filter *f = ctx;

	if (f->qpns == HP3_FILTER_MAX || !parse_range(item, QPN_MAX, &f->qpn[f->qpns]))
		return false;
	f->qpns++;
	return true;
}

bool hp3_filter_valid_peers(const char *text)
{
	struct hp3_filter f = {0};

	return hp3_list_each(text, add_peer, &f);
}

bool hp3_filter_valid_dscp(const char *text)
{
	struct hp3_filter f = {0};

	return hp3_list_each(text, add_dscp, &f);
}

bool hp3_filter_valid_qpns(const char *text)
{
	struct hp3_filter f = {0};

	return hp3_list_each(text, add_qpns, &f);
}

struct hp3_filter hp3_filter_make(const char *peers, const char *dscp, const char *qpns)
{
	struct hp3_filter f = {0};

	if (*peers != '\0')
		hp3_list_each(peers, add_peer, &f);
	if (*dscp != '\0')
		hp3_list_each(dscp, add_dscp, &f);
	if (*qpns != '\0')
		hp3_list_each(qpns, add_qpns, &f);
	return f;
}
