/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting field A leaves field B intact: this test has its own list of the bits of each field. A
 * change of one field, by a builder or a setter, may change only the bits of that field and of the
 * ICRC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/build.h"
#include "roce/icrc.h"
#include "roce_frames.h"

#define SEED 0xf1e1du
#define UDP  34u
#define BTH  (UDP + 8)
#define EXT  (BTH + 12)

struct wire_field {
	const char *name;
	uint8_t opcode; /* one that carries it */
	uint16_t at; /* byte of the frame */
	uint8_t len;
	uint8_t mask; /* of its bits in its only byte; 0: whole bytes */
	size_t member; /* in struct hp3_fields */
	uint8_t size; /* of the member */
	uint64_t values; /* largest value */
};

#define MEMBER(m) offsetof(struct hp3_fields, m), sizeof(((struct hp3_fields *)0)->m)

static const struct wire_field fields[] = {
	{"solicited", HP3_OP_RC_SEND_ONLY, BTH + 1, 1, 0x80, MEMBER(solicited), 1},
	{"becn", HP3_OP_RC_SEND_ONLY, BTH + 4, 1, 0x40, MEMBER(becn), 1},
	{"dest_qpn", HP3_OP_RC_SEND_ONLY, BTH + 5, 3, 0, MEMBER(dest_qpn), 0xffffff},
	{"ackreq", HP3_OP_RC_SEND_ONLY, BTH + 8, 1, 0x80, MEMBER(ackreq), 1},
	{"psn", HP3_OP_RC_SEND_ONLY, BTH + 9, 3, 0, MEMBER(psn), 0xffffff},
	{"va", HP3_OP_RC_WRITE_ONLY_IMM, EXT, 8, 0, MEMBER(va), UINT64_MAX},
	{"rkey", HP3_OP_RC_WRITE_ONLY_IMM, EXT + 8, 4, 0, MEMBER(rkey), UINT32_MAX},
	{"dma_len", HP3_OP_RC_WRITE_ONLY_IMM, EXT + 12, 4, 0, MEMBER(dma_len), UINT32_MAX},
	{"imm", HP3_OP_RC_WRITE_ONLY_IMM, EXT + 16, 4, 0, MEMBER(imm), UINT32_MAX},
	{"ieth", HP3_OP_RC_SEND_ONLY_INV, EXT, 4, 0, MEMBER(imm), UINT32_MAX},
	{"syndrome", HP3_OP_RC_ATOMIC_ACK, EXT, 1, 0, MEMBER(syndrome), 255},
	{"msn", HP3_OP_RC_ATOMIC_ACK, EXT + 1, 3, 0, MEMBER(msn), 0xffffff},
	{"orig", HP3_OP_RC_ATOMIC_ACK, EXT + 4, 8, 0, MEMBER(orig), UINT64_MAX},
	{"atomic va", HP3_OP_RC_CMP_SWAP, EXT, 8, 0, MEMBER(va), UINT64_MAX},
	{"atomic rkey", HP3_OP_RC_CMP_SWAP, EXT + 8, 4, 0, MEMBER(rkey), UINT32_MAX},
	{"swap_add", HP3_OP_RC_CMP_SWAP, EXT + 12, 8, 0, MEMBER(swap_add), UINT64_MAX},
	{"compare", HP3_OP_RC_CMP_SWAP, EXT + 20, 8, 0, MEMBER(compare), UINT64_MAX},
	{"qkey", HP3_OP_UD_SEND_ONLY_IMM, EXT, 4, 0, MEMBER(qkey), UINT32_MAX},
	{"src_qpn", HP3_OP_UD_SEND_ONLY_IMM, EXT + 5, 3, 0, MEMBER(src_qpn), 0xffffff},
	{"ud imm", HP3_OP_UD_SEND_ONLY_IMM, EXT + 8, 4, 0, MEMBER(imm), UINT32_MAX},
};

/* Value of a field on the wire, most significant byte first. */
static uint64_t read_field(const uint8_t *f, const struct wire_field *w)
{
	uint64_t v = 0;

	if (w->mask)
		return !!(f[w->at] & w->mask);
	for (uint32_t i = 0; i < w->len; i++)
		v = v << 8 | f[w->at + i];
	return v;
}

static struct hp3_fields random_fields(struct rng *r, uint8_t opcode)
{
	struct hp3_fields f = {.opcode = opcode};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t v = rng_next(r) & fields[i].values;
		memcpy((uint8_t *)&f + fields[i].member, &v, fields[i].size);
	}
	return f;
}

/* Turns the field's own bits back; the rest must be equal. */
static void only_field_differs(
	uint8_t *a, const uint8_t *b, uint32_t len, const struct wire_field *w)
{
	if (w->mask)
		a[w->at] = (uint8_t)((a[w->at] & ~w->mask) | (b[w->at] & w->mask));
	else
		memcpy(a + w->at, b + w->at, w->len);
	assert_memory_equal(a, b, len - 4);
}

