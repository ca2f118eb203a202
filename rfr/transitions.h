/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The state machine of a move as one table. The table is compiled into rfr.c. Tests check all its
 * rows, and tests/model/generate.c generates the model from it.
 */

/* X(symbol, text) */
#define HP3_RFR_STATES(X)                                                                          \
	X(STEADY, "steady") /* no move in progress */                                              \
	X(SEARCHING, "searching") /* probes are outstanding; packets are forwarded */              \
	X(CLOSING, "closing") /* requested; no closing packet has left yet */                      \
	X(DRAINING, "draining") /* the closing packet has left; later packets are held */          \
	X(PROBING, "probing") /* no packet in flight; probes outstanding; packets are held */      \
	X(RESUMING, "resuming") /* the old path is dead; the RNIC has yet to retransmit */

#define HP3_RFR_INPUTS(X)                                                                          \
	X(NONE, "none")                                                                            \
	X(MOVE, "move") /* requested; packets are in flight */                                     \
	X(MOVE_IDLE, "move-idle") /* requested; a reply proves that no packet is in flight */      \
	X(MOVE_CLOSED, "move-closed") /* requested; the newest packet can be the closing one */    \
	X(SEARCH, "search") /* the path in use is severely congested */                            \
	X(NO_BETTER, "no-better") /* no probe won */                                               \
	X(TX_NEW, "tx-new") /* a first transmission leaves the RNIC */                             \
	X(TX_RETRANSMIT, "tx-retransmit") /* the RNIC retransmits */                               \
	X(TX_EPOCH, "tx-epoch") /* the queue pair was reset */                                     \
	X(DRAINED, "drained") /* a reply proves that the closing packet arrived */                 \
	X(NAK, "nak") /* PSN sequence NAK: loss on the old path */                                 \
	X(RNR, "rnr") /* RNR NAK */                                                                \
	X(FATAL, "fatal-nak") /* NAK code 1-4: the queue pair is in error */                       \
	X(CONTRADICTION, "contradiction") /* reply to a PSN that was never sent: wrong pairing */  \
	X(HOLD_FULL, "hold-full") /* no room to hold the next packet */                            \
	X(TIMEOUT, "timeout") /* close_timeout or max_hold has passed */                           \
	X(CANCEL, "cancel") /* hp3d stops, or an operator cancels the move */                      \
	X(MESSAGE_START,                                                                           \
		"message-start") /* message-start probing: idle, and a long message begins */      \
	X(ASK, "ask") /* drained; standard probes have to choose the path before the move */       \
	X(WON, "won") /* a probe won */                                                            \
	X(DEAD, "dead") /* the path in use is dead (rule 13) */                                    \
	X(TX_WANTED, "tx-wanted") /* resuming: the packet that the receiver expects */             \
	X(TX_AHEAD, "tx-ahead") /* resuming: a packet behind the one that the receiver expects */  \
	X(TX_AGAIN, "tx-again") /* the RNIC sends the held packets again */                        \
	X(CAUGHT_UP, "caught-up") /* resuming: no packet before the held ones is missing */

#define HP3_RFR_ACTIONS(X)                                                                         \
	X(NONE, "none")                                                                            \
	X(SWITCH, "switch") /* release held packets on the new port, which is now in use */        \
	X(CLOSE, "close") /* forward the packet in hand with AckReq: the closing packet */         \
	X(BEHIND, "behind") /* the newest sent packet is the closing packet; hold later ones */    \
	X(HOLD, "hold") /* hold the packet in hand */                                              \
	X(RECOVER, "recover") /* release held packets on the old port, then the one in hand */     \
	X(DISCARD, "discard") /* drop held packets: their queue pair is gone */                    \
	X(PROBE, "probe") /* send the first probe; hold later packets */                           \
	X(FAILOVER, "failover") /* use the new port; hold packets until the RNIC retransmits */    \
	X(SUPERSEDE, "supersede") /* drop held packets: the RNIC sends them again */               \
	X(RESUME, "resume") /* release held packets on the new port, then the one in hand */

