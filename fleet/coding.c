/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/coding.h"
#include <string.h>
#include <cbor.h>
#include "fleet/names.h"

static void put_head(
	struct hp3_cbor_out *o, size_t (*encode)(uint64_t, unsigned char *, size_t), uint64_t n)
{
	size_t used = o->bad ? 0 : encode(n, o->at, o->left);

	o->bad |= used == 0;
	o->at += used;
	o->left -= used;
}

void hp3_cbor_put_uint(struct hp3_cbor_out *o, uint64_t v)
{
	put_head(o, cbor_encode_uint, v);
}

static void put_body(struct hp3_cbor_out *o, const void *bytes, size_t n)
{
	o->bad |= n > o->left;
	if (o->bad)
		return;
	memcpy(o->at, bytes, n);
	o->at += n;
	o->left -= n;
}

void hp3_cbor_put_bytes(struct hp3_cbor_out *o, const void *bytes, size_t n)
{
	put_head(o, cbor_encode_bytestring_start, n);
	put_body(o, bytes, n);
}

void hp3_cbor_put_text(struct hp3_cbor_out *o, const char *text)
{
	put_head(o, cbor_encode_string_start, strlen(text));
	put_body(o, text, strlen(text));
}

void hp3_cbor_put_array(struct hp3_cbor_out *o, size_t items)
{
	put_head(o, cbor_encode_array_start, items);
}

/* The head that libcbor decodes next. */
enum item_kind { NOTHING, UINT, BYTES, TEXT, ARRAY };

struct item {
	enum item_kind kind;
	uint64_t n; /* value, length, items */
	const uint8_t *body;
};

static void got_uint8(void *arg, uint8_t v)
{
	*(struct item *)arg = (struct item){.kind = UINT, .n = v};
}

static void got_uint16(void *arg, uint16_t v)
{
	*(struct item *)arg = (struct item){.kind = UINT, .n = v};
}

static void got_uint32(void *arg, uint32_t v)
{
	*(struct item *)arg = (struct item){.kind = UINT, .n = v};
}

static void got_uint64(void *arg, uint64_t v)
{
	*(struct item *)arg = (struct item){.kind = UINT, .n = v};
}

static void got_bytes(void *arg, cbor_data body, size_t n)
{
	*(struct item *)arg = (struct item){.kind = BYTES, .n = n, .body = body};
}

static void got_text(void *arg, cbor_data body, size_t n)
{
	*(struct item *)arg = (struct item){.kind = TEXT, .n = n, .body = body};
}

static void got_array(void *arg, size_t n)
{
	*(struct item *)arg = (struct item){.kind = ARRAY, .n = n};
}

/* Bytes of the shortest head for `n` (RFC 8949, 4.2.1). */
static size_t head_bytes(uint64_t n)
{
	if (n < 24)
		return 1;
	if (n <= UINT8_MAX)
		return 2;
	if (n <= UINT16_MAX)
		return 3;
	return n <= UINT32_MAX ? 5 : 9;
}

static struct item get_item(struct hp3_cbor_in *i, enum item_kind kind, uint64_t max)
{
	struct cbor_callbacks callbacks = cbor_empty_callbacks;
	struct cbor_decoder_result r = {0};
	struct item it = {0};

	callbacks.uint8 = got_uint8;
	callbacks.uint16 = got_uint16;
	callbacks.uint32 = got_uint32;
	callbacks.uint64 = got_uint64;
	callbacks.byte_string = got_bytes;
	callbacks.string = got_text;
	callbacks.array_start = got_array;
	if (!i->bad && i->left > 0)
		r = cbor_stream_decode(i->at, i->left, &callbacks, &it);
	if (i->bad || i->left == 0 || r.status != CBOR_DECODER_FINISHED || it.kind != kind ||
		it.n > max || r.read != head_bytes(it.n) + (it.body != NULL ? it.n : 0)) {
		i->bad = true;
		return (struct item){0};
	}
	i->at += r.read;
	i->left -= r.read;
	return it;
}

uint64_t hp3_cbor_get_uint(struct hp3_cbor_in *i, uint64_t max)
{
	return get_item(i, UINT, max).n;
}

size_t hp3_cbor_get_bytes(struct hp3_cbor_in *i, void *to, size_t max)
{
	struct item it = get_item(i, BYTES, max);

	if (it.n > 0)
		memcpy(to, it.body, it.n);
	return it.n;
}

void hp3_cbor_get_name(struct hp3_cbor_in *i, char *to, size_t cap)
{
	struct item it = get_item(i, TEXT, cap - 1);

	if (it.n > 0)
		memcpy(to, it.body, it.n);
	to[it.n] = '\0';
	i->bad |= strlen(to) != it.n || !hp3_fleet_is_name(to);
}

size_t hp3_cbor_get_array(struct hp3_cbor_in *i, size_t max)
{
	return get_item(i, ARRAY, max).n;
}
