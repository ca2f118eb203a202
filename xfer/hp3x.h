/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * libhp3x: transfers between the memories of processes, over all rails and paths of their hosts.
 *
 * A rail is a port of an RNIC, or an interface for TCP. Between two processes there are paths: each
 * is a connection from a local rail to a remote rail. The library cuts a transfer into slices, and
 * sends each slice on the path that will finish it first. A path that fails, hangs or loses its GID
 * is left at once, and its slices are sent again on other paths. hp3x opens the path again with
 * doubling waits, and raises its share until the path carries its full rate.
 *
 *     domain   rails of this process, and a control address where peers connect
 *     region   memory that is registered on all rails; its descriptor is a string of bytes
 *     peer     another process with a domain; peers come and go at any time
 *     op       a write, read or send that this process submitted
 *     counter  a number at the receiver that ops of its peers add to
 *
 * Example (error checks left out):
 *
 *     struct hp3x_domain *d;
 *     struct hp3x_region *r;
 *     struct hp3x_peer *p;
 *     struct hp3x_remote there;
 *     struct hp3x_completion c;
 *
 *     hp3x_open(NULL, &d);
 *     hp3x_region_add(d, memory, length, &r);
 *     hp3x_connect(d, "10.0.0.2:18515", &p);
 *     hp3x_remote_read(descriptor, descriptor_length, &there);
 *     hp3x_write(p, &(struct hp3x_write){.from = r, .to = &there, .length = length,
 *         .counter = 1, .add = 1});
 *     while (hp3x_poll(d, &c, 1) == 0)
 *         ;
 *
 * Promises:
 * - Each op that was submitted ends exactly once, with a status. It ends at its deadline at the
 *   latest, plus the time in which the rails give up its memory (HP3X_FENCE_MS).
 * - After an op has ended, no rail of this host reads or writes its local memory. After a write has
 *   ended with HP3X_OK, no late copy of its data arrives in the remote memory.
 * - An op with HP3X_OK has added to its counter exactly once when the counter shows it. An op with
 *   another status has added once or not at all.
 * - A counter shows an op after all data of this op have arrived. After that, no copy of its data
 *   arrives: the receiver may use the memory for something else. Ops are not ordered: use a
 *   counter, or a send after the completion.
 *
 * Atomics are not offered: a slice without a counter may be sent twice, and an atomic operation
 * that was executed twice has another result.
 *
 * Threads: all functions may be called from all threads, except that a domain, region or peer must
 * not be used while or after another thread frees it. Callbacks run in the library's thread, or
 * inside hp3x_progress(); they may submit ops, but not wait. Ownership: the caller owns all memory
 * that it passes. Structures of options and ops are read before the function returns. The memory of
 * a region must exist until hp3x_region_remove() returns.
 *
 * Errors: functions return 0 or a positive value, or a negative errno. hp3x_error() has a sentence
 * that names what to change. Sizes are bytes, times are ns of CLOCK_MONOTONIC unless the name says
 * otherwise.
 *
 * Sources: TENT (slices, telemetry), fabric-lib (writes that count at the receiver). IBTA 1.6,
 * 9.7.5.2.8: a requester can know only that a request was executed at least once before an error.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HP3X_RAILS       8u /* most rails of a domain */
#define HP3X_COUNTERS    4096u
#define HP3X_MOST_PAGES  4096u /* most pages, and most slices, of an op */
#define HP3X_MOST_SEND   65536u /* longest send */
#define HP3X_DESCRIPTION 256u /* longest descriptor of a region */
#define HP3X_NO_COUNTER  UINT32_MAX
#define HP3X_FENCE_MS    1000u /* a rail gives up memory within this time */

struct hp3x_domain;
struct hp3x_region;
struct hp3x_peer;

/* --- domain --- */

/* All fields may be 0: the default. */
struct hp3x_options {
	/*
	 * "verbs" or "tcp". NULL: verbs if this host has an active RNIC port, else tcp. The library
	 * says in one line on stderr that it uses TCP, if it was not asked to.
	 */
	const char *provider;
	/* Names: "mlx5_0", "mlx5_0:2" (port 2), or for TCP "eth0" or an address. NULL: all. */
	const char *const *rails;
	uint32_t n_rails;
	/*
	 * Control address, "ADDRESS:PORT". NULL: all addresses, any port. On all addresses
	 * ("[::]:PORT", too), peers that have connected learn the addresses of the rails, and go on
	 * over another one if the first one fails.
	 */
	const char *listen;
	uint32_t paths_per_rail; /* paths between a local rail and a remote rail; 1 to 8, default 2
				  */
	uint32_t slice_bytes; /* shortest slice, default 65536 */
	/*
	 * A request that takes this time longer than expected has failed, and its path is left.
	 * Default of hang_ms: 50; of hang_min_ms: hang_ms. With a smaller hang_min_ms, the time
	 * adapts to each path: four times the most by which a request was late within the last
	 * seconds, at least hang_min_ms, and at most hang_ms. Until a path has carried data for a
	 * second, it is hang_ms.
	 */
	uint32_t hang_ms, hang_min_ms;
	uint32_t peer_timeout_ms; /* silence after which a peer is gone, default 10000 */
	bool own_progress; /* true: no thread; the caller calls hp3x_progress() */
	uint64_t seed; /* of random choices; 0: from the system */
};

