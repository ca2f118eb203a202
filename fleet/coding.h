/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_CODING_H
#define HP3_FLEET_CODING_H
/*
 * CBOR (RFC 8949) as messages of the fleet use it: unsigned integers, byte strings, texts and
 * arrays of known length, each in its shortest form, so that a message has one encoding only. Heads
 * are written and read by libcbor's streaming half, which allocates nothing.
 *
 * Both ends remember an error: what follows it does nothing, and who is done asks once.
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
	bool bad; /* not that type, not the shortest form, out of range, or at its end */
};

/* A number up to `max`; 0 if there is none. */
uint64_t hp3_cbor_get_uint(struct hp3_cbor_in *i, uint64_t max);
/* Up to `max` bytes to `to`; returns how many. */
size_t hp3_cbor_get_bytes(struct hp3_cbor_in *i, void *to, size_t max);
/* A text of letters, digits, '-' and '_', up to `cap` - 1 of them, with its NUL. */
void hp3_cbor_get_name(struct hp3_cbor_in *i, char *to, size_t cap);
/* Items of an array, up to `max`. */
size_t hp3_cbor_get_array(struct hp3_cbor_in *i, size_t max);

#endif
