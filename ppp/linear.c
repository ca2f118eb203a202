/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports are vectors of 14 bits, relative to the first port traced (the origin). NAME: two ports
 * belong to one coset of the kernel iff they reduce to the same remainder, whose bits at the
 * leading positions of the kernel are 0. The remaining bits number the cosets, which gives the
 * order in which they are explored: 1; 2, 3; 4 .. 7; ... So each new direction costs one trace if
 * it is in the kernel.
 */
#include <string.h>
#include "base/names.h"
#include "ppp/linear.h"

#define PORT_MASK (HP3_PORT_COUNT - 1)

static enum hp3_linear_state refuse_model(struct hp3_linear *l, enum hp3_linear_reason why)
{
	l->reason = (uint8_t)why;
	l->state = HP3_LINEAR_REFUSED;
	return HP3_LINEAR_REFUSED;
}

/* Subtracts the vectors of the echelon form; *effect is the resulting change of the label. */
static uint16_t reduce_vector(const struct hp3_linear *l, uint16_t v, uint32_t *effect)
{
	for (unsigned i = HP3_PORT_BITS; i--;) {
		if (v >> i & 1 && l->vector[i]) {
			v ^= l->vector[i];
			*effect ^= l->effect[i];
		}
	}
	return v;
}

/* `v` is a remainder of reduce_vector(), not 0. */
static void insert_vector(struct hp3_linear *l, uint16_t v, uint32_t effect)
{
	unsigned lead = 31 - (unsigned)__builtin_clz(v);

	l->vector[lead] = v;
	l->effect[lead] = effect;
	l->rank++;
}

/* Predicts the label of `port` from the traces so far. */
static bool predict_label(const struct hp3_linear *l, uint16_t port, uint32_t *label)
{
	uint32_t effect = 0;
	uint16_t rest;

	if (l->traces == 0)
		return false;
	rest = reduce_vector(l, port ^ l->port[0], &effect);
	if (l->labels == HP3_LABELS_INDEX) {
		*label = l->label[0] ^ effect;
		return rest == 0;
	}
	for (unsigned i = 0; i < l->traces; i++) {
		if (reduce_vector(l, l->port[i] ^ l->port[0], &effect) == rest) {
			*label = l->label[i];
			return true;
		}
	}
	return false;
}

/* NAME: one label per coset, one coset per label? */
static bool is_consistent(const struct hp3_linear *l)
{
	uint16_t rest[HP3_LINEAR_TRACES];
	uint32_t none = 0;

	for (unsigned i = 0; i < l->traces; i++) {
		rest[i] = reduce_vector(l, l->port[i] ^ l->port[0], &none);
		for (unsigned j = 0; j < i; j++) {
			if ((rest[i] == rest[j]) != (l->label[i] == l->label[j]))
				return false;
		}
	}
	return true;
}

/* Bits of evidence in one confirmed prediction: a hash that is not linear would match by chance. */
static uint8_t evidence_bits(const struct hp3_linear *l, uint32_t names)
{
	if (l->labels == HP3_LABELS_INDEX || names < 2)
		return 1;
	return (uint8_t)(31 - __builtin_clz(names));
}

static bool is_determined(const struct hp3_linear *l)
{
	if (l->labels == HP3_LABELS_INDEX)
		return l->traces > 0 && l->rank == HP3_PORT_BITS;
	return l->names == 1u << (HP3_PORT_BITS - l->rank);
}

/* Adds a trace that was not predicted. */
static bool learn_trace(struct hp3_linear *l, uint16_t port, uint32_t label)
{
	uint32_t effect = 0;
	uint16_t rest;
	unsigned i = 0;

	if (l->labels == HP3_LABELS_INDEX) {
		if (l->traces > 0) {
			rest = reduce_vector(l, port ^ l->port[0], &effect);
			insert_vector(l, rest, effect ^ label ^ l->label[0]);
		}
		return true;
	}
	while (i < l->traces && l->label[i] != label)
		i++;
	if (i == l->traces) {
		l->names++;
		return l->names <= 1u << l->bits;
	}
	insert_vector(l, reduce_vector(l, port ^ l->port[i], &effect), 0);
	return true;
}

