/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agreement to spray a queue pair: a sender, two paths, a receiver that resequences, words
 * between them. The sender's state machine, agreement_step(), and for how many keep-alive intervals it trusts and a
 * receiver is bound are generated from rfr/spraying.h; what feeds it follows engine/spray. README.md
 * tells what is modelled and what not.
 *
 * Claims:
 *  order    the RNIC gets no packet before one that left before it, unless a host went away, and
 *           then only until all is acknowledged that left until the sender took one path again
 *  trusted  a packet takes another path only while the receiver puts this agreement in order, or
 *           TRUST keep-alive intervals and the transit time of a message after it has ceased to
 *  asking_ends, ends   no answer is waited for without end; one path is reached where the receiver
 *           is gone for good
 *  bound_ends   a receiver whose sender is gone gives up its room
 *
 *  known    a packet takes another path only towards a receiver that is right about what its RNIC
 *           waits for (-DSETUP)
 *  heeded   no packet takes another path once the sender has heard NO
 *  kept     a NO to an older message than a YES that the sender has heard ends nothing
 *
 * -DSETUP: where nothing is on its way the question says so, and is answered at once.
 * -DREADS: READ responses. Nothing tells the sender what has arrived, or was asked for again: it ends
 * by time, and drains nothing. The receiver knows what is to come, whatever the agreement is called.
 * -DREFUSES: the receiver refuses questions. It says NO to what it has agreed to, at any time, and
 * resequences until OVER. -DSTOPS: then it may end when it has been bound for as long as it must be.
 * -DRECEIVER: the receiver's hp3d ends at any time, without a message or with NO, and comes back.
 * -DSENDER: so the sender's; -DEPOCHS: the queue pair starts over. -DDIES: the receiver's goes for
 * good. WORDS: keep-alive intervals that a message takes at most. A rule is broken on purpose by -DBREAK_....
 */
#include "transitions.pml"

#ifndef AGREEMENTS
#define AGREEMENTS 2 /* of a run */
#endif
#ifndef WINDOW
#define WINDOW 2 /* packets on their way */
#endif
#ifndef WORDS
#define WORDS 2 /* keep-alive intervals that a message takes at most */
#endif
#ifndef FLIGHT
#define FLIGHT 1 /* keep-alive intervals that a packet takes at most */
#endif
#ifndef ENDS
#define ENDS 1
#endif
#define LONG (TRUST + WORDS + 1) /* keep-alive intervals, and more */

#ifdef SMALL
#undef TRUST
#undef BOUND
#define TRUST 2
#define BOUND 5
#endif
#ifdef BREAK_BOUND
#define BOUND_FOR TRUST
#else
#define BOUND_FOR BOUND
#endif

mtype:word = { NOTHING, ASK, SPRAYING, OVER, YES, NO };
mtype:receiver = { NONE, ASKED, READY };

/* The sender. */
mtype:agreed st = SP_SINGLE;
byte number; /* of the agreement; later ones are greater */
byte heard; /* keep-alive intervals since the newest YES */
byte yes_to; /* ... since that was said to which it was an answer */
bool yes_since; /* ... since it took one path */
byte since; /* READS: keep-alive intervals since it did, to end */
bool draining; /* nothing leaves until all is acknowledged */
byte behind; /* packets to be acknowledged until it has caught up */
bool sender_gone;
bool first; /* nothing has left since the question */
bool told_no; /* it has heard NO */

/* The receiver. */
mtype:receiver rx = NONE;
byte rx_number, rx_heard;
byte newest; /* number of a question that said that nothing had left: each counts once */
bool gone_for_good;
bool unwanted; /* it has agreed, and says NO now */
byte refused_for; /* ... for so many keep-alive intervals */
bool stale; /* it believes that nothing has left since the question, but something has */

/* Packets in the order in which they left: path and intervals on the way; those behind the first one may
 * be held at the receiver. What the RNIC got is acknowledged at once: no sender catches up sooner. */
byte net[WINDOW], age[WINDOW];
bool held[WINDOW];
byte nnet;

