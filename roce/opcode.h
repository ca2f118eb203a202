/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A table with a row for each BTH opcode, for parsing and building (IBTA 9.2.1, tables 35 ff.;
 * FLUSH and ATOMIC WRITE: IBTA 1.6, annex A19). A row has the name, the class, the extended headers
 * behind the BTH and their length. It also has the view flags that depend only on the opcode.
 */
#include <stdint.h>
#include "roce/parse.h"

/* Opcodes that other code uses by name. RC is 0x00-0x1f, UC 0x20, RD 0x40, UD 0x60, CNP 0x81. */
enum hp3_opcode {
	HP3_OP_RC_SEND_FIRST = 0x00,
	HP3_OP_RC_SEND_MIDDLE = 0x01,
	HP3_OP_RC_SEND_LAST = 0x02,
	HP3_OP_RC_SEND_LAST_IMM = 0x03,
	HP3_OP_RC_SEND_ONLY = 0x04,
	HP3_OP_RC_SEND_ONLY_IMM = 0x05,
	HP3_OP_RC_WRITE_FIRST = 0x06,
	HP3_OP_RC_WRITE_MIDDLE = 0x07,
	HP3_OP_RC_WRITE_LAST = 0x08,
	HP3_OP_RC_WRITE_LAST_IMM = 0x09,
	HP3_OP_RC_WRITE_ONLY = 0x0a,
	HP3_OP_RC_WRITE_ONLY_IMM = 0x0b,
	HP3_OP_RC_READ_REQUEST = 0x0c,
	HP3_OP_RC_READ_RESP_FIRST = 0x0d,
	HP3_OP_RC_READ_RESP_MIDDLE = 0x0e,
	HP3_OP_RC_READ_RESP_LAST = 0x0f,
	HP3_OP_RC_READ_RESP_ONLY = 0x10,
	HP3_OP_RC_ACK = 0x11,
	HP3_OP_RC_ATOMIC_ACK = 0x12,
	HP3_OP_RC_CMP_SWAP = 0x13,
	HP3_OP_RC_FETCH_ADD = 0x14,
	HP3_OP_RC_SEND_LAST_INV = 0x16,
	HP3_OP_RC_SEND_ONLY_INV = 0x17,
	HP3_OP_RC_FLUSH = 0x1c,
	HP3_OP_RC_ATOMIC_WRITE = 0x1d,
	HP3_OP_UC_SEND_LAST = 0x22,
	HP3_OP_UC_SEND_ONLY = 0x24,
	HP3_OP_UC_WRITE_FIRST = 0x26,
	HP3_OP_UC_WRITE_LAST = 0x28,
	HP3_OP_UC_WRITE_ONLY = 0x2a,
	HP3_OP_UC_WRITE_ONLY_IMM = 0x2b,
	HP3_OP_UD_SEND_ONLY = 0x64,
	HP3_OP_UD_SEND_ONLY_IMM = 0x65,
	HP3_OP_CNP = 0x81,
};

/* Extended headers behind the BTH. */
#define HP3_EXT_RETH      0x01u
#define HP3_EXT_AETH      0x02u
#define HP3_EXT_IMM       0x04u
#define HP3_EXT_ATOMIC    0x08u
#define HP3_EXT_ATOMICACK 0x10u
#define HP3_EXT_DETH      0x20u
#define HP3_EXT_IETH      0x40u
#define HP3_EXT_FETH      0x80u /* FETH, then the RETH of a FLUSH: the view has no dma_len */

/* The first four bytes are laid out as in struct hp3_view. */
struct hp3_opcode_info {
	uint8_t class; /* enum hp3_class (the parser changes UD to CM if the QPN is 1) */
	uint8_t ext; /* HP3_EXT_* */
	uint16_t flags; /* HP3_VF_FIRST, LAST, READ, ATOMIC, AETH, UNKNOWN */
	uint8_t ext_len; /* bytes of all extended headers together */
	uint8_t plain_len; /* as ext_len; HP3_NOT_PLAIN if the class is not RC or CNP */
	const char *name; /* for example "RC WRITE MIDDLE"; NULL for reserved opcodes */
};

#define HP3_NOT_PLAIN 0xffu

extern const struct hp3_opcode_info hp3_opcodes[256];
