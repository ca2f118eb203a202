/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module answers requests to hp3d, and reports what hp3d does. It calls the workers (data
 * lcores, worker.h). Through them, it calls pipes and engines: a pipe is one rail on one worker,
 * and has one engine (engine/engine.h). It also calls the control socket (app/control), the watcher
 * (app/watch), and the audit log and journal (app/record).
 *
 * The control socket is a Unix stream socket. It takes one JSON request per line, and answers each
 * with one JSON line, in order (hp3d.8 lists the requests). The module also stores events of the
 * workers, and passes queue-pair events of this host (watch.h) to the workers.
 *
 * The control thread, which is hp3d's main thread, calls this module. Any thread, such as that of
 * app/hp3d/metrics, may read counters (counters.h), hp3d_mode() and hp3d_watch_stats(). While
 * lcores run, this module accesses pipes only as worker.h allows. A client delays other clients by
 * HP3D_LINES_PER_CALL answers at most. Each answer has one page of a list at most. A client uses no
 * more memory than its two bounded buffers.
 *
 * A process that can open the socket can move traffic, so the socket has mode 0600. With [control]
 * group, the socket has mode 0660, and members of the group may send only some requests
 * (requests.h). hp3d replaces a socket that a dead process left. A socket that a living process
 * serves is an error.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/*
 * Claims the socket's path, and so the rails, for this process. This is the first step of a start.
 * If another hp3d has the path, that hp3d may be stopping, for example in an upgrade. So the call
 * waits for as long as a clean stop may take. Returns 0, or a negative errno after a message on
 * stderr that names the fix. hp3d_control_leave() releases the path. This is the last step of a
 * stop.
 */
int hp3d_control_reserve(const struct hp3_config *cfg);
void hp3d_control_leave(void);

/*
 * `cfg` must outlive hp3d_control_stop(). Workers and pipes must exist, and the path must be
 * reserved. Returns 0, or a negative errno after a message on stderr that names the fix
 * (-EADDRINUSE: another program serves the socket).
 */
int hp3d_control_start(const struct hp3_config *cfg);

/*
 * Waits up to timeout_ms for requests, answers them, and takes the workers' events. Call it in a
 * loop. If the socket was not started, the function only waits.
 */
void hp3d_control_poll(int timeout_ms);

/* Closes all clients and removes the socket. Does nothing if hp3d_control_start() failed or was
 * never called. */
void hp3d_control_stop(void);

/*
 * Reports ports that lose their link or whose interface is deleted. A report is a line on stderr,
 * an event, and a part of the answer to the request "health". By default, the other port of the
 * rail stays up. With [bypass] carry_link, this module sets the other port down until the link is
 * back or hp3d ends. Exception: this module sets no kernel interface down. (If both ports are
 * kernel interfaces, service/carry.c carries the link state.)
 */

/* Call it in a loop. Checks the ports four times per second at most; other calls do nothing. */
void hp3d_links_watch(const struct hp3_config *cfg);
/* A descriptor; once it can be read, call hp3d_links_changed(), and then hp3d_links_watch(), which
 * checks the ports at once. -1: no port of a bond is a kernel interface. */
int hp3d_links_fd(void);
void hp3d_links_changed(void);
void hp3d_links_end(const struct hp3_config *cfg);
/* By rail: {"rnic":up,"net":up}. */
json_t *hp3d_links_json(const struct hp3_config *cfg);

/*
 * Reports ports that are silent (silence.h): hp3d sends requests to them, and no RoCEv2 packet
 * arrives from them. A report is a line on stderr, an event, and a warning in the answer to the
 * request "health". Call it in a loop. Checks the ports four times per second at most.
 */
void hp3d_silence_watch(const struct hp3_config *cfg);
/* `dir`: the direction of packets that would arrive from the port. Any thread. */
bool hp3d_port_is_silent(unsigned rail, unsigned dir);
uint32_t hp3d_port_silences(unsigned rail, unsigned dir); /* how often it became silent */
/* By rail: {"rnic":silent,"net":silent}. */
json_t *hp3d_silent_json(const struct hp3_config *cfg);

/* Reports on fail-open rails (lcores/bypass.h). This mode decides when RoCEv2 packets of a rail go
 * direct: the kernel forwards them. AUTO: while hp3d does not handle them. ON: always. OFF: never.
 * `modes` in bypass.c has this order. */
enum hp3d_bypass_mode { HP3D_BYPASS_AUTO, HP3D_BYPASS_ON, HP3D_BYPASS_OFF };

/* State and counts of each rail; null for a rail that does not fail open. */
json_t *hp3d_bypass_json(const struct hp3_config *cfg);

/* Writes a line on stderr and an event for each change since the last call. */
void hp3d_bypass_watch(const struct hp3_config *cfg);

/*
 * The flow state file lists every flow whose EV is not its home port, for the next hp3d. Shortly
 * after each move, hp3d writes a new file, which replaces the old file. If hp3d is killed, the next
 * hp3d continues with these EVs, so that later packets do not overtake earlier packets. A clean
 * stop returns flows to their home ports and removes the file. Rails that fail open need no file:
 * the kernel stores their EVs (lcores/bypass_ports.c).
 *
 * The file is JSON: {"v":1,"hp3":VERSION,"boot":ID,"flows":[{"flow":ID,"port":N,"replies":N}]}.
 * "port": EV of the local RNIC's requests on this queue pair; "replies": EV of its ACKs and READ
 * responses; 0: the home port. The file is valid until the machine reboots. It is valid only if no
 * user other than hp3d's can have written it.
 */

/* Passes the file's flows to the engines. Call it when workers exist, before their lcores run. */
void hp3d_flow_state_begin(const struct hp3_config *cfg);
/* If the event is a move, the file becomes due. */
void hp3d_flow_state_note(const struct hp3d_event *e);
/* Writes the file if it is due. */
void hp3d_flow_state_poll(void);
/* Call it after the lcores have ended. Writes the flows that are still not on their home ports. */
void hp3d_flow_state_end(void);