/* Words on their way, in any order: from the sender, from the receiver. */
mtype:word word[4];
byte word_number[4], asked_ago[4], way[4];
bool word_first[4];
byte later_yes[4]; /* of NO: a YES to a later word is on its way, was heard */
#define ON_ITS_WAY 1
#define HEARD 2

byte ended; /* times that a host went away, or the queue pair started over */

/* What is claimed of. */
bool hurt; /* a host went away */
byte gone = LONG; /* keep-alive intervals since a receiver put this agreement in order */

mtype:action act;
byte i, k;
byte ok, sprayed; /* bool: a hidden one may be no bit */

#define SENDERS 0 /* slots from there on */
#define RECEIVERS 2

/* --- words ------------------------------------------------------------------------------------ */

inline write(at, kind, n, ago)
{
	word[at] = kind; word_number[at] = n; asked_ago[at] = ago; way[at] = 0;
	word_first[at] = first && kind == ASK;
	later_yes[at] = 0
}

/* Where there is no room, or chance has it, it is lost. */
inline put(at, kind, n, ago)
{
	if
	:: word[at] == NOTHING -> write(at, kind, n, ago)
#ifdef PASSING /* words pass each other */
	:: word[at] != NOTHING && word[at + 1] == NOTHING -> write(at + 1, kind, n, ago)
#endif
	:: else
	fi
}

#define OTHER(at) (at ^ 1)

inline take(at)
{
	later_yes[OTHER(at)] = (later_yes[OTHER(at)] == ON_ITS_WAY -> 0 : later_yes[OTHER(at)]);
	word[at] = NOTHING; word_number[at] = 0; asked_ago[at] = 0; way[at] = 0; word_first[at] = false;
	later_yes[at] = 0
}

/* It is a NO; the other slot has a YES that answers a later word. */
inline mark(at)
{
	if
	:: word[at] == NO && word[OTHER(at)] == YES && word_number[at] == word_number[OTHER(at)] &&
	   asked_ago[at] > asked_ago[OTHER(at)] && later_yes[at] == 0 -> later_yes[at] = ON_ITS_WAY
	:: else
	fi
}

/* The receiver answers, or says NO by itself. */
inline say(kind, ago)
{
	put(RECEIVERS, kind, rx_number, ago);
#ifdef PASSING
	if
	:: kind == YES -> mark(RECEIVERS); mark(RECEIVERS + 1)
	:: else
	fi
#endif
}

/* --- the sender ------------------------------------------------------------------------------- */

inline forget()
{
	st = SP_SINGLE; heard = 0; yes_to = 0; yes_since = false; since = 0; behind = 0; gone = LONG; first = false;
	told_no = false
}

inline input(what)
{
	sprayed = st == SP_SPRAYING;
	agreement_step(st, what);
	if
	:: sprayed && st != SP_SPRAYING -> behind = nnet; yes_since = false; since = 0
	:: else
	fi;
	if
	:: act == SD_END -> put(SENDERS, OVER, number, 0); forget()
#ifndef READS
	:: act == SD_DRAIN && nnet > 0 -> draining = true
#endif
	:: else
	fi
}

#ifdef BREAK_STALE
#define TRUSTED true
#elif defined(BREAK_LATE_YES)
#define TRUSTED (heard < TRUST)
#else
#define TRUSTED (heard < TRUST && yes_to < BOUND - FLIGHT)
#endif

inline caught_up()
{
	if
#ifdef READS
	:: st == SP_NARROW && yes_since && TRUSTED -> input(SI_CAUGHT_UP)
#elif defined(BREAK_AT_ONCE)
	:: st == SP_NARROW || st == SP_ENDING -> input(SI_CAUGHT_UP)
#else
	:: behind == 0 && (st == SP_NARROW && yes_since && TRUSTED || st == SP_ENDING) ->
		input(SI_CAUGHT_UP)
#endif
	:: else
	fi
}

/* Something leaves before the answer: the question is void, and another one is asked. */
inline leaves_first()
{
	if
#ifndef BREAK_EARLY
	:: first && st == SP_ASKING -> number++
#endif
	:: else
	fi;
	first = false
}

