/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move of one queue pair and the search behind it: a requester that goes back, the engine with its
 * hold, two paths, a responder. The state machines themselves, step() and search_step(), are
 * generated from the tables in the C code; what feeds them follows engine/pass, engine/moves and
 * engine/search. README.md tells what is modelled and what not.
 *
 * Claims, in the words of docs/internals/rules-handover.md rule 23 and rfr/rfr.h:
 *  order     no packet arrives while one that was emitted before it is still on its way
 *  once      every first transmission leaves exactly once, or is discarded with its epoch
 *  bounded   never more than HOLD packets held, and none but by a move or the pacer
 *  rule 10   no move while a receiver that was not ready has not acknowledged
 *  rule 1    nothing completes at the requester that the responder has not received
 *  rule 4    no NAK of ours while the RNIC waits for a receiver that has not received since
 *  rule 24   what is kept from the RNIC is no news to it
 *  gapless   off a dead path: what leaves on the new one is at most what the receiver expects next
 *  fits      a search asks exactly where answers can be used (tests/search_fits.h)
 *  tick      a deadline that has come is over, or put off: else a tick would never end
 *  move_ends, drain_ends, resume_ends   every move ends, and with it every hold
 *
 * -DMESSAGE_START: long messages of an idle queue pair wait for answers. Not with -DPROBES.
 * -DQUIET: without loss, time-outs and mishaps. -DRESETS: with resets, fatal NAKs and replies to
 * others, without RNR. -DPROBES: moves ask where to go once the old path is empty. -DFAILOVER:
 * paths die. -DPACE: packets wait for a pacer. A rule is broken on purpose by -DBREAK_..., the search
 * then ends with a counterexample; -DUNFIT and -DUNTIMED leave out the claims `fits` and `tick`,
 * which would be hurt first. So it does with -DREACH=INPUT, if a move can end by that input while
 * packets are held (in state -DREACH_IN): what is claimed of such a state is not claimed of nothing.
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
#define AIR 2 /* probes on their way: one, and one that was given up */

/* PSNs wrap; of two, one is up to WINDOW ahead of the other, or behind, or neither (a reset). */
#define PSNS (2 * WINDOW + 2)
#define DIFF(a, b) (((a) + PSNS - (b)) % PSNS)
#define AHEAD(a, b) (DIFF(a, b) >= 1 && DIFF(a, b) <= WINDOW)
#define BEHIND(a, b) AHEAD(b, a)
#define NEXT(a) (((a) + 1) % PSNS)

#ifdef PACE
#define HOLDING true
#else
#define HOLDING (st == ST_DRAINING || st == ST_PROBING || st == ST_RESUMING)
#endif
#define ASKS_HELD (kind == K_BEHIND_DRAIN || kind == K_MESSAGE_START)
#define FITS \
	(st == ST_SEARCHING && asks != PS_QUIET && !ASKS_HELD || \
	 st == ST_PROBING && asks == PS_ASKING && ASKS_HELD || \
	 st != ST_SEARCHING && st != ST_PROBING && asks == PS_QUIET)

/* A packet in one byte. */
#define PKT(psn, ackreq, epoch) ((psn) + 16 * (ackreq) + 32 * (epoch))
#define OTHER 64 /* on the path that is not in use */
#define AGAIN 128 /* held: a retransmission */
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
#ifdef PROBES
byte probes; /* on their way, each on a path of its own */
#endif
#ifdef FAILOVER
bool dead; /* the path in use loses all that is in it and all that enters */
#endif

/* The queue pair's two ends. A reset starts both over. */
bit epoch;
mtype:rnic rnic = READY;
byte una, nxt; /* requester; una stays 0, see rebase() */
byte expected; /* responder */
bool nak_sent; /* or an RNR NAK: nothing more is said until `expected` comes */

