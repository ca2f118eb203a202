/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/flowid.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define QPN_DIGITS 6u
#define TAGS_TEXT  16u /* ".s4095.s4095" */

/* The outer tag, and the inner one if there is one. */
static void format_tags(uint32_t vlan, char text[TAGS_TEXT])
{
	struct hp3_tag tag[HP3_TAGS_MAX];
	int n = 0;

	text[0] = '\0';
	hp3_tags_make(vlan, 0, tag);
	for (uint32_t i = 0; i < HP3_TAGS_MAX && tag[i].tpid != 0; i++)
		n += snprintf(text + n, TAGS_TEXT - (size_t)n, ".%s%u",
			tag[i].tpid == HP3_TPID_8021AD ? "s" : "", tag[i].tci & HP3_VLAN_ID);
}

int hp3_flowid_format(const struct hp3_flowid *id, char *buf, size_t cap)
{
	int af = id->ipv6 ? AF_INET6 : AF_INET;
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN], tags[TAGS_TEXT];
	int n;

	inet_ntop(af, id->local, local, sizeof(local));
	inet_ntop(af, id->remote, remote, sizeof(remote));
	format_tags(id->vlan, tags);
	n = snprintf(buf, cap, "%s%s/%s-%s/0x%06x", id->rail, tags, local, remote, id->rqpn);
	return n > 0 && (size_t)n < cap ? n : -ENOSPC;
}

/* Copies s[0..n) as a string; -EINVAL if it is empty or does not fit. */
static int copy_part(char *dst, size_t cap, const char *s, size_t n)
{
	if (n == 0 || n >= cap)
		return -EINVAL;
	memcpy(dst, s, n);
	dst[n] = '\0';
	return 0;
}

/* Parses digits of the given base: no sign, blank or prefix. */
static int parse_digits(const char *s, size_t n, unsigned base, uint32_t max, uint32_t *out)
{
	uint32_t v = 0;

	if (n == 0 || n > QPN_DIGITS)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		static const char digits[] = "0123456789abcdef";
		char c = s[i];
		const char *d;

		if (c >= 'A' && c <= 'F')
			c = (char)(c + 'a' - 'A');
		d = memchr(digits, c, base);
		if (!d)
			return -EINVAL;
		v = v * base + (uint32_t)(d - digits);
	}
	*out = v;
	return v <= max ? 0 : -EINVAL;
}

/* VLAN[.INNER] as format_tags() writes it: a last tag of 0 is left out. */
static int parse_tags(const char *s, size_t n, uint32_t *vlan)
{
	for (uint32_t i = 0; i < HP3_TAGS_MAX; i++) {
		const char *dot = memchr(s, '.', n);
		const size_t len = dot ? (size_t)(dot - s) : n, ad = len > 0 && *s == 's';
		uint32_t vid, said;

		if (parse_digits(s + ad, len - ad, 10, HP3_VLAN_ID, &vid) < 0)
			return -EINVAL;
		said = hp3_tag_vlan(i, ad ? HP3_TPID_8021AD : HP3_TPID_8021Q, vid);
		*vlan |= said;
		if (!dot)
			return said != 0 ? 0 : -EINVAL;
		s += len + 1;
		n -= len + 1;
	}
	return -EINVAL;
}

static int parse_rail(struct hp3_flowid *id, const char *s, size_t n)
{
	const char *dot = memchr(s, '.', n);

	if (dot) {
		size_t head = (size_t)(dot - s);
		if (parse_tags(dot + 1, n - head - 1, &id->vlan) < 0)
			return -EINVAL;
		n = head;
	}
	return copy_part(id->rail, sizeof(id->rail), s, n);
}

static int parse_addresses(struct hp3_flowid *id, const char *s, size_t n)
{
	const char *dash = memchr(s, '-', n);
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

	if (!dash || copy_part(local, sizeof(local), s, (size_t)(dash - s)) < 0 ||
		copy_part(remote, sizeof(remote), dash + 1, n - (size_t)(dash - s) - 1) < 0)
		return -EINVAL;
	id->ipv6 = strchr(local, ':') != NULL;
	int af = id->ipv6 ? AF_INET6 : AF_INET;
	if (inet_pton(af, local, id->local) != 1 || inet_pton(af, remote, id->remote) != 1)
		return -EINVAL;
	return 0;
}

int hp3_flowid_parse(const char *text, struct hp3_flowid *id)
{
	const char *first = strchr(text, '/'), *last = strrchr(text, '/');

	memset(id, 0, sizeof(*id));
	if (!first || first == last || strncmp(last, "/0x", 3) != 0)
		return -EINVAL;
	if (parse_rail(id, text, (size_t)(first - text)) < 0 ||
		parse_addresses(id, first + 1, (size_t)(last - first) - 1) < 0)
		return -EINVAL;
	return parse_digits(last + 3, strlen(last + 3), 16, 0xffffffu, &id->rqpn);
}