inline emit()
{
	leaves_first();
	if
	:: !TRUSTED -> input(SI_SILENT)
	:: else
	fi;
	caught_up();
	k = 0;
	if
	:: st == SP_SPRAYING -> k = 1
#ifdef BREAK_UNASKED
	:: st == SP_ASKING -> k = 1
#endif
	:: true
	fi;
	if
	:: k == 1 ->
		assert(gone <= TRUST + WORDS); /* trusted */
		assert(!told_no) /* heeded */
	:: else
	fi;
	net[nnet] = k; age[nnet] = 0; held[nnet] = false; nnet++
}

/* What answers an older word than was answered before means nothing; NO may follow YES. */
#define ANSWERED (st != SP_ASKING)
#ifdef BREAK_OLD_NO
#define NEW_NO(at) true
#else
#define NEW_NO(at) (!ANSWERED || asked_ago[at] <= yes_to)
#endif
#define NEW_YES(at) (!ANSWERED || asked_ago[at] < yes_to)

inline hears_no(at)
{
	assert(later_yes[at] != HEARD); /* kept */
	told_no = true;
#ifndef BREAK_IGNORES_NO
	input(SI_NO);
#endif
	told_no = told_no && st != SP_SINGLE
}

inline hears_yes(at)
{
	heard = 0; yes_to = asked_ago[at]; yes_since = true;
	later_yes[OTHER(at)] = (later_yes[OTHER(at)] == ON_ITS_WAY -> HEARD : later_yes[OTHER(at)]);
	input(SI_YES)
}

inline answer(at)
{
	ok = word_number[at] == number && st != SP_SINGLE;
	if
	:: ok && word[at] == NO && NEW_NO(at) -> hears_no(at)
	:: ok && word[at] == YES && NEW_YES(at) -> hears_yes(at)
	:: else
	fi;
	take(at)
}

