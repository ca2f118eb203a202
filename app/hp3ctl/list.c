/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of flows: all pages, and the flow that an abbreviation names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/flowid.h"
#include "app/hp3ctl/hp3ctl.h"

#define PAGE           500
#define CANDIDATES_MAX 8u

int hp3ctl_each_page(struct hp3ctl *ctl, int (*fn)(void *arg, json_t *flows), void *arg)
{
	char after[HP3_FLOWID_MAX] = "";
	int rc;

	do {
		json_t *answer, *req = json_pack("{s:s, s:i}", "cmd", "flows", "limit", PAGE);
		const char *next;
		if (req && *after)
			json_object_set_new(req, "after", json_string(after));
		rc = hp3ctl_ask(ctl, req, &answer);
		if (rc != HP3CTL_DONE)
			return rc;
		rc = fn(arg, json_object_get(answer, "data"));
		next = json_string_value(json_object_get(answer, "next"));
		snprintf(after, sizeof(after), "%s", next ? next : "");
		json_decref(answer);
	} while (rc == HP3CTL_DONE && *after);
	return rc;
}

struct search {
	const char *text;
	uint32_t qpn;
	bool by_qpn;
	char candidate[CANDIDATES_MAX][HP3_FLOWID_MAX];
	unsigned found;
};

static bool matches(const struct search *s, const char *id)
{
	size_t n = strlen(s->text), m = strlen(id);
	struct hp3_flowid parsed;

	if (s->by_qpn)
		return hp3_flowid_parse(id, &parsed) == 0 && parsed.rqpn == s->qpn;
	if (strncmp(id, s->text, n) == 0)
		return true;
	return n < m && id[m - n - 1] == '/' && strcmp(id + m - n, s->text) == 0;
}

static int search_page(void *arg, json_t *flows)
{
	struct search *s = arg;
	json_t *flow;
	size_t i;

	json_array_foreach (flows, i, flow) {
		const char *id = json_string_value(json_object_get(flow, "flow"));
		if (!id || !matches(s, id))
			continue;
		if (s->found < CANDIDATES_MAX)
			snprintf(s->candidate[s->found], HP3_FLOWID_MAX, "%s", id);
		s->found++;
	}
	return HP3CTL_DONE;
}

static int ambiguous(struct hp3ctl *ctl, const struct search *s)
{
	char list[CANDIDATES_MAX * (HP3_FLOWID_MAX + 4) + 32] = "";
	size_t n = 0;

	for (unsigned i = 0; i < s->found && i < CANDIDATES_MAX; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "\n    %s", s->candidate[i]);
	if (s->found > CANDIDATES_MAX)
		snprintf(
			list + n, sizeof(list) - n, "\n    and %u more", s->found - CANDIDATES_MAX);
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "ambiguous", "give more of the id", "%s may be%s",
		s->text, list);
}

int hp3ctl_resolve(struct hp3ctl *ctl, const char *text, char *id, size_t cap)
{
	struct search s = {.text = text};
	struct hp3_flowid full;
	char *end;
	int rc;

	if (hp3_flowid_parse(text, &full) == 0)
		return hp3_flowid_format(&full, id, cap) > 0 ? HP3CTL_DONE : HP3CTL_FAILED;
	if (strncmp(text, "0x", 2) == 0) {
		s.qpn = (uint32_t)strtoul(text + 2, &end, 16);
		s.by_qpn = *end == '\0' && end > text + 2;
	}
	rc = hp3ctl_each_page(ctl, search_page, &s);
	if (rc != HP3CTL_DONE)
		return rc;
	if (s.found == 0)
		return hp3ctl_fail(ctl, HP3CTL_NOT_FOUND, "not-found",
			"hp3ctl flows lists what hp3d knows", "no flow %s", text);
	if (s.found > 1)
		return ambiguous(ctl, &s);
	snprintf(id, cap, "%s", s.candidate[0]);
	return HP3CTL_DONE;
}
