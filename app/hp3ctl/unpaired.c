/* SPDX-License-Identifier: BSD-3-Clause */
/* Why flows are not paired, and what helps: a paragraph for each reason. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define TEXT_MAX 512u

void hp3ctl_print_wrapped(const char *text, int column, int indent)
{
	int begin = column;

	while (*text != '\0') {
		int n = (int)strcspn(text, " ");

		if (column > begin && column + 1 + n > HP3CTL_WIDTH) {
			column = printf("\n%*s", indent, "") - 1;
			begin = column;
		} else if (column > begin) {
			column += printf(" ");
		}
		column += printf("%.*s", n, text);
		text += n;
		text += strspn(text, " ");
	}
	putchar('\n');
}

void hp3ctl_count_unpaired(json_t *reasons, json_t *flow)
{
	const char *code = json_string_value(json_object_get(flow, "unpaired"));
	json_t *reason = json_object_get(reasons, code ? code : "");

	if (!code)
		return;
	if (!reason) {
		reason = json_pack("{s:i, s:s, s:s}", "flows", 0, "text",
			hp3ctl_text(flow, "unpaired_text"), "help",
			hp3ctl_text(flow, "unpaired_help"));
		json_object_set_new(reasons, code, reason);
	}
	json_object_set_new(reason, "flows", json_integer(hp3ctl_number(reason, "flows") + 1));
}

void hp3ctl_print_unpaired(json_t *reasons)
{
	char text[TEXT_MAX];
	const char *code;
	json_t *reason;

	json_object_foreach (reasons, code, reason) {
		json_int_t n = hp3ctl_number(reason, "flows");

		snprintf(text, sizeof(text), "%lld %s not paired, %s: %s; %s", n,
			n == 1 ? "flow is" : "flows are", code, hp3ctl_text(reason, "text"),
			hp3ctl_text(reason, "help"));
		hp3ctl_print_wrapped(text, 0, 2);
	}
}