/* Opens the rails. Errors: -ENODEV (no such rail), -EADDRINUSE, -EINVAL, -ENOMEM. */
int hp3x_open(const struct hp3x_options *options, struct hp3x_domain **domain);
/*
 * Ends all ops with HP3X_CLOSED, and says goodbye to all peers. Calls done() of ops that have one;
 * other completions are lost. Frees peers and regions. Not from a callback.
 */
void hp3x_close(struct hp3x_domain *domain);
/* Control address of this domain, for hp3x_connect() of peers. Owned by the domain. */
const char *hp3x_address(const struct hp3x_domain *domain);
/* "verbs" or "tcp". */
const char *hp3x_provider(const struct hp3x_domain *domain);
/* What was wrong with the last call of this thread that returned an error. */
const char *hp3x_error(void);

/* --- regions --- */

/* Registers memory on all rails. Errors: -ENOMEM (ulimit -l), -EINVAL. */
int hp3x_region_add(
	struct hp3x_domain *domain, void *base, size_t length, struct hp3x_region **region);
/*
 * Registers device memory by its dma-buf. `address` is the address by which ops and RNICs name its
 * first byte. Untested: needs an RNIC and a device. Errors: -EOPNOTSUPP (TCP).
 */
int hp3x_region_add_dmabuf(struct hp3x_domain *domain, int fd, uint64_t offset, size_t length,
	uint64_t address, struct hp3x_region **region);
/* Error: -EBUSY: an op that has not ended uses the region. */
int hp3x_region_remove(struct hp3x_region *region);
/* Writes the descriptor, at most HP3X_DESCRIPTION bytes. Returns its length or -ENOSPC. */
int hp3x_region_describe(const struct hp3x_region *region, void *text, size_t capacity);

/* A region of a peer. Plain data: copy it freely. */
struct hp3x_remote {
	uint64_t address, length;
	uint64_t domain; /* identity of the domain that it belongs to */
	uint32_t n_rails, key[HP3X_RAILS]; /* by rail of the peer */
};

/* Reads a descriptor. Error: -EBADMSG: no descriptor, or of another version. */
int hp3x_remote_read(const void *text, size_t length, struct hp3x_remote *remote);

/* --- peers --- */

/*
 * Connects to the control address of another domain. Returns at once; ops may be submitted at once,
 * and begin when the peer has answered. Errors: -EINVAL (no such address), -ENOBUFS.
 */
int hp3x_connect(struct hp3x_domain *domain, const char *address, struct hp3x_peer **peer);
/* A peer that has connected to this domain. Returns 1, or 0: none now. */
int hp3x_accept(struct hp3x_domain *domain, struct hp3x_peer **peer);

enum hp3x_peer_state { HP3X_PEER_CONNECTING, HP3X_PEER_UP, HP3X_PEER_GONE };

enum hp3x_peer_state hp3x_peer_state(const struct hp3x_peer *peer);
/* A sentence: why the peer is GONE. "": it is not. Owned by the peer. */
const char *hp3x_peer_reason(const struct hp3x_peer *peer);
/* For the caller's own use. */
void hp3x_peer_set_context(struct hp3x_peer *peer, void *context);
void *hp3x_peer_context(const struct hp3x_peer *peer);
/*
 * Ends all ops with this peer with HP3X_CLOSED, and frees the peer. A peer that is GONE must be
 * freed, too. Its completions that were not polled stay, with `peer` NULL.
 */
void hp3x_peer_close(struct hp3x_peer *peer);

/* --- ops --- */

enum hp3x_status {
	HP3X_OK,
	HP3X_TIMED_OUT, /* deadline */
	HP3X_CANCELLED,
	HP3X_PEER_LOST, /* the peer ended, or was silent for peer_timeout_ms */
	HP3X_REFUSED, /* the remote memory or key is wrong: no rail could do it */
	HP3X_CLOSED, /* by hp3x_peer_close() or hp3x_close() */
};

const char *hp3x_status_name(enum hp3x_status status);

struct hp3x_completion {
	uint64_t op; /* as returned by the submission */
	void *context;
	struct hp3x_peer *peer;
	enum hp3x_status status;
	uint64_t length; /* submitted */
	uint32_t slices, again; /* slices sent; those of them that were sent again */
	uint64_t began, ended;
};

/* Called instead of a completion that is polled. */
typedef void hp3x_done_fn(const struct hp3x_completion *completion);