static void build_one_field(void **state)
{
	struct rng r = {SEED};
	const struct hp3_addressing addr = {.sport = 0xc123, .pkey = 0xffff, .ttl = 64};
	uint8_t a[HP3_BUILD_MAX_HDR], b[HP3_BUILD_MAX_HDR];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct wire_field *w = &fields[i];
		for (int k = 0; k < 500; k++) {
			struct hp3_fields f = random_fields(&r, w->opcode), g = f;
			uint64_t v = rng_next(&r) & w->values, old = 0;
			memcpy(&old, (uint8_t *)&f + w->member, w->size);
			memcpy((uint8_t *)&g + w->member, &v, w->size);
			int len = hp3_build(a, sizeof(a), &addr, &f);
			assert_true(len > 0);
			assert_int_equal(hp3_build(b, sizeof(b), &addr, &g), len);
			assert_int_equal(read_field(a, w), old);
			assert_int_equal(read_field(b, w), v);
			only_field_differs(b, a, (uint32_t)len, w);
		}
	}
}

enum setter { SPORT, ACKREQ, SPORT_ACKREQ, BECN, SETTERS };

static void apply(enum setter s, uint8_t *f, struct hp3_view *v, uint16_t port, bool on)
{
	if (s == SPORT)
		hp3_set_sport(f, v, port);
	else if (s == ACKREQ)
		hp3_set_ackreq(f, v, on);
	else if (s == SPORT_ACKREQ)
		hp3_set_sport_ackreq(f, v, port, on);
	else
		hp3_set_becn(f, v, on);
}

/* All setters against all fields. */
static void setters(void **state)
{
	struct rng r = {SEED + 1};
	const struct hp3_addressing addr = {.sport = 0xc123, .pkey = 0xffff, .ttl = 64};

	for (enum setter s = 0; s < SETTERS; s++) {
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			const struct wire_field *w = &fields[i];
			bool own =
				(!strcmp(w->name, "becn") && s == BECN) ||
				(!strcmp(w->name, "ackreq") && (s == ACKREQ || s == SPORT_ACKREQ));
			for (int k = 0; k < 100; k++) {
				uint8_t a[HP3_BUILD_MAX_HDR];
				struct hp3_fields f = random_fields(&r, w->opcode);
				struct hp3_view v;
				int len = hp3_build(a, sizeof(a), &addr, &f);
				assert_true(len > 0);
				hp3_parse(a, (uint32_t)len, &v);
				uint64_t old = read_field(a, w);
				bool on = rng_below(&r, 2);
				apply(s, a, &v, (uint16_t)rng_next(&r), on);
				assert_int_equal(read_field(a, w), own ? on : old);
				assert_int_equal(hp3_be16(a + UDP + 2), HP3_ROCE_UDP_PORT);
				assert_int_equal(hp3_be16(a + BTH + 2), addr.pkey);
			}
		}
	}
}

/* Accessors of wire.h: what is put is read, the neighbours stay. */
static void accessors(void **state)
{
	struct rng r = {SEED + 2};

	for (int i = 0; i < 10000; i++) {
		uint64_t v = rng_next(&r), edge = rng_next(&r);
		uint8_t b[10];
		memset(b, (int)(edge & 0xff), sizeof(b));
		hp3_put_be16(b + 1, (uint16_t)v);
		assert_int_equal(hp3_be16(b + 1), v & 0xffff);
		assert_int_equal(b[3], edge & 0xff);
		hp3_put_be24(b + 1, (uint32_t)v & 0xffffff);
		assert_int_equal(hp3_be24(b + 1), v & 0xffffff);
		assert_int_equal(b[4], edge & 0xff);
		hp3_put_be32(b + 1, (uint32_t)v);
		assert_int_equal(hp3_be32(b + 1), v & 0xffffffff);
		assert_int_equal(b[5], edge & 0xff);
		hp3_put_be64(b + 1, v);
		assert_int_equal(hp3_be64(b + 1), v);
		assert_int_equal(b[1], v >> 56);
		assert_int_equal(b[9], edge & 0xff);
		assert_int_equal(b[0], edge & 0xff);
	}
}

static void psn_arithmetic(void **state)
{
	assert_int_equal(hp3_psn_diff(0, 0xffffff), 1);
	assert_int_equal(hp3_psn_diff(0xffffff, 0), -1);
	assert_int_equal(hp3_psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(hp3_psn_diff(0x800000, 0), -0x800000);
	assert_int_equal(hp3_psn_add(0xfffffe, 3), 1);
	assert_int_equal(hp3_psn_diff(hp3_psn_add(0xfffff0, 100), 0xfffff0), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_one_field),
		cmocka_unit_test(setters),
		cmocka_unit_test(accessors),
		cmocka_unit_test(psn_arithmetic),
	};
	print_message("seed 0x%x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
