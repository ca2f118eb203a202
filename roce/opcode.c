/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The opcode table. FIRST and LAST mark the ends of messages. ONLY packets, READ requests, FLUSH,
 * atomic requests and their acknowledges are whole messages, and have both. A plain ACK belongs to
 * no message, and has neither.
 */
#include "roce/opcode.h"

#define EXT_LEN(e)                                                                                 \
	(((e)&HP3_EXT_RETH ? 16 : 0) + ((e)&HP3_EXT_AETH ? 4 : 0) + ((e)&HP3_EXT_IMM ? 4 : 0) +    \
		((e)&HP3_EXT_ATOMIC ? 28 : 0) + ((e)&HP3_EXT_ATOMICACK ? 8 : 0) +                  \
		((e)&HP3_EXT_DETH ? 8 : 0) + ((e)&HP3_EXT_IETH ? 4 : 0) +                          \
		((e)&HP3_EXT_FETH ? 20 : 0))

#define PLAIN(class)                                                                               \
	((class) == HP3_CLASS_RC_REQUEST || (class) == HP3_CLASS_RC_REPLY ||                       \
		(class) == HP3_CLASS_CNP)

#define OP(op, text, cls, e, f)                                                                    \
	[op] = {.name = (text),                                                                    \
		.class = HP3_CLASS_##cls,                                                          \
		.ext = (e),                                                                        \
		.ext_len = EXT_LEN(e),                                                             \
		.plain_len = PLAIN(HP3_CLASS_##cls) ? EXT_LEN(e) : HP3_NOT_PLAIN,                  \
		.flags = (f) | ((e)&HP3_EXT_AETH ? HP3_VF_AETH : 0)}

#define FIRST HP3_VF_FIRST
#define LAST  HP3_VF_LAST
#define ONLY  (HP3_VF_FIRST | HP3_VF_LAST)

/* SEND and WRITE are the same in RC and UC. */
#define SEND_AND_WRITE(base, transport, cls)                                                       \
	OP((base) + 0x00, transport " SEND FIRST", cls, 0, FIRST),                                 \
		OP((base) + 0x01, transport " SEND MIDDLE", cls, 0, 0),                            \
		OP((base) + 0x02, transport " SEND LAST", cls, 0, LAST),                           \
		OP((base) + 0x03, transport " SEND LAST IMM", cls, HP3_EXT_IMM, LAST),             \
		OP((base) + 0x04, transport " SEND ONLY", cls, 0, ONLY),                           \
		OP((base) + 0x05, transport " SEND ONLY IMM", cls, HP3_EXT_IMM, ONLY),             \
		OP((base) + 0x06, transport " WRITE FIRST", cls, HP3_EXT_RETH, FIRST),             \
		OP((base) + 0x07, transport " WRITE MIDDLE", cls, 0, 0),                           \
		OP((base) + 0x08, transport " WRITE LAST", cls, 0, LAST),                          \
		OP((base) + 0x09, transport " WRITE LAST IMM", cls, HP3_EXT_IMM, LAST),            \
		OP((base) + 0x0a, transport " WRITE ONLY", cls, HP3_EXT_RETH, ONLY),               \
		OP((base) + 0x0b, transport " WRITE ONLY IMM", cls, HP3_EXT_RETH | HP3_EXT_IMM,    \
			ONLY)

#define RESERVED(class_, flags_)                                                                   \
	{                                                                                          \
		.class = HP3_CLASS_##class_, .flags = (flags_),                                    \
		.plain_len = PLAIN(HP3_CLASS_##class_) ? 0 : HP3_NOT_PLAIN                         \
	}

/* Ranges precede single opcodes: where they overlap, the later initialiser counts. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
const struct hp3_opcode_info hp3_opcodes[256] = {
	[0x00 ... 0x1f] = RESERVED(RC_REQUEST, HP3_VF_UNKNOWN),
	[0x20 ... 0xff] = RESERVED(ROCE_OTHER, 0),

	SEND_AND_WRITE(0x00, "RC", RC_REQUEST),
	OP(HP3_OP_RC_READ_REQUEST, "RC READ REQUEST", RC_REQUEST, HP3_EXT_RETH, ONLY | HP3_VF_READ),
	OP(HP3_OP_RC_READ_RESP_FIRST, "RC READ RESPONSE FIRST", RC_REPLY, HP3_EXT_AETH,
		FIRST | HP3_VF_READ),
	OP(HP3_OP_RC_READ_RESP_MIDDLE, "RC READ RESPONSE MIDDLE", RC_REPLY, 0, HP3_VF_READ),
	OP(HP3_OP_RC_READ_RESP_LAST, "RC READ RESPONSE LAST", RC_REPLY, HP3_EXT_AETH,
		LAST | HP3_VF_READ),
	OP(HP3_OP_RC_READ_RESP_ONLY, "RC READ RESPONSE ONLY", RC_REPLY, HP3_EXT_AETH,
		ONLY | HP3_VF_READ),
	OP(HP3_OP_RC_ACK, "RC ACK", RC_REPLY, HP3_EXT_AETH, 0),
	OP(HP3_OP_RC_ATOMIC_ACK, "RC ATOMIC ACK", RC_REPLY, HP3_EXT_AETH | HP3_EXT_ATOMICACK,
		ONLY | HP3_VF_ATOMIC),
	OP(HP3_OP_RC_CMP_SWAP, "RC COMPARE SWAP", RC_REQUEST, HP3_EXT_ATOMIC, ONLY | HP3_VF_ATOMIC),
	OP(HP3_OP_RC_FETCH_ADD, "RC FETCH ADD", RC_REQUEST, HP3_EXT_ATOMIC, ONLY | HP3_VF_ATOMIC),
	OP(HP3_OP_RC_SEND_LAST_INV, "RC SEND LAST INV", RC_REQUEST, HP3_EXT_IETH, LAST),
	OP(HP3_OP_RC_SEND_ONLY_INV, "RC SEND ONLY INV", RC_REQUEST, HP3_EXT_IETH, ONLY),
	/* As a READ of one PSN: the answer is a READ RESPONSE ONLY. */
	OP(HP3_OP_RC_FLUSH, "RC FLUSH", RC_REQUEST, HP3_EXT_FETH, ONLY | HP3_VF_READ),
	OP(HP3_OP_RC_ATOMIC_WRITE, "RC ATOMIC WRITE", RC_REQUEST, HP3_EXT_RETH, ONLY | HP3_VF_READ),

	SEND_AND_WRITE(0x20, "UC", UC),
	OP(HP3_OP_UD_SEND_ONLY, "UD SEND ONLY", UD, HP3_EXT_DETH, ONLY),
	OP(HP3_OP_UD_SEND_ONLY_IMM, "UD SEND ONLY IMM", UD, HP3_EXT_DETH | HP3_EXT_IMM, ONLY),
	OP(HP3_OP_CNP, "CNP", CNP, 0, 0),
};
#pragma GCC diagnostic pop
