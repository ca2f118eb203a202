/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The subset of CBOR (RFC 8949) in fleet messages: unsigned integers, byte strings, texts and
 * arrays of known length. Each item is in its shortest form, so a message has only one encoding.
 * libcbor's streaming functions, which allocate nothing, write and read the heads.
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

/* A number up to `max`; 0 if there is none. */
uint64_t hp3_cbor_get_uint(struct hp3_cbor_in *i, uint64_t max);
/* Copies a byte string of up to `max` bytes to `to`; returns its length. */
size_t hp3_cbor_get_bytes(struct hp3_cbor_in *i, void *to, size_t max);
/* Copies a text of at most `cap` - 1 letters, digits, '-' and '_', and adds a NUL. */
void hp3_cbor_get_name(struct hp3_cbor_in *i, char *to, size_t cap);
/* The number of items of an array, up to `max`. */
size_t hp3_cbor_get_array(struct hp3_cbor_in *i, size_t max);
