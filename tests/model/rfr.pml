/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move of one queue pair: a requester that goes back, the engine with its hold, two paths, a
 * responder. The state machine itself, step(), is generated from the table in the C code; what
 * feeds it follows engine/packet.c and engine/moves.c. README.md tells what is modelled and what
 * not.
 *
 * Claims, in the words of docs/rules.md rule 23 and rfr/rfr.h:
 *  order     no packet arrives while one that was emitted before it is still on its way
 *  once      every first transmission leaves exactly once, or is discarded with its epoch
 *  bounded   never more than HOLD packets held, and none unless a drain is under way
 *  rule 10   no move while a receiver that was not ready has not acknowledged
 *  move_ends, drain_ends   every move ends, and with it every hold
 *
 * -DQUIET: without loss, time-outs and mishaps. -DRESETS: with resets, fatal NAKs and replies to
 * others, without RNR. A rule is broken on purpose by -DBREAK_..., the search then ends with a
 * counterexample. So it does with -DREACH=INPUT, if a move can end by that input while packets are
 * held: what is claimed of such a state is not claimed of nothing.
 */
#include "transitions.pml"

#ifndef WINDOW
#define WINDOW 3 /* unacknowledged PSNs that the requester allows itself */
#endif
#ifndef HOLD
#define HOLD 1 /* packets that fit into the hold */
#endif
#ifndef NET
#define NET 3 /* packets on both paths and in the hold together */
#endif
#ifndef BACK
#define BACK 2 /* replies on their way */
#endif

/* PSNs wrap; of two, one is up to WINDOW ahead of the other, or behind, or neither (a reset). */
#define PSNS (2 * WINDOW + 2)
#define DIFF(a, b) (((a) + PSNS - (b)) % PSNS)
#define AHEAD(a, b) (DIFF(a, b) >= 1 && DIFF(a, b) <= WINDOW)
#define BEHIND(a, b) AHEAD(b, a)
#define NEXT(a) (((a) + 1) % PSNS)

/* A packet in one byte. */
#define PKT(psn, ackreq, epoch) ((psn) + 16 * (ackreq) + 32 * (epoch))
#define OTHER 64 /* on the path that is not in use */
#define PSN(k) ((k) & 15)
#define ACKREQ(k) (((k) >> 4) & 1)
#define EPOCH(k) (((k) >> 5) & 1)
#define PATH(k) ((k) & OTHER)

mtype:reply = { ACK, NAK, RNR, FATAL };
mtype:rnic = { READY, RNR_WAIT, ERROR };

/* The network: packets in the order in which they were emitted, each on its path: 0 the one of the
 * port in use, 1 the other. A path is a FIFO, the two know nothing of each other. A packet that will
 * be lost is lost where it would enter. */
byte net[NET];
byte nnet;
chan back = [BACK] of { mtype:reply, byte, bit };

/* The queue pair's two ends. A reset starts both over. */
bit epoch;
mtype:rnic rnic = READY;
byte una, nxt; /* requester; una stays 0, see rebase() */
byte expected; /* responder */
bool nak_sent; /* or an RNR NAK: nothing more is said until `expected` comes */

/* The engine. */
mtype:state st = ST_STEADY;
bool started, paired = true;
byte e_una, e_nxt;
bool last_close, idle_proof, went_back, rnr_seen, close_ack;
byte closing; /* PSN of the closing packet, in DRAINING */
byte mark; /* closing PSN (close_ack), refused PSN (rnr_seen); both: the later one */
byte hold[HOLD];
byte held;

byte leaves; /* PSN of the first transmission that leaves next */

/* Scratch, of no meaning between two events. */
hidden mtype:action act;
hidden mtype:input in;
hidden mtype:reply kind;
hidden byte i, k, psn, way, ackreq, whose, overtaken;

/* --- network ---------------------------------------------------------------------------------- */

inline enter(pkt)
{
	if
	:: net[nnet] = pkt; nnet++
#ifndef QUIET
	:: true /* lost */
#endif
	fi
}

inline reply(what, number)
{
	if
	:: nfull(back) -> back!what(number, epoch)
#ifndef QUIET
	:: true /* lost */
#endif
	fi
}

/* --- engine ----------------------------------------------------------------------------------- */

/* A first transmission leaves. */
inline leave(pkt)
{
	assert(PSN(pkt) == leaves); /* once */
	leaves = NEXT(leaves);
	enter(pkt)
}

inline empty_hold()
{
	do
	:: held > 0 -> held--; hold[held] = 0
	:: else -> break
	od
}