/* What all ops have. */
struct hp3x_common {
	uint64_t deadline; /* CLOCK_MONOTONIC, ns; 0: none */
	void *context;
	hp3x_done_fn *done; /* NULL: the completion waits for hp3x_poll() */
};

struct hp3x_write {
	struct hp3x_common common;
	const struct hp3x_region *from;
	uint64_t from_offset;
	const struct hp3x_remote *to;
	uint64_t to_offset, length; /* length 0: only adds to the counter */
	uint32_t counter; /* of the receiver */
	uint32_t add; /* 0: no counter */
};

struct hp3x_page {
	uint64_t from_offset, to_offset;
	uint32_t length;
};

/* Pages anywhere in the two regions; one counter for all of them. */
struct hp3x_pages {
	struct hp3x_common common;
	const struct hp3x_region *from;
	const struct hp3x_remote *to;
	const struct hp3x_page *page;
	uint32_t n_pages; /* 1 to HP3X_MOST_PAGES */
	uint32_t counter, add;
};

struct hp3x_read {
	struct hp3x_common common;
	const struct hp3x_region *to;
	uint64_t to_offset;
	const struct hp3x_remote *from;
	uint64_t from_offset, length;
	uint32_t counter, add; /* of the peer, which learns that its memory was read */
};

/*
 * Submit an op. Return its number (> 0). Errors: -EINVAL (out of the region, counter or length out
 * of range), -EAGAIN (too many ops: poll first), -ESTALE (the descriptor is not of this peer),
 * -ENOTCONN (the peer is GONE).
 */
int64_t hp3x_write(struct hp3x_peer *peer, const struct hp3x_write *write);
int64_t hp3x_write_pages(struct hp3x_peer *peer, const struct hp3x_pages *pages);
int64_t hp3x_read(struct hp3x_peer *peer, const struct hp3x_read *read);
/*
 * Sends a small message to the peer's hp3x_receive(). Messages of one process to a peer arrive in
 * order, exactly once. The data are copied. More errors: -EMSGSIZE.
 */
int64_t hp3x_send(
	struct hp3x_peer *peer, const void *data, size_t length, const struct hp3x_common *common);
/*
 * Takes the next message of any peer. Returns its length, -EAGAIN (none now), or -EMSGSIZE
 * (longer than `capacity`; it stays, and *peer is set).
 */
int hp3x_receive(struct hp3x_domain *domain, void *data, size_t capacity, struct hp3x_peer **peer);
/* Asks an op to end. It ends with HP3X_CANCELLED, or as it would have. Error: -ENOENT. */
int hp3x_cancel(struct hp3x_domain *domain, int64_t op);

/* --- completion --- */

/* Takes up to n completions. Returns their number. */
int hp3x_poll(struct hp3x_domain *domain, struct hp3x_completion *completion, int n);
/*
 * Readable (poll(2)) when a completion, a message, a new peer, a peer that is GONE or a changed
 * counter waits. Read 8 bytes from it before looking for them. With own_progress: readable when
 * hp3x_progress() has something to do; read nothing from it. Owned by the domain.
 */
int hp3x_fd(const struct hp3x_domain *domain);
/* Only with own_progress: handles what has happened. Returns ns until it has to be called again. */
int64_t hp3x_progress(struct hp3x_domain *domain);

/* What all peers have added so far. Errors: -EINVAL. */
int hp3x_counter(struct hp3x_domain *domain, uint32_t counter, uint64_t *value);
/* Waits until the counter is at least `value`. Errors: -ETIMEDOUT, -EINVAL. */
int hp3x_counter_wait(
	struct hp3x_domain *domain, uint32_t counter, uint64_t value, uint64_t deadline);
/* Sets the counter to 0 and returns its value. Nothing is lost between the two. */
int hp3x_counter_take(struct hp3x_domain *domain, uint32_t counter, uint64_t *value);

/* --- what paths do --- */

enum hp3x_path_state {
	HP3X_PATH_DOWN, /* waits until it is opened again */
	HP3X_PATH_OPENING,
	HP3X_PATH_PROBING, /* open; a first request without data is under way */
	HP3X_PATH_UP,
};

struct hp3x_path {
	struct hp3x_peer *peer;
	uint32_t number, local_rail, remote_rail;
	enum hp3x_path_state state;
	uint64_t rate; /* measured, bytes/s */
	uint64_t rtt; /* least, ns */
	uint64_t in_flight, bytes; /* now; in all */
	uint64_t slices, again, failures, openings;
};

/* Writes up to n paths of the domain. Returns the number of paths that there are. */
int hp3x_paths(struct hp3x_domain *domain, struct hp3x_path *path, int n);
/* Name of a rail, or NULL. */
const char *hp3x_rail_name(const struct hp3x_domain *domain, uint32_t rail);

#ifdef __cplusplus
}
#endif