/* X(state, input, next state, action) */
#define HP3_RFR_TRANSITIONS(X)                                                                     \
	X(STEADY, MOVE, CLOSING, NONE)                                                             \
	X(STEADY, MOVE_IDLE, STEADY, SWITCH)                                                       \
	X(STEADY, MOVE_CLOSED, DRAINING, BEHIND)                                                   \
	X(STEADY, MESSAGE_START, PROBING, NONE)                                                    \
	X(STEADY, SEARCH, SEARCHING, NONE)                                                         \
	X(SEARCHING, MOVE, CLOSING, NONE)                                                          \
	X(SEARCHING, MOVE_IDLE, STEADY, SWITCH)                                                    \
	X(SEARCHING, MOVE_CLOSED, DRAINING, BEHIND)                                                \
	X(SEARCHING, NO_BETTER, STEADY, RECOVER)                                                   \
	X(SEARCHING, TX_EPOCH, STEADY, DISCARD)                                                    \
	X(SEARCHING, RNR, STEADY, RECOVER)                                                         \
	X(SEARCHING, FATAL, STEADY, RECOVER)                                                       \
	X(SEARCHING, CONTRADICTION, STEADY, RECOVER)                                               \
	X(SEARCHING, CANCEL, STEADY, RECOVER)                                                      \
	X(CLOSING, TX_NEW, DRAINING, CLOSE)                                                        \
	X(CLOSING, TX_RETRANSMIT, STEADY, RECOVER)                                                 \
	X(CLOSING, TX_EPOCH, STEADY, DISCARD)                                                      \
	X(CLOSING, DRAINED, STEADY, SWITCH)                                                        \
	X(CLOSING, NAK, STEADY, RECOVER)                                                           \
	X(CLOSING, RNR, STEADY, RECOVER)                                                           \
	X(CLOSING, FATAL, STEADY, RECOVER)                                                         \
	X(CLOSING, CONTRADICTION, STEADY, RECOVER)                                                 \
	X(CLOSING, TIMEOUT, STEADY, RECOVER)                                                       \
	X(CLOSING, CANCEL, STEADY, RECOVER)                                                        \
	X(DRAINING, TX_NEW, DRAINING, HOLD)                                                        \
	X(DRAINING, TX_RETRANSMIT, STEADY, RECOVER)                                                \
	X(DRAINING, TX_EPOCH, STEADY, DISCARD)                                                     \
	X(DRAINING, DRAINED, STEADY, SWITCH)                                                       \
	X(DRAINING, NAK, STEADY, RECOVER)                                                          \
	X(DRAINING, RNR, STEADY, RECOVER)                                                          \
	X(DRAINING, FATAL, STEADY, RECOVER)                                                        \
	X(DRAINING, CONTRADICTION, STEADY, RECOVER)                                                \
	X(DRAINING, HOLD_FULL, STEADY, RECOVER)                                                    \
	X(DRAINING, TIMEOUT, STEADY, RECOVER)                                                      \
	X(DRAINING, CANCEL, STEADY, RECOVER)                                                       \
	X(DRAINING, ASK, PROBING, PROBE)                                                           \
	X(DRAINING, TX_AGAIN, STEADY, SUPERSEDE)                                                   \
	X(PROBING, TX_NEW, PROBING, HOLD)                                                          \
	X(PROBING, WON, STEADY, SWITCH)                                                            \
	X(PROBING, NO_BETTER, STEADY, RECOVER)                                                     \
	X(PROBING, TX_RETRANSMIT, STEADY, RECOVER)                                                 \
	X(PROBING, TX_EPOCH, STEADY, DISCARD)                                                      \
	X(PROBING, NAK, STEADY, RECOVER)                                                           \
	X(PROBING, RNR, STEADY, RECOVER)                                                           \
	X(PROBING, FATAL, STEADY, RECOVER)                                                         \
	X(PROBING, CONTRADICTION, STEADY, RECOVER)                                                 \
	X(PROBING, HOLD_FULL, STEADY, RECOVER)                                                     \
	X(PROBING, TIMEOUT, STEADY, RECOVER)                                                       \
	X(PROBING, CANCEL, STEADY, RECOVER)                                                        \
	X(STEADY, DEAD, RESUMING, FAILOVER)                                                        \
	X(SEARCHING, DEAD, RESUMING, FAILOVER)                                                     \
	X(RESUMING, TX_WANTED, RESUMING, NONE)                                                     \
	X(RESUMING, TX_AHEAD, RESUMING, HOLD)                                                      \
	X(RESUMING, TX_AGAIN, STEADY, SUPERSEDE)                                                   \
	X(RESUMING, CAUGHT_UP, STEADY, RESUME)                                                     \
	X(RESUMING, TX_EPOCH, STEADY, DISCARD)                                                     \
	X(RESUMING, CONTRADICTION, STEADY, RESUME)                                                 \
	X(RESUMING, HOLD_FULL, STEADY, RESUME)                                                     \
	X(RESUMING, TIMEOUT, STEADY, RESUME)                                                       \
	X(RESUMING, CANCEL, STEADY, RESUME)