inline release()
{
	i = 0;
	do
	:: i < held -> leave(hold[i]); i++
	:: else -> break
	od;
#ifdef BREAK_RELEASE_TWICE
	if
	:: held > 0 -> leave(hold[0])
	:: else
	fi;
#endif
	empty_hold()
}

/* The other path is the one in use now. */
inline switch_path()
{
	i = 0;
	do
	:: i < nnet -> net[i] = net[i] ^ OTHER; i++
	:: else -> break
	od
}

/* Feeds the state machine and carries out what ends a move. */
inline move_input(input)
{
	in = input;
	step(st, in);
#ifdef BREAK_TIMEOUT_SWITCHES
	if
	:: in == IN_TIMEOUT && act == DO_RECOVER -> act = DO_SWITCH
	:: else
	fi;
#endif
#ifdef REACH
	assert(!(in == REACH && act != DO_NONE && act != DO_HOLD && held > 0));
#endif
	if
	:: act == DO_SWITCH -> switch_path(); release()
#ifdef BREAK_RECOVER_KEEPS
	:: act == DO_RECOVER
#else
	:: act == DO_RECOVER -> release()
#endif
	:: act == DO_DISCARD -> empty_hold(); leaves = e_nxt
	:: else
	fi
}

/* The newest packet closes the old path. */
inline close()
{
	closing = (e_nxt + PSNS - 1) % PSNS;
	mark = closing;
	close_ack = true
}

inline forget_mark()
{
	close_ack = false;
	rnr_seen = false;
	mark = 0
}

inline unpair()
{
	move_input(IN_CONTRADICTION);
	paired = false;
	idle_proof = false;
	last_close = false
}

/* A new epoch: what is held is dropped, the pairing forgotten; the port stays. */
inline new_epoch()
{
	move_input(IN_TX_EPOCH);
	unpair();
	forget_mark();
	went_back = false;
	started = false;
	e_una = 0;
	e_nxt = 0;
	leaves = 0
}

inline start_stream()
{
	started = true;
	e_una = psn;
	e_nxt = psn;
	leaves = psn
}

inline tx_retransmit()
{
	last_close = false;
	idle_proof = false;
	went_back = true;
#ifdef BREAK_RETRANSMIT_NEW_PORT
	if
	:: st == ST_DRAINING -> way = OTHER
	:: else -> move_input(IN_TX_RETRANSMIT); way = 0
	fi;
#else
	move_input(IN_TX_RETRANSMIT);
	way = 0;
#endif
	if
	:: close_ack && psn == mark -> ackreq = 1 /* rule 8 */
	:: else
	fi;
	enter(PKT(psn, ackreq, epoch) + way)
}

inline tx_new()
{
	e_nxt = NEXT(psn);
	if /* without a pairing nothing moves una: it stays within reach */
	:: DIFF(e_nxt, e_una) > WINDOW -> e_una = (e_nxt + PSNS - WINDOW) % PSNS
	:: else
	fi;
	idle_proof = false;
	went_back = false;
	last_close = ackreq;
	if
	:: st == ST_STEADY || st == ST_SEEKING -> act = DO_NONE
	:: else -> move_input(IN_TX_NEW)
	fi;
	if
	:: act == DO_CLOSE ->
		close();
#ifndef BREAK_NO_ACKREQ
		ackreq = 1;
#endif
		leave(PKT(psn, ackreq, epoch))
	:: act == DO_HOLD && held < HOLD ->
		hold[held] = PKT(psn, ackreq, epoch);
		held++
	:: act == DO_HOLD && held == HOLD ->
		move_input(IN_HOLD_FULL);
		leave(PKT(psn, ackreq, epoch))
#ifndef QUIET
	:: act == DO_HOLD -> /* bytes of all flows together */
		move_input(IN_HOLD_FULL);
		leave(PKT(psn, ackreq, epoch))
#endif
	:: else -> leave(PKT(psn, ackreq, epoch))
	fi
}

inline tx()
{
	if
	:: !started -> start_stream()
	:: started && psn != e_nxt && !BEHIND(psn, e_nxt) -> new_epoch(); start_stream()
	:: else
	fi;
	if
	:: psn == e_nxt -> tx_new()
	:: else -> tx_retransmit()
	fi
}