enum hp3_linear_state hp3_linear_init(
	struct hp3_linear *l, enum hp3_linear_labels labels, uint32_t paths, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	l->rng = seed;
	l->labels = (uint8_t)labels;
	l->reason = HP3_LINEAR_WHY_TOO_FEW;
	if (paths < 2 || paths > HP3_LINEAR_PATHS || (paths & (paths - 1)))
		return refuse_model(l, HP3_LINEAR_WHY_PATHS);
	l->bits = (uint8_t)(31 - __builtin_clz(paths));
	return l->state;
}

enum hp3_linear_state hp3_linear_add(struct hp3_linear *l, uint16_t port, uint32_t label)
{
	uint32_t predicted;
	bool known;

	if (l->state == HP3_LINEAR_REFUSED)
		return l->state;
	port &= PORT_MASK;
	for (unsigned i = 0; i < l->traces; i++) {
		if (l->port[i] == port)
			return l->label[i] == label ? l->state
						    : refuse_model(l, HP3_LINEAR_WHY_CHANGED);
	}
	if (l->labels == HP3_LABELS_INDEX && label >> l->bits)
		return refuse_model(l, HP3_LINEAR_WHY_LABEL);
	known = predict_label(l, port, &predicted);
	if (known && predicted != label)
		return refuse_model(l, HP3_LINEAR_WHY_CONTRADICTION);
	if (l->state == HP3_LINEAR_BELIEVED)
		return l->state;
	if (l->traces == HP3_LINEAR_TRACES)
		return refuse_model(l, HP3_LINEAR_WHY_FULL);
	if (known)
		l->proof += evidence_bits(l, l->names);
	else if (!learn_trace(l, port, label))
		return refuse_model(l, HP3_LINEAR_WHY_MANY);
	l->port[l->traces] = port;
	l->label[l->traces++] = label;
	if (!known && l->labels == HP3_LABELS_NAME && !is_consistent(l))
		return refuse_model(l, HP3_LINEAR_WHY_CONTRADICTION);
	if (is_determined(l)) {
		bool enough = l->proof >= HP3_LINEAR_PROOF;

		l->state = enough ? HP3_LINEAR_BELIEVED : HP3_LINEAR_VERIFYING;
		l->reason = enough ? HP3_LINEAR_WHY_NONE : HP3_LINEAR_WHY_UNCONFIRMED;
	}
	return l->state;
}

/* Number `n` of the vectors whose bits at the leading positions are 0. */
static uint16_t vector_of_number(const struct hp3_linear *l, uint32_t n)
{
	uint16_t v = 0;

	for (unsigned i = 0; i < HP3_PORT_BITS; i++) {
		if (l->vector[i])
			continue;
		v |= (uint16_t)((n & 1) << i);
		n >>= 1;
	}
	return v;
}

uint16_t hp3_linear_next(struct hp3_linear *l)
{
	uint32_t label, n = 1;
	uint16_t port;

	if (l->traces == 0)
		return hp3_random_port(&l->rng);
	if (l->state != HP3_LINEAR_TRACING) {
		unsigned i;

		do { /* traces < 192 of 16,384 */
			port = hp3_random_port(&l->rng);
			for (i = 0; i < l->traces && l->port[i] != (port & PORT_MASK); i++)
				;
		} while (i < l->traces);
		return port;
	}
	do {
		port = l->port[0] ^ vector_of_number(l, n++);
	} while (predict_label(l, port, &label));
	return (uint16_t)(HP3_PORT_FIRST | port);
}

bool hp3_linear_path(const struct hp3_linear *l, uint16_t port, uint32_t *label)
{
	return l->state == HP3_LINEAR_BELIEVED && predict_label(l, port & PORT_MASK, label);
}

bool hp3_linear_shift(const struct hp3_linear *l, uint16_t port, uint32_t label, uint16_t *shift)
{
	uint32_t at;

	for (uint32_t i = 0; i < HP3_PORT_COUNT; i++) {
		if (!hp3_linear_path(l, (uint16_t)i, &at))
			return false;
		if (at == label) {
			*shift = (uint16_t)((port ^ i) & PORT_MASK);
			return true;
		}
	}
	return false;
}

const char *hp3_linear_reason_text(enum hp3_linear_reason r)
{
	static const char *const text[] = {HP3_LINEAR_REASONS(HP3_NAME_TEXT)};

	return HP3_NAME(text, r);
}