active proctype sender()
{
end:	do
#ifdef DIES
	:: atomic { st == SP_SINGLE && number < AGREEMENTS && !gone_for_good && !sender_gone ->
#else
	:: atomic { st == SP_SINGLE && number < AGREEMENTS && !sender_gone ->
#endif
		number++; heard = 0;
#ifdef SETUP
		first = nnet == 0;
#endif
		input(SI_LARGE) }
	:: atomic { nnet < WINDOW && !draining && !sender_gone -> emit() }
	:: atomic { nnet == 0 && st != SP_SINGLE -> input(SI_IDLE) }
	od
}

/* A process of its own: messages are heard however much is sent. */
active proctype ears()
{
end:	do
	:: atomic { word[2] != NOTHING -> answer(2) }
	:: atomic { word[3] != NOTHING -> answer(3) }
	od
}

/* --- the receiver ----------------------------------------------------------------------------- */

inline leave(n) /* the n-th packet is the RNIC's */
{
	i = n;
	do
	:: i + 1 < nnet -> net[i] = net[i + 1]; age[i] = age[i + 1]; held[i] = held[i + 1]; i++
	:: else -> break
	od;
	nnet--;
	net[nnet] = 0; age[nnet] = 0; held[nnet] = false;
	behind = (behind > 0 -> behind - 1 : 0);
	draining = draining && nnet > 0
}

inline nothing_flies()
{
	do
	:: nnet > 0 -> nnet--; net[nnet] = 0; age[nnet] = 0; held[nnet] = false
	:: else -> break
	od;
	behind = 0;
	draining = false
}

/* The RNIC sees a gap, and what is missing is repeated behind it: all on one path, in order. */
inline gap()
{
	assert(hurt); /* order */
	nothing_flies();
#ifndef READS
	input(SI_BACK)
#endif
}

inline follow()
{
	do
	:: nnet > 0 && held[0] -> leave(0)
	:: else -> break
	od
}

inline let_go() /* what is held goes to the RNIC */
{
	ok = true;
	k = 0;
	do
	:: k < nnet -> ok = ok && !held[k]; k++
	:: else -> break
	od;
	if
	:: !ok -> gap()
	:: else
	fi
}

inline receiver_ends()
{
	rx = NONE; rx_number = 0; rx_heard = 0; stale = false; unwanted = false; refused_for = 0;
	let_go()
}

inline arrive(n)
{
	assert(net[n] == 0 || !stale || rx_number != number); /* known */
	if
	:: n == 0 -> leave(0); follow()
#ifdef READS
	:: n > 0 && rx == READY -> held[n] = true
#else
	:: n > 0 && rx == READY && rx_number == number && st != SP_SINGLE -> held[n] = true
#endif
	:: else -> gap()
	fi;
	if
	:: rx == ASKED -> rx = READY; stale = false; says(rx_heard)
	:: else
	fi;
	if
	:: rx == READY && rx_number == number -> gone = 0
	:: else
	fi
}

inline says(ago)
{
	if
	:: unwanted -> say(NO, ago)
	:: else -> say(YES, ago)
	fi
}

/* It says NO, and puts what it has agreed to in order for as long as it is bound. */
inline refuse()
{
	say(NO, rx_heard);
#ifdef BREAK_REFUSED
	receiver_ends()
#else
	if
	:: rx == READY -> unwanted = true
	:: else -> receiver_ends()
	fi
#endif
}

inline asked(at)
{
	if
	:: word[at] == OVER && rx != NONE && word_number[at] == rx_number -> receiver_ends()
	:: word[at] == OVER && (rx == NONE || word_number[at] != rx_number)
	:: word[at] != OVER && rx != NONE && word_number[at] < rx_number /* an old word */
#ifdef REFUSES /* no room, or not wanted: an agreement before goes on to its end */
	:: word[at] == ASK && (rx == NONE || word_number[at] > rx_number) ->
		put(RECEIVERS, NO, word_number[at], asked_ago[at])
#endif
	:: word[at] == ASK && (rx == NONE || word_number[at] > rx_number) && !gone_for_good ->
#ifdef READS
		if
		:: rx == NONE -> rx = ASKED
		:: else
		fi;
		rx_number = word_number[at]; rx_heard = asked_ago[at];
		if
		:: rx == READY -> says(rx_heard)
		:: else
		fi;
#else
		if
		:: rx != NONE -> let_go()
		:: else
		fi;
		rx = ASKED; rx_number = word_number[at]; rx_heard = asked_ago[at]; stale = false; unwanted = false; refused_for = 0;
		if
#ifdef BREAK_AGAIN
		:: word_first[at] ->
#else
		:: word_first[at] && word_number[at] > newest ->
			newest = word_number[at];
#endif
			rx = READY; stale = rx_number != number || !first;
			says(rx_heard)
		:: else
		fi;
#endif
		if
		:: rx == READY && rx_number == number -> gone = 0
		:: else
		fi
	:: word[at] != OVER && rx != NONE && word_number[at] == rx_number ->
		if
		:: asked_ago[at] < rx_heard -> rx_heard = asked_ago[at]
		:: else
		fi;
		if
		:: rx == READY -> says(asked_ago[at])
		:: else
		fi
	:: word[at] == SPRAYING && (rx == NONE || word_number[at] > rx_number) && !gone_for_good ->
		put(RECEIVERS, NO, word_number[at], asked_ago[at])
	:: else
	fi;
	take(at)
}

active proctype receiver()
{
end:	do
	:: atomic { word[0] != NOTHING -> asked(0) }
	:: atomic { word[1] != NOTHING -> asked(1) }
	od
}

/* --- the network, and time -------------------------------------------------------------------- */

#define FIRST_OF_PATH(n) (n == 0 || net[0] != net[n] || held[0])

active proctype network()
{
end:	do
	:: atomic { nnet > 0 && !held[0] -> arrive(0) }
	:: atomic { nnet > 1 && !held[1] && FIRST_OF_PATH(1) -> arrive(1) }
	:: atomic { word[0] != NOTHING -> take(0) } /* lost */
	:: atomic { word[2] != NOTHING -> take(2) }
	od
}

inline older(at)
{
	if
	:: word[at] != NOTHING -> way[at]++; asked_ago[at]++
	:: else
	fi
}

inline tick()
{
	older(0); older(1); older(2); older(3);
	k = 0;
	do
	:: k < nnet && !held[k] -> age[k]++; k++
	:: k < nnet && held[k] -> k++
	:: else -> break
	od;
	if
	:: gone > 0 && gone < LONG -> gone++
	:: else
	fi;
	if
	:: gone == 0 && !(rx == READY && rx_number == number) -> gone = 1
	:: else
	fi;
	if
	:: st != SP_SINGLE ->
		heard = (heard < BOUND -> heard + 1 : heard);
		yes_to = (yes_to < BOUND -> yes_to + 1 : yes_to);
#ifndef BREAK_NEVER_LOST
		if
		:: heard >= BOUND -> input(SI_LOST)
		:: else
		fi;
#endif
		if
		:: heard >= TRUST -> input(SI_SILENT)
		:: else
		fi;
#ifdef READS
		since = (since < TRUST -> since + 1 : since);
		if
#ifdef BREAK_READS_END
		:: st == SP_ENDING -> input(SI_IDLE)
#else
		:: st == SP_ENDING && since == TRUST -> input(SI_IDLE)
#endif
		:: else
		fi;
#endif
		if
		:: st == SP_ASKING -> put(SENDERS, ASK, number, 0)
		:: st != SP_ASKING && st != SP_SINGLE -> put(SENDERS, SPRAYING, number, 0)
		:: else
		fi
	:: else
	fi;
	if
	:: rx != NONE && rx_heard < BOUND -> rx_heard++
	:: else
	fi;
#ifdef STOPS
	refused_for = (unwanted && refused_for < BOUND -> refused_for + 1 : refused_for);
#endif
#ifndef BREAK_NEVER_FREE
	if
	:: rx != NONE && rx_heard >= BOUND_FOR -> say(NO, rx_heard); receiver_ends()
	:: else
	fi;
#endif
	if
	:: hurt && nnet == 0 && (st == SP_SINGLE || rx == READY && rx_number == number) -> hurt = false
	:: else
	fi
}

#define IN_TIME(at) (word[at] == NOTHING || way[at] < WORDS)
#define ARRIVES(n) (n >= nnet || held[n] || age[n] < FLIGHT)

active proctype time()
{
end:	do
	:: atomic { IN_TIME(0) && IN_TIME(1) && IN_TIME(2) && IN_TIME(3) && ARRIVES(0) && ARRIVES(1) -> tick() }
	od
}

/* --- what may happen, or never ---------------------------------------------------------------- */

active proctype mishap()
{
end:	do
#ifndef READS
	:: atomic { st == SP_SPRAYING -> input(SI_BACK) }
#endif
	:: atomic { st != SP_SINGLE -> input(SI_STOP) }
#ifdef REFUSES
	:: atomic { rx != NONE && !unwanted -> refuse() }
#endif
#ifdef STOPS
	:: atomic { refused_for == BOUND -> receiver_ends() }
#endif
#ifdef RECEIVER
	:: atomic { rx != NONE && ended < ENDS -> ended++; hurt = true; receiver_ends() }
	:: atomic { rx != NONE && ended < ENDS ->
		ended++; hurt = true; say(NO, rx_heard); receiver_ends() }
#endif
#ifdef DIES
	:: atomic { !gone_for_good -> gone_for_good = true; hurt = true; receiver_ends() }
#endif
#ifdef SENDER
	:: atomic { st != SP_SINGLE && ended < ENDS ->
		ended++; hurt = true; draining = false; forget() }
#endif
#ifdef EPOCHS
	:: atomic { /* a reset: what is on its way is nobody's any more */
		ended < ENDS && (st != SP_SINGLE || nnet > 0) ->
		ended++;
		nothing_flies();
		if
		:: st != SP_SINGLE -> put(SENDERS, OVER, number, 0)
		:: else
		fi;
		forget()
	}
#endif
#ifdef LIVENESS
	:: true -> true
	:: atomic { !sender_gone && st != SP_SINGLE -> sender_gone = true; hurt = true; draining = false; forget() }
#endif
	od
}

#ifdef LIVENESS
ltl asking_ends { [] ((st == SP_ASKING) -> <> (st != SP_ASKING)) }
ltl ends { [] (gone_for_good -> <> (st == SP_SINGLE)) }
ltl bound_ends { [] (sender_gone -> <> (rx == NONE)) }
#endif
