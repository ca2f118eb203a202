/* SPDX-License-Identifier: BSD-3-Clause */
/* The opcode table against a second one, from the IBTA specification (tables 35 to 38). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/opcode.h"

struct expected {
	uint8_t op, class, ext_len;
	const char *name;
};

#define REQ HP3_CLASS_RC_REQUEST
#define REP HP3_CLASS_RC_REPLY
#define UC  HP3_CLASS_UC

static const struct expected known[] = {
	{0x00, REQ, 0, "RC SEND FIRST"},
	{0x01, REQ, 0, "RC SEND MIDDLE"},
	{0x02, REQ, 0, "RC SEND LAST"},
	{0x03, REQ, 4, "RC SEND LAST IMM"},
	{0x04, REQ, 0, "RC SEND ONLY"},
	{0x05, REQ, 4, "RC SEND ONLY IMM"},
	{0x06, REQ, 16, "RC WRITE FIRST"},
	{0x07, REQ, 0, "RC WRITE MIDDLE"},
	{0x08, REQ, 0, "RC WRITE LAST"},
	{0x09, REQ, 4, "RC WRITE LAST IMM"},
	{0x0a, REQ, 16, "RC WRITE ONLY"},
	{0x0b, REQ, 20, "RC WRITE ONLY IMM"},
	{0x0c, REQ, 16, "RC READ REQUEST"},
	{0x0d, REP, 4, "RC READ RESPONSE FIRST"},
	{0x0e, REP, 0, "RC READ RESPONSE MIDDLE"},
	{0x0f, REP, 4, "RC READ RESPONSE LAST"},
	{0x10, REP, 4, "RC READ RESPONSE ONLY"},
	{0x11, REP, 4, "RC ACK"},
	{0x12, REP, 12, "RC ATOMIC ACK"},
	{0x13, REQ, 28, "RC COMPARE SWAP"},
	{0x14, REQ, 28, "RC FETCH ADD"},
	{0x16, REQ, 4, "RC SEND LAST INV"},
	{0x17, REQ, 4, "RC SEND ONLY INV"},
	{0x1c, REQ, 20, "RC FLUSH"},
	{0x1d, REQ, 16, "RC ATOMIC WRITE"},
	{0x20, UC, 0, "UC SEND FIRST"},
	{0x21, UC, 0, "UC SEND MIDDLE"},
	{0x22, UC, 0, "UC SEND LAST"},
	{0x23, UC, 4, "UC SEND LAST IMM"},
	{0x24, UC, 0, "UC SEND ONLY"},
	{0x25, UC, 4, "UC SEND ONLY IMM"},
	{0x26, UC, 16, "UC WRITE FIRST"},
	{0x27, UC, 0, "UC WRITE MIDDLE"},
	{0x28, UC, 0, "UC WRITE LAST"},
	{0x29, UC, 4, "UC WRITE LAST IMM"},
	{0x2a, UC, 16, "UC WRITE ONLY"},
	{0x2b, UC, 20, "UC WRITE ONLY IMM"},
	{0x64, HP3_CLASS_UD, 8, "UD SEND ONLY"},
	{0x65, HP3_CLASS_UD, 12, "UD SEND ONLY IMM"},
	{0x81, HP3_CLASS_CNP, 0, "CNP"},
};

static const struct expected *find(unsigned op)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].op == op)
			return &known[i];
	return NULL;
}

static void every_opcode(void **state)
{
	for (unsigned op = 0; op < 256; op++) {
		const struct hp3_opcode_info *info = &hp3_opcodes[op];
		const struct expected *e = find(op);
		if (e) {
			assert_string_equal(info->name, e->name);
			assert_int_equal(info->class, e->class);
			assert_int_equal(info->ext_len, e->ext_len);
			assert_false(info->flags & HP3_VF_UNKNOWN);
		} else {
			assert_null(info->name);
			assert_int_equal(info->class, op < 0x20 ? REQ : HP3_CLASS_ROCE_OTHER);
			assert_int_equal(info->ext_len, 0);
			assert_int_equal(info->flags, op < 0x20 ? HP3_VF_UNKNOWN : 0);
		}
	}
}

static void flags_follow_names(void **state)
{
	for (unsigned op = 0; op < 256; op++) {
		const struct hp3_opcode_info *info = &hp3_opcodes[op];
		const char *n = info->name;
		if (!n)
			continue;
		/* READ RESPONSE ONLY answers these two, as it answers a short READ. */
		bool read = strstr(n, "READ") || strstr(n, "FLUSH") || strstr(n, "ATOMIC WRITE");
		bool atomic =
			!read && (strstr(n, "ATOMIC") || strstr(n, "SWAP") || strstr(n, "FETCH"));
		bool whole = strstr(n, "ONLY") || strstr(n, "REQUEST") || strstr(n, "FLUSH") ||
			     strstr(n, "ATOMIC WRITE") || atomic;
		assert_int_equal(!!(info->flags & HP3_VF_FIRST), whole || strstr(n, "FIRST"));
		assert_int_equal(!!(info->flags & HP3_VF_LAST), whole || strstr(n, "LAST"));
		assert_int_equal(!!(info->flags & HP3_VF_READ), read);
		assert_int_equal(!!(info->flags & HP3_VF_ATOMIC), atomic);
		assert_int_equal(!!(info->flags & HP3_VF_AETH), !!(info->ext & HP3_EXT_AETH));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode),
		cmocka_unit_test(flags_follow_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
