/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The subset of CBOR (RFC 8949) that fleet messages use: unsigned integers, byte strings, texts and
 * arrays of known length. Each item is in its shortest form, so a message has only one encoding.
 * The heads of items are written and read by libcbor's streaming functions, which allocate nothing.
 *
 * After an error, further calls do nothing. The caller checks `bad` once, at the end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp3_cbor_out {
	uint8_t *at;
	size_t left;
	bool bad; /* no room */
};

void hp3_cbor_put_uint(struct hp3_cbor_out *o, uint64_t v);
void hp3_cbor_put_bytes(struct hp3_cbor_out *o, const void *bytes, size_t n);
void hp3_cbor_put_text(struct hp3_cbor_out *o, const char *text);
void hp3_cbor_put_array(struct hp3_cbor_out *o, size_t items);

struct hp3_cbor_in {
	const uint8_t *at;
	size_t left;
	bool bad; /* wrong type, not the shortest form, out of range, or no more bytes */
};

/* Reads a number up to `max`; 0 after an error. */
uint64_t hp3_cbor_get_uint(struct hp3_cbor_in *i, uint64_t max);
/* Copies a byte string of up to `max` bytes to `to`; returns its length. */
size_t hp3_cbor_get_bytes(struct hp3_cbor_in *i, void *to, size_t max);
/* Copies a text of at most `cap` - 1 letters, digits, '-' and '_', and adds a NUL. */
void hp3_cbor_get_name(struct hp3_cbor_in *i, char *to, size_t cap);
/* Reads the head of an array. Returns its number of items, up to `max`; 0 after an error. */
size_t hp3_cbor_get_array(struct hp3_cbor_in *i, size_t max);
