/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * What the shell of libhp3x (xfer/lib) needs of a provider: rails, registered memory, endpoints.
 * A provider is one folder (xfer/tcp) with one table, struct hp3x_provider. It moves data and
 * reports what happened. It decides nothing: the core chooses paths, repeats slices and counts.
 *
 *     rails      all ports of a domain that the provider uses
 *     memory     a part of this process that is registered on all rails
 *     endpoint   the local end of one opening of a path
 *
 * An endpoint lives as follows. Each line is a call of the shell; the events that it may lead to
 * come from rails_poll(), in the order in which they happened:
 *
 *     endpoint_open()      describes the endpoint in at most HP3X_ENDPOINT bytes for the other end
 *     endpoint_connect()   CONNECTED, once. Reports success even if the other end was not yet
 *                          connected: posts wait for it
 *     endpoint_post()      COMPLETED, once for each post, unless FAILED or SHUT comes first.
 *                          ARRIVED: an immediate of the other end, after its data
 *     (the path breaks)    FAILED, at most once. No COMPLETED follows. ARRIVED may follow: what
 *                          the other end has an acknowledgement for must be reported
 *     endpoint_shut()      SHUT, once, after all other events of this endpoint. From the SHUT
 *                          event on, nothing reads or writes memory for this endpoint, and the
 *                          endpoint does not exist any more
 *
 * Rules for providers:
 * - No function blocks, except rails_open(). The shell serialises all calls of one domain.
 * - The other end is not trusted. A request for memory that is not registered, or beyond its end,
 *   is refused at the end that owns the memory, and the requester's post completes with
 *   HP3X_RESULT_REFUSED. Nothing of it is executed, and no later write of this endpoint either.
 * - An endpoint executes writes in the order of their posts. So if one was executed, all before it
 *   were executed.
 * - After memory_remove(), nothing reads or writes this memory. A provider that cannot stop an
 *   access at once reports FAILED for its endpoint, and ends the access before it returns.
 * - A COMPLETED with HP3X_RESULT_OK for a write means: the other end has the data in its memory.
 *
 * Functions return 0 or a positive value, or a negative errno after hp3x_error_set().
 */
#include "xfer/core/core.h"
#include "xfer/error.h"

#define HP3X_RAIL_NAME 48u
#define HP3X_POSTS     1024u /* most posts of an endpoint that are under way */

struct hp3x_rails;
struct hp3x_memory;
struct hp3x_endpoint;

struct hp3x_rail_info {
	char name[HP3X_RAIL_NAME];
	/* An address of the rail by which hosts can reach this one, as text; "": none. */
	char address[HP3X_RAIL_NAME];
	uint64_t rate; /* bytes/s; 0: unknown */
};

enum hp3x_event_kind {
	HP3X_EVENT_CONNECTED, /* success */
	HP3X_EVENT_COMPLETED, /* token, result */
	HP3X_EVENT_ARRIVED, /* imm */
	HP3X_EVENT_FAILED,
	HP3X_EVENT_SHUT,
	HP3X_EVENT_RAIL, /* rail, success: it is up */
};

struct hp3x_event {
	uint8_t kind;
	bool success;
	enum hp3x_result result;
	uint32_t peer, path; /* of the endpoint, as passed to endpoint_open() */
	uint32_t rail, imm;
	uint64_t token;
};

struct hp3x_place {
	uint32_t rail; /* local */
	uint32_t peer, path; /* for events */
};

/* A request: HP3X_ACT_WRITE, HP3X_ACT_READ or HP3X_ACT_PROBE. */
struct hp3x_post {
	uint8_t kind;
	bool has_imm;
	uint32_t imm;
	uint64_t token;
	struct hp3x_memory *memory; /* local; NULL: length is 0 */
	uint64_t address; /* local: what memory_add() was told, plus the offset */
	uint64_t remote;
	uint32_t remote_key, length;
};

/* Device memory of hp3x_region_add_dmabuf(). */
struct hp3x_dmabuf {
	int fd;
	uint64_t offset, length, iova;
};

struct hp3x_provider {
	const char *name;
	/*
	 * Opens the rails with these names; n_names 0: all that are up. At most HP3X_RAILS.
	 * -ENODEV: no such rail.
	 */
	int (*rails_open)(const char *const *names, uint32_t n_names, struct hp3x_rails **rails);
	/*
	 * How long a request may take before the core gives it up: time-outs of the transport may
	 * be as long. Called before the first endpoint. NULL: the provider has no time-outs.
	 */
	void (*rails_hang)(struct hp3x_rails *rails, uint64_t hang_ns);
	/* All endpoints are shut, and all memory is removed before. */
	void (*rails_close)(struct hp3x_rails *rails);
	/* Returns the number of rails, and writes `info` of all. */
	uint32_t (*rails_list)(const struct hp3x_rails *rails, struct hp3x_rail_info *info);
	/* Readable (epoll) while rails_poll() has something to do. */
	int (*rails_fd)(const struct hp3x_rails *rails);
	/* Works on what is due, and writes up to n events (n >= 8). Returns their number. */
	int (*rails_poll)(struct hp3x_rails *rails, struct hp3x_event *event, int n);
	/* Begins to send what was posted since the last call. */
	void (*rails_flush)(struct hp3x_rails *rails);

	/* Writes the key of each rail. */
	int (*memory_add)(struct hp3x_rails *rails, void *base, size_t length,
		struct hp3x_memory **memory, uint32_t key[HP3X_RAILS]);
	/* NULL: the provider cannot do it. `iova`: address by which posts name the first byte. */
	int (*memory_add_dmabuf)(struct hp3x_rails *rails, const struct hp3x_dmabuf *dmabuf,
		struct hp3x_memory **memory, uint32_t key[HP3X_RAILS]);
	void (*memory_remove)(struct hp3x_rails *rails, struct hp3x_memory *memory);

	/* Returns the length of the description. */
	int (*endpoint_open)(struct hp3x_rails *rails, const struct hp3x_place *place,
		void *description, struct hp3x_endpoint **endpoint);
	int (*endpoint_connect)(
		struct hp3x_endpoint *endpoint, const void *description, size_t length);
	/* -ENOBUFS: HP3X_POSTS are under way. -ENOTCONN: the endpoint has failed. */
	int (*endpoint_post)(struct hp3x_endpoint *endpoint, const struct hp3x_post *post);
	void (*endpoint_shut)(struct hp3x_endpoint *endpoint);
};

extern const struct hp3x_provider hp3x_tcp, hp3x_verbs;
