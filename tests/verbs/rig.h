/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "app/verbs/share.h"
#include "tests/verbs/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* An application that loads its verbs as NCCL does, and an hp3d controlled by the test. */
struct verbs {
	void *library;
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *data,
		struct ibv_comp_channel *channel, int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
};
extern struct verbs verbs;
void rig_load(void); /* loads library and providers; the environment has their paths */

enum provider { RXE, MLX5, BNXT, PROVIDERS };
struct app {
	struct fake_device *device;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct fake_qp *fake;
	uint64_t posted, polled; /* wr_ids: the next one to post, the next one to complete */
	uint64_t due; /* wr_id after the newest signalled work request */
	uint32_t errors;
};
struct app_options {
	uint32_t depth; /* 0: 64 */
	int sig_all; /* of the queue pair */
	unsigned int access;
	bool extended; /* made by ibv_create_qp_ex(), with its own posting functions */
};
void *rig_fake_break(enum provider provider); /* its fake_break() */
void app_start(struct app *a, enum provider provider, const struct app_options *options);
/* Makes *a another queue pair in the context of *with, with the same completion queue. The caller
 * destroys this queue pair itself, without app_stop(). */
void app_share(struct app *a, const struct app *with, const struct app_options *options);
void app_ready(struct app *a, unsigned int access); /* INIT, RTR, RTS */
void app_stop(struct app *a);

/* Posts a chain of `n` WRITEs, of which each `every`-th is signalled. Returns the value of
 * ibv_post_send(). */
int app_post(struct app *a, uint32_t n, uint32_t every);
void app_poll(struct app *a);
/* Polls until all work requests have left and completed, or for a second. */
void app_finish(struct app *a);
/* Checks that all posted work requests left, each once and in order, and that none was
 * overtaken. */
void app_check_order(const struct app *a);

/* An application in its own thread, which posts and polls until stopped. */
struct runner {
	struct app *app;
	pthread_t thread;
	uint32_t every, chain;
	uint32_t posts; /* atomic, as all from here on */
	int done; /* something has completed */
	int end;
};
void runner_start(struct runner *r, struct app *a, uint32_t chain, uint32_t every);
void runner_wait(struct runner *r, uint32_t posts); /* until it has posted `posts` more */
void runner_end(struct runner *r);

struct hp3d {
	int listener, connection, bell;
	struct hp3_verbs_cell *cells;
	struct hp3_verbs_hello hello;
	uint16_t seq;
};
void hp3d_start(struct hp3d *h, uint32_t drain_us, uint32_t hold_us); /* listens */
/* ... and applications wait for PLACE for place_us. */
void hp3d_start_placing(struct hp3d *h, uint32_t drain_us, uint32_t hold_us, uint32_t place_us);
void hp3d_stop(struct hp3d *h);
/* The cell of a queue pair: its state in memory shared with the library. Waits until the cell has
 * this state. */
struct hp3_verbs_cell *hp3d_cell(struct hp3d *h, uint32_t qpn, enum hp3_verbs_state state);
void hp3d_want(struct hp3d *h, struct hp3_verbs_cell *c, enum hp3_verbs_op op, uint16_t port);
/* Waits for the answer to the newest request; 0: none arrived within two seconds. */
enum hp3_verbs_did hp3d_answer(struct hp3d *h, struct hp3_verbs_cell *c, int *detail);
/* Waits for the answer that follows DRAINED. */
enum hp3_verbs_did hp3d_after_drained(struct hp3d *h, struct hp3_verbs_cell *c, int *detail);
/* hp3d_want(), then hp3d_answer(). */
enum hp3_verbs_did hp3d_do(
	struct hp3d *h, struct hp3_verbs_cell *c, enum hp3_verbs_op op, uint16_t port, int *detail);

void rig_sleep_us(uint32_t us);
