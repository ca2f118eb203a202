/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * libnccl-net-hp3.so: a network plugin for NCCL over libhp3x. Host memory only.
 *
 * The process has one domain, which all comms share. A comm carries messages in one direction. The
 * receiver posts a buffer: it sends POST with the descriptor of the buffer and a counter. The
 * sender writes the message into the buffer, and adds its length + 1 to the counter. So the counter
 * tells the receiver that the message has arrived, and how long it is.
 *
 *     sender                                   receiver
 *       CONNECT(listener, comm) ------------->
 *       <----------------------- ACCEPT(comm)
 *       <----------- POST(slot, tag, counter)   irecv()
 *       isend(): hp3x_write() -------------->   test(): counter > 0
 *
 * All functions hold one lock, and none blocks. Only done_fn() runs in another thread: it changes
 * `state` of a request, and nothing else.
 */
#include <pthread.h>
#include <stdatomic.h>
#include "xfer/hp3x.h"
#include "xfer/nccl/net.h"

#define NET_COMMS 512u /* of each direction */
#define NET_SLOTS 8u /* posted buffers of a comm; each has a counter */
#define NET_MOST  (1u << 30) /* bytes of a message: `add` of a write has 32 bits */

_Static_assert(NET_COMMS *NET_SLOTS <= HP3X_COUNTERS, "a counter for each slot");

enum net_kind { NET_CONNECT = 1, NET_ACCEPT, NET_POST, NET_CLOSE };

/* A message of hp3x_send(). Both hosts have the same byte order, as NCCL demands. */
struct net_message {
	uint32_t magic, kind;
	uint64_t listener; /* CONNECT */
	uint32_t from, to; /* comms: of the host that sends, and of the other */
	uint32_t slot, tag, counter; /* POST */
	uint32_t region_length; /* POST: bytes of `region` */
	uint64_t offset, size; /* POST: in the region */
	uint8_t region[HP3X_DESCRIPTION];
};

struct net_memory {
	struct hp3x_region *region;
	uintptr_t base;
	size_t size;
	uint32_t length;
	uint8_t description[HP3X_DESCRIPTION];
};

struct net_comm;

enum net_state { NET_PENDING, NET_DONE, NET_FAILED };

struct net_request {
	struct net_comm *comm;
	bool used;
	uint32_t slot;
	uint64_t size; /* send: bytes of the message. receive: of the buffer */
	atomic_int state; /* send: enum net_state */
};

/* A buffer that the receiver has posted, at the sender. */
struct net_posted {
	bool used;
	uint32_t tag, counter;
	uint64_t order, offset, size;
	struct hp3x_remote remote;
};

struct net_comm {
	bool used, sends, connected, other_closed;
	bool closed; /* waits for the end of its sends */
	uint32_t index, other; /* index of the comm at the other host */
	struct hp3x_peer *peer;
	uint64_t listener; /* until it is accepted */
	uint64_t posts; /* received */
	struct net_request request[NET_SLOTS];
	struct net_posted posted[NET_SLOTS]; /* sends */
};

struct net_listener {
	bool used;
	uint64_t number;
};

struct net_plugin {
	pthread_mutex_t lock;
	struct hp3x_domain *domain;
	uint32_t users; /* calls of init without finalize; v10 has none */
	net_log_fn *log;
	uint64_t listeners; /* numbers given */
	struct net_listener listener[NET_COMMS];
	struct net_comm send[NET_COMMS], receive[NET_COMMS];
	struct {
		char address[64];
		struct hp3x_peer *peer;
	} known[NET_COMMS]; /* peers to which this process has connected */
	uint8_t buffer[HP3X_MOST_SEND]; /* of net_pump() */
	bool lost[HP3X_COUNTERS]; /* a write may still add to it: never used again */
};

extern struct net_plugin net_plugin;

#define NET_WARN(...)                                                                              \
	net_plugin.log(NET_LOG_WARN, NET_LOG_NET, __FILE__, __LINE__, "NET/hp3x: " __VA_ARGS__)

/* domain.c */
int net_open(net_log_fn *log);
void net_close(void);
/* Handles all messages that have arrived. */
void net_pump(void);
/* The peer with this control address; connects if there is none. NULL: failed. */
struct hp3x_peer *net_peer_at(const char *address);
/* False: the peer cannot take it now, or is gone. */
bool net_tell(const struct net_comm *comm, struct net_message *message);

/* comm.c */
int net_listen(int device, void *handle, void **listener);
int net_connect(void *handle, void **comm);
int net_accept(void *listener, void **comm, void **offload);
int net_close_comm(void *comm);
int net_close_listen(void *listener);
void net_comm_message(struct hp3x_peer *peer, const struct net_message *message);

/* request.c */
int net_register(void *comm, void *data, size_t size, int type, void **memory);
int net_deregister(void *comm, void *memory);
int net_isend(
	void *comm, void *data, size_t size, int tag, void *memory, void *profile, void **request);
int net_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory,
	void **profile, void **request);
int net_test(void *request, int *done, int *sizes);
/* POST has arrived. */
void net_posted_take(struct net_comm *comm, const struct net_message *message);