/* The engine. */
mtype:state st = ST_STEADY;
mtype:kind kind = K_OPERATOR; /* of the search */
mtype:asks asks = PS_QUIET;
bool twice; /* it has asked again: rounds are few */
bool timer; /* the deadline of the move, or of its search, is set */
bool started, paired = true;
byte e_una, e_nxt;
bool last_close, idle_proof, went_back, rnr_seen, close_ack;
byte closing; /* PSN of the closing packet, in DRAINING and PROBING */
byte mark; /* closing PSN (close_ack), refused PSN (rnr_seen); both: the later one */
byte hold[HOLD];
byte held;
#if defined(PROBES) && defined(QUIET)
bool more; /* another probe may follow */
#endif
#ifdef FAILOVER
byte resume; /* RESUMING: the PSN with which the receiver can go on */
#endif

/* What is claimed of, and the engine does not know. */
byte leaves; /* PSN of the first transmission that leaves next */
#ifdef FAILOVER
byte front; /* PSN that the receiver expects once it has all that left */
bool gap; /* the engine gave up waiting: until all is sent again the receiver may see one */
#endif

/* Scratch, of no meaning between two events. */
hidden mtype:action act;
hidden mtype:input in;
hidden mtype:input wish;
hidden mtype:said said;
hidden mtype:reply what;
hidden mtype:state from;
hidden byte i, k, psn, way, ackreq, whose, overtaken;
hidden byte put_off, consumed; /* bool: a hidden one may be no bit */

/* --- network ---------------------------------------------------------------------------------- */

#ifdef FAILOVER
inline arrives_last(number)
{
	if
	:: number == front -> front = NEXT(front)
	:: AHEAD(number, front) -> assert(gap) /* gapless */
	:: else
	fi;
	if
	:: front == e_nxt -> gap = false
	:: else
	fi
}
#else
#define dead false
#endif

inline enter(pkt)
{
#ifdef FAILOVER
	arrives_last(PSN(pkt));
#endif
	if
	:: !dead -> net[nnet] = pkt; nnet++
#ifndef QUIET
	:: true /* lost */
#else
	:: dead
#endif
	fi
}

