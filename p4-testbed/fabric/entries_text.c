/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "p4-testbed/fabric/entries.h"

struct text {
	char *buf;
	size_t cap, n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
	t->n += (size_t)n < t->cap - t->n ? (size_t)n : t->cap - t->n - 1;
}

static void put_hex(struct text *t, const struct hp3_entry_value *v)
{
	put(t, "0x");
	for (uint32_t i = 0; i < v->bits / 8; i++)
		put(t, "%02x", v->bytes[i]);
}

/* SWX wants the mask of a prefix in hex. */
static void put_mask(struct text *t, const struct hp3_entry_value *v)
{
	put(t, "/0x");
	for (int i = 0; i < (int)v->bits; i += 8) {
		int left = v->prefix - i; /* bits of the prefix from this byte on */

		put(t, "%02x", left >= 8 ? 0xff : left > 0 ? 0xff00 >> left & 0xff : 0);
	}
}

void hp3_entry_swx(const struct hp3_entry *e, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	if (e->n_keys > 0)
		put(&t, "match");
	for (unsigned i = 0; i < e->n_keys; i++) {
		put(&t, " ");
		put_hex(&t, &e->key[i]);
		if (e->key[i].prefix >= 0)
			put_mask(&t, &e->key[i]);
	}
	put(&t, "%saction %s", e->n_keys > 0 ? " " : "", e->action);
	for (unsigned i = 0; i < e->n_args; i++) {
		put(&t, " %s ", e->arg[i].name);
		put_hex(&t, &e->arg[i]);
	}
}

static void bmv2_key(struct text *t, const struct hp3_entry_value *v)
{
	char ip[INET6_ADDRSTRLEN];

	if (v->prefix < 0) {
		put_hex(t, v);
		return;
	}
	inet_ntop(v->bits == 32 ? AF_INET : AF_INET6, v->bytes, ip, sizeof(ip));
	put(t, "%s/%d", ip, v->prefix);
}

static bool is_depth(const char *name)
{
	return strcmp(name, "kmin") == 0 || strcmp(name, "kmax") == 0 || strcmp(name, "width") == 0;
}

void hp3_entry_bmv2(const struct hp3_entry *e, uint32_t mtu, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	put(&t, "%s %s %s", e->n_keys > 0 ? "table_add" : "table_set_default", e->table, e->action);
	for (unsigned i = 0; i < e->n_keys; i++) {
		put(&t, " ");
		bmv2_key(&t, &e->key[i]);
	}
	if (e->n_keys > 0)
		put(&t, " =>");
	for (unsigned i = 0; i < e->n_args; i++) {
		const struct hp3_entry_value *v = &e->arg[i];

		put(&t, " ");
		if (is_depth(v->name))
			put(&t, "%u",
				(unsigned)((uint32_t)v->bytes[0] << 24 | v->bytes[1] << 16 |
					   v->bytes[2] << 8 | v->bytes[3]) /
					mtu);
		else
			put_hex(&t, v);
	}
}

/* Packets per microsecond, and one bucket: green or red. */
void hp3_entry_bmv2_meter(uint32_t rate_pps, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	put(&t, "meter_set_rates icmp_rate 0");
	for (unsigned i = 0; i < 2; i++)
		put(&t, " %.6f:%u", rate_pps / 1e6, HP3_ENTRY_ICMP_BURST(rate_pps));
}