/* hp3_stream_reply() and hp3_rfr_reply(): what a reply means; k is the PSN that it leads to. */
inline classify()
{
	in = IN_NONE;
	k = (kind == ACK -> NEXT(psn) : psn);
	if
	:: st == ST_DRAINING && !BEHIND(psn, NEXT(closing)) -> in = IN_CONTRADICTION
	:: else ->
		if
		:: AHEAD(k, e_una) && DIFF(k, e_una) > DIFF(e_nxt, e_una) -> in = IN_CONTRADICTION
		:: else ->
			if
			:: kind == RNR -> in = IN_RNR
			:: kind == NAK -> in = IN_NAK
			:: kind == FATAL -> in = IN_FATAL
#ifdef BREAK_RELEASE_EARLY
			:: kind == ACK && AHEAD(k, e_una) && st == ST_DRAINING -> in = IN_DRAINED
#endif
			:: kind == ACK && AHEAD(k, e_una) && st == ST_CLOSING && k == e_nxt ->
				in = IN_DRAINED
			:: kind == ACK && AHEAD(k, e_una) && st == ST_DRAINING &&
				!BEHIND(psn, closing) -> in = IN_DRAINED
			:: else
			fi;
			if
			:: AHEAD(k, e_una) -> e_una = k
			:: else
			fi
		fi
	fi
}

#ifdef BREAK_SEEK_THROUGH_RNR
#define LIKE_STEADY (st == ST_STEADY || st == ST_SEEKING)
#else
#define LIKE_STEADY (st == ST_STEADY || st == ST_SEEKING && kind == ACK)
#endif

inline rx()
{
	if
	:: kind == RNR ->
		if
		:: !close_ack || AHEAD(psn, mark) -> mark = psn; close_ack = false
		:: else
		fi;
		rnr_seen = true
	:: else
	fi;
	i = e_una;
	classify();
#ifndef BREAK_IDLE_AFTER_RETRANSMIT
	if
	:: in == IN_DRAINED && st == ST_CLOSING && went_back -> in = IN_NONE /* rule 7 */
	:: else
	fi;
#endif
	if
	:: in == IN_CONTRADICTION && started -> unpair()
	:: in == IN_CONTRADICTION && !started
	:: else ->
		if
		:: LIKE_STEADY && e_una != i && e_una == e_nxt && !went_back -> idle_proof = true
		:: LIKE_STEADY && !(e_una != i && e_una == e_nxt && !went_back)
		:: else -> move_input(in)
		fi
	fi;
	if
	:: (rnr_seen || close_ack) && AHEAD(e_una, mark) -> forget_mark()
	:: else
	fi
}

/* The target is known, from an operator or from the probe that won. */
inline start_move()
{
	if
	:: e_una == e_nxt && idle_proof -> move_input(IN_MOVE_IDLE)
	:: e_una != e_nxt && last_close -> move_input(IN_MOVE_CLOSED)
	:: else -> move_input(IN_MOVE)
	fi;
	if
	:: act == DO_BEHIND -> close()
	:: else
	fi
}

/* PSNs matter only as distances: all are counted from una, lest equal states be searched again. */
inline from_una(x)
{
	x = DIFF(x, una)
}

inline rebase()
{
	from_una(nxt);
	from_una(expected);
	if
	:: started -> from_una(e_una); from_una(e_nxt); from_una(leaves)
	:: else
	fi;
	if
	:: rnr_seen || close_ack -> from_una(mark)
	:: else
	fi;
	if
	:: st == ST_DRAINING -> from_una(closing)
	:: else
	fi;
	i = 0;
	do
	:: i < nnet -> net[i] = net[i] - PSN(net[i]) + DIFF(PSN(net[i]), una); i++
	:: else -> break
	od;
	i = 0;
	do
	:: i < held -> hold[i] = hold[i] - PSN(hold[i]) + DIFF(PSN(hold[i]), una); i++
	:: else -> break
	od;
	i = len(back);
	do
	:: i > 0 -> back?kind(psn, whose); back!kind(DIFF(psn, una), whose); i--
	:: else -> break
	od;
	una = 0
}

/* --- the processes: each step of one is one atomic event -------------------------------------- */

inline check()
{
	assert(held <= HOLD && (held == 0 || st == ST_DRAINING)); /* bounded */
	assert(!rnr_seen || st == ST_STEADY); /* rule 10 */
	if
	:: st != ST_DRAINING -> closing = 0
	:: else
	fi
}

active proctype requester()
{
end:	do
	:: atomic {
		rnic == READY && DIFF(nxt, una) < WINDOW && nnet + held < NET ->
		psn = nxt;
		nxt = NEXT(nxt);
		if
		:: ackreq = 0
		:: ackreq = 1
		fi;
		tx();
		check()
	}
	od
}

#ifdef QUIET
#define ROOM_FOR_REPLY (len(back) < BACK)
#else
#define ROOM_FOR_REPLY true /* without room it is lost */
#endif