inline reply(answer, number)
{
	if
	:: nfull(back) -> back!answer(number, epoch)
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
	:: i < held && hold[i] < AGAIN -> leave(hold[i]); i++
	:: i < held && hold[i] >= AGAIN -> enter(hold[i] - AGAIN); i++
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

#ifdef PACE
/* What a paced flow holds goes on waiting, and leaves in its turn. */
inline let_go()
{
	if
	:: release()
	:: held > 0
	fi
}

/* The oldest one leaves the FIFO. */
inline release_one(number)
{
	if
	:: hold[0] < AGAIN -> leave(hold[0] | number)
	:: else -> enter(hold[0] - AGAIN)
	fi;
	i = 0;
	do
	:: i + 1 < held -> hold[i] = hold[i + 1]; i++
	:: else -> break
	od;
	held--;
	hold[held] = 0
}
#else
#define let_go() release()
#endif

/* The other path is the one in use now. */
inline switch_path()
{
	i = 0;
	do
	:: i < nnet -> net[i] = net[i] ^ OTHER; i++
	:: else -> break
	od;
#ifdef FAILOVER
	dead = false
#endif
}

#ifdef PROBES
inline send_probe()
{
	if
	:: probes < AIR -> probes++
#ifndef QUIET
	:: true /* lost */
#endif
	fi
}
#endif

/* hp3_slot_timer(): not before now. */
inline arm()
{
	timer = true;
	put_off = true
}

/* Feeds the state machine and carries out what ends a move. */
inline move_input(input)
{
	in = input;
	from = st;
	step(st, in);
#ifdef BREAK_TIMEOUT_SWITCHES
	if
	:: in == IN_TIMEOUT && act == DO_RECOVER -> act = DO_SWITCH
	:: else
	fi;
#endif
#ifdef REACH
#ifndef REACH_IN
#define REACH_IN from
#endif
	assert(!(in == REACH && from == REACH_IN && act != DO_NONE && act != DO_HOLD && held > 0));
#endif
	if
	:: act == DO_SWITCH || act == DO_RECOVER || act == DO_DISCARD || act == DO_SUPERSEDE ||
			act == DO_RESUME ->
		timer = false;
#ifndef BREAK_LATE_ANSWERS
		search_over()
#endif
	:: else
	fi;
	if
	:: act == DO_SWITCH -> switch_path(); let_go()
#ifdef BREAK_RECOVER_KEEPS
	:: act == DO_RECOVER
#else
	:: act == DO_RECOVER -> let_go()
#endif
	:: act == DO_DISCARD -> empty_hold(); leaves = e_nxt
#ifdef FAILOVER
	:: act == DO_FAILOVER ->
		arm();
		switch_path();
#ifdef BREAK_RESUME_AT_NEWEST
		resume = (e_nxt + PSNS - 1) % PSNS;
#else
		resume = e_una;
#endif
		front = expected;
		gap = false
#ifdef BREAK_SUPERSEDE_KEEPS
	:: act == DO_SUPERSEDE
#else
	:: act == DO_SUPERSEDE -> empty_hold(); leaves = e_nxt /* they leave as retransmissions */
#endif
	:: act == DO_RESUME ->
		if
		:: in != IN_CAUGHT_UP -> gap = true
		:: else
		fi;
		release()
#endif
	:: else
	fi
}

/* This packet closes the old path. */
inline close(number)
{
	arm();
	closing = number;
	mark = closing;
	close_ack = true
}
#define NEWEST ((e_nxt + PSNS - 1) % PSNS)

/* A search begins, hp3_search_prepare(). */
inline prepare(why)
{
	kind = why;
	asks = PS_QUIET;
	twice = false
}

/* hp3_search_input(): a step of the search, and what it means for the move. */
inline search_input(what_now)
{
	search_step(what_now);
	if
	:: asks != PS_QUIET || wish == IN_MOVE -> arm()
	:: else
	fi;
	if /* which wish to move it is: input_for_move() in begin.c */
	:: wish == IN_MOVE && e_una == e_nxt && idle_proof && kind != K_BEHIND_DRAIN -> wish = IN_MOVE_IDLE
	:: wish == IN_MOVE && e_una != e_nxt && last_close && held == 0 -> wish = IN_MOVE_CLOSED
	:: else
	fi;
	act = DO_NONE;
	if
	:: wish != IN_NONE -> move_input(wish)
	:: else
	fi;
	if
	:: act == DO_BEHIND -> close(NEWEST)
	:: else
	fi
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

/* A set-up that still asks as the first data comes is late: what it found before, or nothing. */
inline start_stream()
{
#ifndef BREAK_SETUP_LATE
	if
	:: st == ST_SEARCHING && asks != PS_QUIET ->
		if
		:: said = PI_GO
		:: said = PI_STAY
		fi;
		search_input(said)
	:: else
	fi;
#endif
	started = true;
	e_una = psn;
	e_nxt = psn;
	leaves = psn;
#ifdef FAILOVER
	front = psn
#endif
}

/* hp3_hold_put(), or no room: then the move is over, and what was held has left. */
inline hold_it(pkt)
{
	if
	:: held < HOLD -> hold[held] = pkt; held++
	:: held == HOLD -> move_input(IN_HOLD_FULL)
#ifndef QUIET
	:: true -> move_input(IN_HOLD_FULL) /* bytes of all flows together */
#endif
	fi
}

#ifdef FAILOVER
/* Nothing is missing any more before what is held and what comes. */
#define CAUGHT_UP (!BEHIND(resume, (held > 0 -> PSN(hold[0]) : e_nxt)))

/* hp3_resume_tx(): act is DO_HOLD if the packet is to be held. */
inline resume_tx(again)
{
	act = DO_NONE;
	if
	:: !again && held > 0 && CAUGHT_UP -> move_input(IN_CAUGHT_UP)
	:: !(!again && held > 0 && CAUGHT_UP) && AHEAD(psn, resume) ->
		move_input(IN_TX_AHEAD);
#ifdef BREAK_RESUME_EARLY
		act = DO_NONE
#endif
	:: !(!again && held > 0 && CAUGHT_UP) && psn == resume ->
		if
		:: held > 0 && !BEHIND(psn, PSN(hold[0])) -> move_input(IN_TX_AGAIN)
		:: else ->
			move_input(IN_TX_WANTED);
			resume = NEXT(psn);
			if
			:: held == 0 && CAUGHT_UP -> move_input(IN_CAUGHT_UP)
			:: else
			fi
		fi
	:: else /* arrived already: a duplicate */
	fi
}
#endif

#ifdef PACE
#ifdef BREAK_CLOSE_PAST_QUEUE
#define QUEUED false
#else
#define QUEUED (st == ST_CLOSING && held > 0) /* what waits for the pacer closes first */
#endif
/* hp3_rate_tx(): it leaves now, or has to wait; without room all leaves. */
inline pass_on(pkt, again)
{
	if
	:: st == ST_DRAINING || held == 0 -> leave_now(pkt, again)
	:: st != ST_DRAINING && held < HOLD -> hold[held] = pkt + again; held++
	:: st != ST_DRAINING && held == HOLD -> release(); leave_now(pkt, again)
	fi
}
#else
#define QUEUED false
#define pass_on(pkt, again) leave_now(pkt, again)
#endif

inline leave_now(pkt, again)
{
	if
	:: again == 0 -> leave(pkt)
	:: else -> enter(pkt + way)
	fi
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
#ifdef FAILOVER
	if
	:: st == ST_RESUMING -> resume_tx(true)
	:: else
	fi;
	if
	:: act == DO_HOLD -> hold_it(PKT(psn, ackreq, epoch) + AGAIN)
	:: else
	fi;
#endif
	if
	:: close_ack && psn == mark -> ackreq = 1 /* rule 8 */
	:: else
	fi;
	if
	:: act != DO_HOLD -> pass_on(PKT(psn, ackreq, epoch), AGAIN)
	:: else
	fi
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
	:: st == ST_STEADY || st == ST_SEARCHING || QUEUED -> act = DO_NONE
#ifdef FAILOVER
	:: st == ST_RESUMING -> resume_tx(false)
#endif
	:: else -> move_input(IN_TX_NEW)
	fi;
	if
	:: act == DO_CLOSE ->
		close(NEWEST);
#ifndef BREAK_NO_ACKREQ
		ackreq = 1
#endif
	:: act == DO_HOLD -> hold_it(PKT(psn, ackreq, epoch))
	:: else
	fi;
	if
	:: act != DO_HOLD -> pass_on(PKT(psn, ackreq, epoch), 0)
	:: else
	fi
}

#ifdef MESSAGE_START
#ifdef BREAK_MESSAGE_START_IN_FLIGHT
#define IDLE started
#else
#define IDLE (idle_proof && e_una == e_nxt)
#endif
/* hp3_message_start(): a long message begins, or a short one. */
inline message_start()
{
	if
	:: st == ST_STEADY && paired && IDLE && !rnr_seen && psn == e_nxt ->
		if
		:: prepare(K_MESSAGE_START);
			closing = NEWEST;
			search_input(PI_BEGUN)
		:: true
		fi
	:: else
	fi
}
#endif

inline tx()
{
	if
	:: !started -> start_stream()
	:: started && psn != e_nxt && !BEHIND(psn, e_nxt) -> new_epoch(); start_stream()
	:: else
	fi;
#ifdef MESSAGE_START
	message_start();
#endif
	if
	:: psn == e_nxt -> tx_new()
	:: else -> tx_retransmit()
	fi
}

/* hp3_stream_reply() and hp3_rfr_reply(): what a reply means; k is the PSN that it leads to. */
inline classify()
{
	in = IN_NONE;
	k = (what == ACK -> NEXT(psn) : psn);
	if
	:: (st == ST_DRAINING || st == ST_PROBING) && AHEAD(psn, closing) ->
		in = IN_CONTRADICTION
	:: else ->
		if
		:: AHEAD(k, e_una) && DIFF(k, e_una) > DIFF(e_nxt, e_una) -> in = IN_CONTRADICTION
		:: else ->
			if
			:: what == RNR -> in = IN_RNR
			:: what == NAK -> in = IN_NAK
			:: what == FATAL -> in = IN_FATAL
#ifdef BREAK_RELEASE_EARLY
			:: what == ACK && AHEAD(k, e_una) && st == ST_DRAINING -> in = IN_DRAINED
#endif
			:: what == ACK && AHEAD(k, e_una) && st == ST_CLOSING && k == e_nxt ->
				in = IN_DRAINED
			:: what == ACK && AHEAD(k, e_una) && st == ST_DRAINING &&
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

#ifdef BREAK_SEARCH_THROUGH_RNR
#define LIKE_STEADY (st == ST_STEADY || st == ST_SEARCHING)
#else
#define LIKE_STEADY (st == ST_STEADY || st == ST_SEARCHING && what == ACK)
#endif

#ifdef PROBES
#define OURS (st == ST_PROBING && what == ACK && psn == closing)

/* hp3_search_after_drain(): the old path is empty. */
inline ask_behind_drain()
{
	if
	:: said = PI_BEGUN; send_probe()
	:: said = PI_STAY /* nobody to ask */
	fi;
	search_input(said)
}

/* hp3_search_reply(): the next probe, or the round is over. */
inline probe_answered()
{
	if
#ifdef QUIET
	:: more -> more = false; said = PI_OVER; send_probe(); arm()
#else
	:: said = PI_OVER; send_probe(); arm()
#endif
	:: said = PI_GO
	:: said = PI_STAY
	fi;
	if
	:: said != PI_OVER -> search_input(said)
	:: else
	fi
}
#endif

inline rx()
{
	if
	:: what == RNR ->
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
#ifdef PROBES
	if
	:: in == IN_DRAINED && kind == K_BEHIND_DRAIN -> in = (st == ST_DRAINING -> IN_ASK : IN_NONE)
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
#ifdef PROBES
		:: OURS ->
#ifdef BREAK_CONSUME_ANSWERS
			consumed = true;
#endif
			probe_answered()
		:: !LIKE_STEADY && !OURS ->
			move_input(in);
			if
			:: act == DO_PROBE -> ask_behind_drain()
			:: else
			fi
#else
		:: else -> move_input(in)
#endif
		fi
	fi;
#ifdef FAILOVER
	if
	:: st == ST_RESUMING ->
		if
		:: AHEAD(e_una, resume) -> resume = e_una
		:: else
		fi;
		if
		:: CAUGHT_UP -> move_input(IN_CAUGHT_UP)
		:: else
		fi
	:: else
	fi;
#endif
	if
	:: (rnr_seen || close_ack) && AHEAD(e_una, mark) -> forget_mark()
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
	:: st == ST_DRAINING || st == ST_PROBING -> from_una(closing)
	:: else
	fi;
#ifdef FAILOVER
	if
	:: started -> from_una(front)
	:: else
	fi;
	if
	:: st == ST_RESUMING -> from_una(resume)
	:: else
	fi;
#endif
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
	:: i > 0 -> back?what(psn, whose); back!what(DIFF(psn, una), whose); i--
	:: else -> break
	od;
	una = 0
}

/* --- the processes: each step of one is one atomic event -------------------------------------- */

inline check()
{
	assert(held <= HOLD && (held == 0 || HOLDING)); /* bounded */
	assert(!rnr_seen || st == ST_STEADY || st == ST_RESUMING); /* rule 10 */
#ifndef UNFIT
	assert(FITS);
#endif
	assert(DIFF(expected, una) <= WINDOW); /* rule 1 */
	if
	:: st != ST_DRAINING && st != ST_PROBING -> closing = 0
	:: else
	fi;
	if /* of what is over nothing counts */
	:: asks == PS_QUIET && !(kind == K_BEHIND_DRAIN && st != ST_STEADY) ->
		kind = K_OPERATOR;
		twice = false
	:: else
	fi;
#ifdef FAILOVER
	if
	:: st != ST_RESUMING -> resume = 0
	:: else
	fi;
#endif
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
		k = (what == ACK -> NEXT(psn) : psn);
		if
		:: AHEAD(k, una) && DIFF(k, una) <= WINDOW ->
			if
			:: DIFF(nxt, una) < DIFF(k, una) -> nxt = k
			:: else
			fi;
			una = k;
			if /* received after all: no more to wait for */
			:: rnic == RNR_WAIT -> rnic = READY
			:: else
			fi
		:: else
		fi;
		if
		:: what == NAK && rnic == READY -> nxt = una
		:: what == RNR -> rnic = RNR_WAIT; nxt = una
		:: what == FATAL -> rnic = ERROR
		:: else
		fi
	fi
}

active proctype replies()
{
end:	do
	:: atomic {
		back?what(psn, whose) ->
		consumed = false;
		if
		:: paired -> rx()
		:: !paired && whose == epoch && started -> paired = true /* by challenge */
		:: else
		fi;
		if
		:: consumed -> assert(!AHEAD(NEXT(psn), una)) /* rule 24 */
		:: !consumed -> requester_rx()
#ifndef QUIET
		:: true /* lost or damaged behind us: what the engine has heard the RNIC has not */
#endif
		fi;
		rebase();
		check()
	}
	od
}

#ifdef FAILOVER
#ifdef BREAK_DEAD_ALIVE
#define DEAD_VERDICT true
#else
#define DEAD_VERDICT dead
#endif
#ifdef BREAK_DEAD_THROUGH_RNR
#define RECEIVER_READY true
#else
#define RECEIVER_READY (!rnr_seen)
#endif
#ifdef BREAK_NAK_NEWEST
#define OLDEST e_nxt
#else
#define OLDEST e_una
#endif

/* hp3_failover(): the RNIC is handed a NAK, or is left to its timer. */
inline hand_nak()
{
	if
	:: what = NAK;
		psn = OLDEST;
		assert(rnic != RNR_WAIT || AHEAD(psn, una)); /* rule 4 */
		whose = epoch;
		requester_rx()
	:: true
	fi
}
#define IS_DEAD (DEAD_VERDICT && e_una != e_nxt)
#else
#define IS_DEAD false
#endif

inline search_goes_on()
{
	search_input(said);
#ifdef FAILOVER
	if
	:: act == DO_FAILOVER -> hand_nak()
	:: else
	fi
#endif
}

/* The steps of searches in engine/search: what may come of answers, and of the time when it is over. */
inline decide(by_time)
{
	if
	:: asks == PS_ASKING && !ASKS_HELD && !twice -> twice = true; said = PI_LATER
	:: asks == PS_ASKING && kind == K_DEAD && !twice -> twice = true; said = PI_BEGUN
	:: asks == PS_WAITING -> said = PI_BEGUN
	:: (asks == PS_ASKING || kind == K_SETUP) && (kind != K_DEAD || IS_DEAD) -> said = PI_GO
	:: by_time && ASKS_HELD -> said = PI_HELD
	:: said = PI_STAY
	fi;
	search_goes_on()
}

/* What sets searches off. */
active proctype operator()
{
end:	do
	:: atomic {
		st == ST_STEADY && paired && started && !rnr_seen ->
		if
		:: prepare(K_OPERATOR); said = PI_GO
		:: prepare(K_CONGESTED); said = PI_BEGUN
#ifdef PROBES
#ifdef QUIET
		:: probes == 0 -> prepare(K_BEHIND_DRAIN); more = true; said = PI_GO
#else
		:: prepare(K_BEHIND_DRAIN); said = PI_GO
#endif
#endif
#ifdef FAILOVER
		:: e_una != e_nxt -> prepare(K_DEAD); said = PI_BEGUN
#endif
		fi;
		search_goes_on();
		check()
	}
	:: atomic {
		!started && epoch == 0 && st == ST_STEADY ->
		prepare(K_SETUP);
		if
		:: said = PI_BEGUN
		:: said = PI_GO /* a good path is known */
		fi;
		search_input(said);
		check()
	}
#ifdef FAILOVER
	:: atomic { /* known from another flow's watch */
		st == ST_STEADY && paired && started && RECEIVER_READY && IS_DEAD ->
		prepare(K_DEAD);
		said = PI_GO;
		search_goes_on();
		check()
	}
#endif
	od
}

/* Answers from the peer's hp3d, which no RNIC sees; to whom they are late they say nothing. */
active proctype answers()
{
end:	do
	:: atomic { asks == PS_ASKING && kind != K_BEHIND_DRAIN -> decide(false); check() }
#ifdef QUIET
	:: atomic { asks == PS_WAITING -> decide(false); check() } /* there is no timer() */
#endif
	od
}

#if !defined(QUIET) && !defined(BREAK_NO_TIMEOUT)
/* due() in tick.c: a deadline comes at any time, but some time. */
active proctype timer_runs()
{
end:	do
#ifdef BREAK_PROBE_WAITS
	:: atomic { timer && st != ST_PROBING ->
#else
	:: atomic { timer ->
#endif
		put_off = false;
		if
		:: asks != PS_QUIET -> decide(true)
		:: else -> move_input(IN_TIMEOUT)
		fi;
#ifndef UNTIMED
		assert(!timer || put_off); /* tick */
#endif
		check()
	}
	od
}
#endif

#ifdef PACE
/* hp3_rate_due() */
active proctype pacer()
{
end:	do
	:: atomic { held > 0 && (st == ST_STEADY || st == ST_SEARCHING) -> release_one(0); check() }
	:: atomic { /* close_with() */
		held > 0 && st == ST_CLOSING ->
		if
		:: hold[0] >= AGAIN -> move_input(IN_TX_RETRANSMIT)
		:: else ->
			move_input(IN_TX_NEW);
			close(PSN(hold[0]));
			release_one(PKT(0, 1, 0))
		fi;
		check()
	}
	od
}
#endif

#ifdef PROBES
/* Probes, zero-length WRITEs with a PSN that is acknowledged, come to the responder. */
active proctype prober()
{
end:	do
	:: atomic {
		probes > 0 && ROOM_FOR_REPLY ->
		probes--;
		psn = (expected + PSNS - 1) % PSNS;
		reply(ACK, psn)
	}
	od
}
#endif

#ifdef FAILOVER
inline die()
{
	dead = true;
	do
	:: nnet > 0 -> nnet--; net[nnet] = 0
	:: else -> break
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
#ifdef FAILOVER
	:: atomic { !dead -> die() }
#endif
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

#if defined(QUIET) && defined(FAILOVER)
active proctype rnic_timer()
{
end:	do
	:: atomic { rnic == READY && una != nxt -> nxt = una }
	od
}

active proctype accident()
{
end:	do
	:: atomic { !dead && st != ST_RESUMING -> die() }
	:: true -> true
	od
}
#endif

#ifdef LIVENESS
/* Nothing is held outside a drain: where moves end, holds do. */
ltl move_ends { [] ((st != ST_STEADY) -> <> (st == ST_STEADY)) }
ltl drain_ends { [] ((st == ST_DRAINING) -> <> (st == ST_STEADY)) }
ltl resume_ends { [] ((st == ST_RESUMING) -> <> (st == ST_STEADY)) }
#endif
