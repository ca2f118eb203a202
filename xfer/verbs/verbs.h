/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The provider on libibverbs: a rail is an active port of an RNIC, an endpoint is one RC queue
 * pair. A rail has one completion queue and one shared receive queue. The receive queue has work
 * requests without buffers: each immediate that arrives takes one.
 *
 * Requests without data use the scratch memory of the other end: not all RNICs answer RDMA
 * operations of 0 bytes. A probe reads a byte of it, and an empty write writes one.
 *
 * The GID of a rail is found by its address each time it is used, never by an index that was found
 * earlier: the indexes change when an address is removed and added again.
 *
 * A rail has a thread that connects endpoints, one after the other: ibv_modify_qp() to RTR waits
 * for the neighbour's MAC address, about a second if nobody answers. Only this function runs in the
 * thread; all events come from rails_poll().
 *
 * To shut an endpoint, the provider sets the queue pair to ERR, takes all that the completion queue
 * has, destroys the queue pair, and takes the rest. After ibv_destroy_qp(), the RNIC accesses no
 * memory for the queue pair (IBTA 1.6, 10.2.4.4).
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sys/queue.h>
#include "xfer/provider.h"

#define RECEIVES     2048u /* immediates of a rail that may wait */
#define CQ_ENTRIES   8192
#define QP_BUCKETS   256u /* of queue pairs by QPN */
#define SCRATCH      64u
#define CHECK_MS     500 /* between looks at GIDs */
#define ACK_TIMEOUT  14 /* 67 ms */
#define MOST_TIMEOUT 31
#define RETRIES      7
#define MIN_RNR      12 /* 0.64 ms */
#define HOPS         64
#define MOST_READS   16u /* READs of a queue pair that are outstanding */

TAILQ_HEAD(hp3x_connects_verbs, hp3x_endpoint);

/* The thread of a rail, and its work. */
struct hp3x_connector {
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more;
	struct hp3x_connects_verbs queued, done;
	bool runs, ends;
	int wake; /* descriptor that makes rails_poll() run */
};

struct hp3x_rail_verbs {
	struct hp3x_connector connector;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_mr *scratch_mr;
	uint8_t scratch[2 * SCRATCH]; /* own reads; what the other end reads and writes */
	uint32_t receives; /* posted */
	uint8_t port;
	bool infiniband, up;
	enum ibv_mtu mtu;
	union ibv_gid gid; /* address; of RoCE v2 */
	uint64_t rate;
	char name[HP3X_RAIL_NAME], address[HP3X_RAIL_NAME];
};

LIST_HEAD(hp3x_endpoints_verbs, hp3x_endpoint);

struct hp3x_rails {
	uint32_t n;
	uint8_t ack_timeout; /* 4.096 us * 2^n (IBTA 1.6, 11.2.5.2) */
	struct hp3x_rail_verbs rail[HP3X_RAILS];
	int epoll, wake, timer;
	struct hp3x_endpoints_verbs bucket[QP_BUCKETS];
	struct hp3x_event *event; /* ring of events that rails_poll() has not delivered */
	uint32_t events_first, events_n, events_room;
};

struct hp3x_memory {
	struct ibv_mr *mr[HP3X_RAILS];
	uint32_t n;
};

struct hp3x_post_verbs {
	struct hp3x_endpoint *endpoint;
	uint64_t token;
	bool used;
};

struct hp3x_endpoint {
	LIST_ENTRY(hp3x_endpoint) next;
	struct hp3x_rails *rails;
	struct hp3x_rail_verbs *rail;
	struct hp3x_place place;
	struct ibv_qp *qp;
	uint64_t remote_scratch;
	uint32_t psn, remote_scratch_key;
	bool connected, failed;
	/* Connecting: in a list of the connector, or in its hands. */
	TAILQ_ENTRY(hp3x_endpoint) connect;
	bool connecting, queued, shut_asked;
	int connect_error;
	uint8_t description[HP3X_ENDPOINT]; /* of the other end */
	uint32_t first_free; /* where to look for a free post */
	struct hp3x_post_verbs post[HP3X_POSTS];
};

/* rails.c */
int hp3x_verbs_rails_open(const char *const *names, uint32_t n_names, struct hp3x_rails **rails);
void hp3x_verbs_rails_close(struct hp3x_rails *rails);
/* The RNIC's time-out of an acknowledgement: at least this long. */
void hp3x_verbs_rails_hang(struct hp3x_rails *rails, uint64_t hang_ns);
/* Index of the rail's GID now, or -1: the rail has lost it. */
int hp3x_verbs_gid_index(const struct hp3x_rail_verbs *rail);
/* Looks at ports and GIDs, and adds an event for each rail that changed. */
void hp3x_verbs_rails_check(struct hp3x_rails *rails);

/* port.c: which ports and GIDs there are */
/* Fills in port, GID, MTU, rate, name and address. False: the port is not active, or has no GID. */
bool hp3x_verbs_port_read(struct hp3x_rail_verbs *rail, const char *device, uint8_t port);

/* memory.c */
int hp3x_verbs_memory_add(struct hp3x_rails *rails, void *base, size_t length,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS]);
int hp3x_verbs_memory_add_dmabuf(struct hp3x_rails *rails, const struct hp3x_dmabuf *dmabuf,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS]);
void hp3x_verbs_memory_remove(struct hp3x_rails *rails, struct hp3x_memory *memory);

/* endpoint.c */
int hp3x_verbs_endpoint_open(struct hp3x_rails *rails, const struct hp3x_place *place,
	void *description, struct hp3x_endpoint **endpoint);
int hp3x_verbs_endpoint_connect(
	struct hp3x_endpoint *endpoint, const void *description, size_t length);
int hp3x_verbs_endpoint_post(struct hp3x_endpoint *endpoint, const struct hp3x_post *post);
void hp3x_verbs_endpoint_shut(struct hp3x_endpoint *endpoint);
/* In the connector's thread: the queue pair goes to RTS. 0 or an errno. */
int hp3x_verbs_endpoint_to_rts(struct hp3x_endpoint *endpoint);
/* Destroys the endpoint, which is not connecting any more. */
void hp3x_verbs_endpoint_destroy(struct hp3x_endpoint *endpoint);
/* FAILED, once. */
void hp3x_verbs_endpoint_failed(struct hp3x_endpoint *endpoint);

/* connector.c */
int hp3x_verbs_connector_begin(struct hp3x_rail_verbs *rail, int wake);
/* Waits for the thread. */
void hp3x_verbs_connector_end(struct hp3x_rail_verbs *rail);
void hp3x_verbs_connector_add(struct hp3x_endpoint *endpoint);
/* False: the thread has it now, and it will be among those that are done. */
bool hp3x_verbs_connector_remove(struct hp3x_endpoint *endpoint);
/* CONNECTED for those that are done; shuts those that have to be shut. */
void hp3x_verbs_connector_poll(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail);

/* poll.c */
int hp3x_verbs_rails_poll(struct hp3x_rails *rails, struct hp3x_event *event, int n);
/* Adds an event for rails_poll(), and makes the descriptor readable. */
void hp3x_verbs_event_add(struct hp3x_rails *rails, const struct hp3x_event *event);
/* Takes all completions of a rail. */
void hp3x_verbs_rail_drain(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail);
/* Posts work requests until RECEIVES immediates may wait. */
void hp3x_verbs_receives_fill(struct hp3x_rail_verbs *rail);