inline execute()
{
	if
	:: EPOCH(k) != epoch /* of a queue pair that is gone */
	:: EPOCH(k) == epoch && PSN(k) == expected ->
		if
		:: expected = NEXT(expected);
			nak_sent = false;
			psn = (expected + PSNS - 1) % PSNS;
			if
			:: reply(ACK, psn)
			:: !ACKREQ(k) /* acknowledged later, together with others */
			fi
#ifdef RESETS
		:: reply(FATAL, expected)
#elif !defined(QUIET)
		:: nak_sent = true; reply(RNR, expected)
#endif
		fi
	:: EPOCH(k) == epoch && AHEAD(PSN(k), expected) ->
		if
		:: !nak_sent -> reply(NAK, expected)
		:: else
		fi;
		nak_sent = true
	:: else -> /* a duplicate */
		psn = (expected + PSNS - 1) % PSNS;
		reply(ACK, psn)
	fi
}

active proctype responder()
{
end:	do
	:: atomic {
		nnet > 0 && ROOM_FOR_REPLY ->
		/* the oldest packet of either path */
		i = 0;
		do
		:: i + 1 < nnet && PATH(net[i]) == PATH(net[0]) -> i++
		:: else -> break
		od;
		if
		:: i = 0
		:: PATH(net[i]) != PATH(net[0])
		fi;
		overtaken = i;
		assert(overtaken == 0); /* order */
		k = net[i];
		do
		:: i + 1 < nnet -> net[i] = net[i + 1]; i++
		:: else -> break
		od;
		nnet--;
		net[nnet] = 0;
		execute();
		check()
	}
	od
}

/* A reply passes the engine and reaches the requester. */
inline requester_rx()
{
	if
	:: whose != epoch || rnic == ERROR
	:: else ->
		k = (kind == ACK -> NEXT(psn) : psn);
		if
		:: AHEAD(k, una) && DIFF(k, una) <= WINDOW ->
			if
			:: DIFF(nxt, una) < DIFF(k, una) -> nxt = k
			:: else
			fi;
			una = k
		:: else
		fi;
		if
		:: kind == NAK && rnic == READY -> nxt = una
		:: kind == RNR -> rnic = RNR_WAIT; nxt = una
		:: kind == FATAL -> rnic = ERROR
		:: else
		fi
	fi
}

active proctype replies()
{
end:	do
	:: atomic {
		back?kind(psn, whose) ->
		if
		:: paired -> rx()
		:: !paired && whose == epoch && started -> paired = true /* by challenge */
		:: else
		fi;
		requester_rx();
		rebase();
		check()
	}
	od
}

active proctype operator()
{
end:	do
	:: atomic {
		st == ST_STEADY && paired && started && !rnr_seen ->
		if
		:: start_move()
		:: move_input(IN_SEEK) /* severely congested: probes go out */
		fi;
		check()
	}
	:: atomic {
		st == ST_SEEKING ->
		if
		:: start_move()
		:: move_input(IN_NO_BETTER)
		fi;
		check()
	}
	od
}

#if !defined(QUIET) && !defined(BREAK_NO_TIMEOUT)
/* close_timeout and max_hold: at any time, but some time. */
active proctype timer()
{
end:	do
	:: atomic { st == ST_CLOSING || st == ST_DRAINING -> move_input(IN_TIMEOUT); check() }
	od
}
#endif

#ifndef QUIET
/* What may happen, or never: the last choice lets it be. */
active proctype mishap()
{
end:	do
	:: atomic { st != ST_STEADY -> move_input(IN_CANCEL); check() }
	:: atomic { rnic == READY && una != nxt -> nxt = una } /* retransmission timer */
	:: atomic { rnic == RNR_WAIT -> rnic = READY }
#ifdef RESETS
	:: atomic { paired && started -> unpair(); check() } /* a reply to another queue pair */
	:: atomic {
		epoch == 0 -> /* the queue pair is reset: once */
		epoch = 1;
		rnic = READY;
		nak_sent = false;
		if /* first PSN of the new one: a reset that looks like going on, going back, neither */
		:: psn = nxt
		:: psn = (nxt + PSNS - 1) % PSNS
		:: psn = (nxt + WINDOW + 1) % PSNS
		fi;
		una = psn;
		nxt = psn;
		expected = psn;
		rebase();
		if /* and a set-up event tells, or not */
		:: started -> new_epoch()
		:: true
		fi;
		check()
	}
#endif
#ifdef LIVENESS
	:: true -> true
#endif
	od
}
#endif

#ifdef LIVENESS
/* Nothing is held outside a drain: where moves end, holds do. */
ltl move_ends { [] ((st != ST_STEADY) -> <> (st == ST_STEADY)) }
ltl drain_ends { [] ((st == ST_DRAINING) -> <> (st == ST_STEADY)) }
#endif
