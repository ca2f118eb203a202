/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/verbs/fabric.h"
#include "tests/verbs/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct fake_context {
	struct verbs_context v;
	int kicks; /* the other end of cmd_fd */
	pthread_mutex_t lock;
	struct fake_qp *qps;
	uint32_t qpn;
};

#define AT(q, i) (&(q)->queue[(i) % (q)->depth])

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct fake_context *context_of(struct ibv_context *c)
{
	return (struct fake_context *)verbs_get_ctx(c);
}

static struct fake_faults *faults_of(const struct ibv_context *c)
{
	return &((struct fake_device *)c->device)->faults;
}

static int fault(const int *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static struct fake_qp *of(struct ibv_qp *qp)
{
	return (struct fake_qp *)qp;
}

static struct ibv_qp *base(struct fake_qp *q)
{
	return &q->ex.qp_base;
}

static void push_cqe(struct fake_qp *q, uint64_t wr_id, enum ibv_wc_status status, uint32_t up_to)
{
	struct ibv_wc *wc = &q->cqes[q->cq_head % q->depth];

	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = status;
	wc->opcode = status == IBV_WC_SUCCESS ? IBV_WC_RDMA_WRITE : IBV_WC_RECV; /* undefined */
	wc->qp_num = base(q)->qp_num;
	q->freed[q->cq_head % q->depth] = up_to;
	q->cq_head++;
}

static void flush(struct fake_qp *q)
{
	q->state = IBV_QPS_ERR;
	for (; q->acked != q->head; q->acked++)
		push_cqe(q, AT(q, q->acked)->sent.wr_id, IBV_WC_WR_FLUSH_ERR, q->acked + 1u);
	q->sent = q->head;
}

static void send_waiting(struct fake_qp *q)
{
	while (q->state == IBV_QPS_RTS && !q->idle && q->sent != q->head) {
		struct fake_wr *w = AT(q, q->sent);

		w->sent.port = q->port;
		w->left_ns = now_ns();
		if (q->logged < FAKE_LOG)
			q->log[q->logged++] = w->sent;
		q->sent++;
	}
}

/*
 * Where there is a fabric, what went by a path that is dead is sent again, on the port in use, from
 * the oldest one on, after RESEND_NS.
 */
#define RESEND_NS 20000000u

static bool is_acknowledged(struct fake_qp *q, struct fake_wr *w, uint64_t delay, uint64_t now)
{
	uint64_t more = fabric_delay(q->paths, w->sent.port);

	if (more != FABRIC_DEAD)
		return now - w->left_ns >= delay + more;
	if (now - w->left_ns >= RESEND_NS)
		for (uint32_t i = q->acked; i != q->sent; i++) {
			AT(q, i)->left_ns = now;
			AT(q, i)->sent.port = q->port;
		}
	return false;
}

/* Time passes: what left long enough ago is acknowledged. */
static void advance(struct fake_qp *q)
{
	const struct fake_faults *f = faults_of(base(q)->context);
	uint64_t now, delay = __atomic_load_n(&f->delay_ns, __ATOMIC_RELAXED);

	if (q->state == IBV_QPS_ERR) {
		flush(q);
		return;
	}
	send_waiting(q);
	now = now_ns();
	if (__atomic_load_n(&f->stuck, __ATOMIC_RELAXED))
		return;
	for (; q->acked != q->sent && is_acknowledged(q, AT(q, q->acked), delay, now); q->acked++)
		if (AT(q, q->acked)->signalled)
			push_cqe(q, AT(q, q->acked)->sent.wr_id, IBV_WC_SUCCESS, q->acked + 1u);
}

/*
 * The requester runs, for a doorbell: only then does Soft-RoCE notice that a drain has ended, for
 * the last acknowledgement is looked at before it counts (Linux 6.1, complete_ack()).
 */
static void requester_runs(struct fake_qp *q)
{
	q->idle = false;
	advance(q);
	q->draining = q->draining && q->acked != q->sent;
}

static void hear_kicks(struct fake_context *c)
{
	char doorbell[256];
	uint32_t handle;

	while (recv(c->kicks, doorbell, sizeof(doorbell), MSG_DONTWAIT) >= 20) {
		memcpy(&handle, doorbell + 16, sizeof(handle)); /* header 8, response 8 */
		for (struct fake_qp *q = c->qps; q != NULL; q = q->next)
			if (base(q)->handle == handle) {
				pthread_mutex_lock(&q->lock);
				q->kicks++;
				requester_runs(q);
				pthread_mutex_unlock(&q->lock);
			}
	}
}

static void hear(struct fake_context *c)
{
	pthread_mutex_lock(&c->lock);
	hear_kicks(c);
	pthread_mutex_unlock(&c->lock);
}

static int put(struct fake_qp *q, const struct ibv_send_wr *wr)
{
	struct fake_faults *f = faults_of(base(q)->context);
	struct fake_wr *w = AT(q, q->head);
	int error = fault(&f->post);

	if (error != 0 && __atomic_load_n(&f->post_after, __ATOMIC_RELAXED) == 0)
		return error;
	if (error != 0)
		__atomic_fetch_sub(&f->post_after, 1, __ATOMIC_RELAXED);
	if (q->head - q->tail == q->depth || __atomic_load_n(&f->no_room, __ATOMIC_RELAXED))
		return ENOMEM;
	if ((uint32_t)wr->num_sge > q->sges || q->state < IBV_QPS_RTS)
		return EINVAL;
	memset(w, 0, sizeof(*w));
	w->sent.wr_id = wr->wr_id;
	w->sent.opcode = (uint16_t)wr->opcode;
	w->signalled = q->sig_all || (wr->send_flags & IBV_SEND_SIGNALED);
	for (int i = 0; i < wr->num_sge; i++) {
		const uint8_t *data = (const uint8_t *)(uintptr_t)wr->sg_list[i].addr;

		w->sent.bytes += wr->sg_list[i].length;
		for (uint32_t j = 0;
			(wr->send_flags & IBV_SEND_INLINE) && j < wr->sg_list[i].length; j++)
			w->sent.sum += data[j];
	}
	q->head++;
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *q = of(qp);
	int error = 0;

	while (!(wr->send_flags & IBV_SEND_SIGNALED) &&
		__atomic_load_n(&faults_of(qp->context)->late, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_mutex_lock(&q->lock);
	for (; wr != NULL && (error = put(q, wr)) == 0; wr = wr->next)
		;
	if (error != 0)
		*bad = wr;
	requester_runs(q); /* a doorbell like any other */
	pthread_mutex_unlock(&q->lock);
	return error;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct fake_context *c = context_of(cq->context);
	int got = 0;

	pthread_mutex_lock(&c->lock);
	hear_kicks(c);
	for (struct fake_qp *q = c->qps; q != NULL; q = q->next) {
		if (base(q)->send_cq != cq)
			continue;
		pthread_mutex_lock(&q->lock);
		advance(q);
		for (; got < n && q->cq_tail != q->cq_head; q->cq_tail++) {
			wc[got++] = q->cqes[q->cq_tail % q->depth];
			q->tail = q->freed[q->cq_tail % q->depth];
		}
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return got;
}

/* Extended calls: one section at a time; the newest one built has no data yet. */
static void ex_start(struct ibv_qp_ex *ex)
{
	struct fake_qp *q = (struct fake_qp *)ex;

	pthread_mutex_lock(&q->lock);
	q->built = 0;
	q->in_section = true;
}

static struct fake_wr *newest(struct fake_qp *q)
{
	return AT(q, q->head + q->built - 1u);
}

static void ex_op(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct fake_qp *q = (struct fake_qp *)ex;
	struct fake_wr *w;

	q->built++;
	if (q->head - q->tail + q->built > q->depth)
		return; /* wr_complete() says so */
	w = newest(q);
	memset(w, 0, sizeof(*w));
	w->sent.wr_id = ex->wr_id;
	w->sent.opcode = (uint16_t)opcode;
	w->signalled = q->sig_all || (ex->wr_flags & IBV_SEND_SIGNALED);
}

static void ex_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	ex_op(ex, IBV_WR_RDMA_WRITE);
}

static void ex_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	ex_op(ex, IBV_WR_SEND_WITH_IMM);
}

static bool fits(const struct fake_qp *q)
{
	return q->head - q->tail + q->built <= q->depth;
}

static void ex_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct fake_qp *q = (struct fake_qp *)ex;

	if (fits(q))
		newest(q)->sent.bytes += length;
}

static void ex_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	for (size_t i = 0; i < n; i++)
		ex_sge(ex, list[i].lkey, list[i].addr, list[i].length);
}

static void ex_inline(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct fake_qp *q = (struct fake_qp *)ex;

	for (size_t i = 0; i < length && fits(q); i++)
		newest(q)->sent.sum += ((uint8_t *)addr)[i];
	ex_sge(ex, 0, 0, (uint32_t)length);
}

static void ex_inline_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	for (size_t i = 0; i < n; i++)
		ex_inline(ex, list[i].addr, list[i].length);
}

static int ex_complete(struct ibv_qp_ex *ex)
{
	struct fake_qp *q = (struct fake_qp *)ex;
	int error = fits(q) ? 0 : ENOMEM;

	if (error == 0 && __atomic_load_n(&faults_of(base(q)->context)->no_room, __ATOMIC_RELAXED))
		error = ENOMEM;
	if (error == 0)
		q->head += q->built;
	q->in_section = false;
	requester_runs(q);
	pthread_mutex_unlock(&q->lock);
	if (error != 0 && faults_of(base(q)->context)->refused != NULL)
		faults_of(base(q)->context)->refused(ex);
	return error;
}

static void ex_abort(struct ibv_qp_ex *ex)
{
	struct fake_qp *q = (struct fake_qp *)ex;

	q->in_section = false;
	pthread_mutex_unlock(&q->lock);
}

static bool is_dead(const struct fake_qp *q)
{
	return fabric_delay(q->paths, q->port) == FABRIC_DEAD;
}

#ifdef FAKE_SPORT
int FAKE_SPORT(struct ibv_qp *qp, uint16_t port);
__attribute__((visibility("default"))) int FAKE_SPORT(struct ibv_qp *qp, uint16_t port)
{
	struct fake_qp *q = of(qp);
	int error = fault(&faults_of(qp->context)->sport);

	pthread_mutex_lock(&q->lock);
	advance(q);
	if (error == 0 && q->state != IBV_QPS_RTS)
		error = EINVAL;
	if (error == 0) {
		q->overtaken += q->acked != q->sent && !is_dead(q);
		q->port = port;
	}
	pthread_mutex_unlock(&q->lock);
	return error;
}
#endif

static struct ibv_qp *make_qp(struct ibv_context *c, struct ibv_cq *cq, struct ibv_qp_cap *cap,
	enum ibv_qp_type type, int sig_all)
{
	struct fake_context *f = context_of(c);
	struct fake_qp *q = calloc(1, sizeof(*q));

	pthread_mutex_init(&q->lock, NULL);
	q->depth = cap->max_send_wr;
	q->sges = cap->max_send_sge;
	q->inlines = cap->max_inline_data;
	q->sig_all = sig_all != 0;
	q->queue = calloc(q->depth, sizeof(*q->queue));
	q->cqes = calloc(q->depth, sizeof(*q->cqes));
	q->freed = calloc(q->depth, sizeof(*q->freed));
	q->log = calloc(FAKE_LOG, sizeof(*q->log));
	q->port = 0xc123;
	q->paths = fabric_open();
	base(q)->context = c;
	base(q)->send_cq = cq;
	base(q)->qp_type = type;
	pthread_mutex_lock(&f->lock);
	base(q)->qp_num = base(q)->handle = f->qpn++;
	q->next = f->qps;
	f->qps = q;
	pthread_mutex_unlock(&f->lock);
	q->ex.wr_start = ex_start;
	q->ex.wr_complete = ex_complete;
	q->ex.wr_abort = ex_abort;
	q->ex.wr_rdma_write = ex_write;
	q->ex.wr_send_imm = ex_send_imm;
	q->ex.wr_set_sge = ex_sge;
	q->ex.wr_set_sge_list = ex_sge_list;
	q->ex.wr_set_inline_data = ex_inline;
	q->ex.wr_set_inline_data_list = ex_inline_list;
	return base(q);
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return make_qp(pd->context, attr->send_cq, &attr->cap, attr->qp_type, attr->sq_sig_all);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr)
{
	return make_qp(c, attr->send_cq, &attr->cap, attr->qp_type, attr->sq_sig_all);
}

static int to_rts(struct fake_qp *q)
{
	struct fake_faults *f = faults_of(base(q)->context);

	if (q->state == IBV_QPS_SQD) {
		if (fault(&f->rts) != 0)
			return fault(&f->rts);
		if (q->draining)
			return EINVAL;
		q->idle = true;
	}
	q->state = IBV_QPS_RTS;
	return 0;
}

static uint16_t port_of_label(uint32_t label)
{
	return (uint16_t)(((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000);
}

static int to_sqd(struct fake_qp *q, const struct ibv_qp_attr *attr, int mask)
{
	struct fake_faults *f = faults_of(base(q)->context);
	uint32_t label = attr->ah_attr.grh.flow_label;

	if (q->state == IBV_QPS_RTS) {
		if (fault(&f->sqd) != 0)
			return fault(&f->sqd);
		q->state = IBV_QPS_SQD;
		q->draining = q->acked != q->sent;
		q->drained_events++;
		return 0;
	}
	if (q->state != IBV_QPS_SQD || fault(&f->turn) != 0)
		return q->state != IBV_QPS_SQD ? EINVAL : fault(&f->turn);
	if ((mask & IBV_QP_STATE) && q->draining)
		return EINVAL;
	if (mask & IBV_QP_AV) {
		q->overtaken += q->acked != q->sent && !is_dead(q);
		q->port = port_of_label(label);
	}
	return 0;
}

/* rdma_get_udp_sport() of the kernel, without a flow label. */
static uint16_t drawn_port(uint32_t qpn, uint32_t dest_qpn)
{
	uint64_t v = (uint64_t)qpn * dest_qpn;

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint16_t)(((v & 0x3fff) ^ (v & 0xfc000) >> 14) | 0xc000);
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *q = of(qp);
	int error = 0;

	hear(context_of(qp->context));
	pthread_mutex_lock(&q->lock);
	advance(q);
	if (!(mask & IBV_QP_STATE) && (mask & IBV_QP_AV) && q->state == IBV_QPS_SQD)
		error = to_sqd(q, attr, mask);
	else if (!(mask & IBV_QP_STATE))
		;
	else if (attr->qp_state == IBV_QPS_SQD)
		error = to_sqd(q, attr, mask);
	else if (attr->qp_state == IBV_QPS_RTS)
		error = q->state == IBV_QPS_ERR ? EINVAL : to_rts(q);
	else if (attr->qp_state == IBV_QPS_RTR && fault(&faults_of(qp->context)->rtr) != 0)
		error = fault(&faults_of(qp->context)->rtr);
	else
		q->state = attr->qp_state;
	if (error == 0 && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTR) {
		if (attr->ah_attr.grh.flow_label != 0)
			q->port = port_of_label(attr->ah_attr.grh.flow_label);
		else if (q->paths != NULL)
			q->port = drawn_port(qp->qp_num, attr->dest_qp_num);
		q->rtr_port = q->port;
	}
	if (error == 0 && (mask & IBV_QP_STATE) && q->state == IBV_QPS_RESET) {
		q->tail = q->acked = q->sent = q->head;
		q->cq_tail = q->cq_head;
	}
	advance(q);
	pthread_mutex_unlock(&q->lock);
	return error;
}

static int query_qp(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct fake_qp *q = of(qp);

	hear(context_of(qp->context));
	pthread_mutex_lock(&q->lock);
	advance(q);
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = q->state;
	attr->sq_draining = q->state == IBV_QPS_SQD && q->draining;
	attr->cap.max_send_wr = q->depth;
	attr->cap.max_send_sge = q->sges;
	attr->cap.max_inline_data = q->inlines;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
	struct fake_context *c = context_of(qp->context);
	struct fake_qp *q = of(qp), **at;

	pthread_mutex_lock(&c->lock);
	for (at = &c->qps; *at != q; at = &(*at)->next)
		;
	*at = q->next;
	pthread_mutex_unlock(&c->lock);
	free(q->queue);
	free(q->cqes);
	free(q->freed);
	free(q->log);
	free(q);
	return 0;
}

/* The event that a drain has ended, whether it was asked for or not: Soft-RoCE. */
static int get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_context *c = context_of(context);
	int error = -1;

	pthread_mutex_lock(&c->lock);
	for (struct fake_qp *q = c->qps; q != NULL && error != 0; q = q->next)
		if (q->drained_events > 0) {
			q->drained_events--;
			event->event_type = IBV_EVENT_SQ_DRAINED;
			event->element.qp = base(q);
			error = 0;
		}
	pthread_mutex_unlock(&c->lock);
	errno = error != 0 ? EAGAIN : errno;
	return error;
}

void fake_break(struct fake_qp *q)
{
	pthread_mutex_lock(&q->lock);
	flush(q);
	pthread_mutex_unlock(&q->lock);
}

static struct ibv_context *open_context(struct fake_device *device)
{
	struct fake_context *c = calloc(1, sizeof(*c));
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0)
		abort();
	pthread_mutex_init(&c->lock, NULL);
	c->kicks = pair[1];
	c->qpn = device->qpn;
	c->v.sz = sizeof(c->v);
	c->v.create_qp_ex = create_qp_ex;
	c->v.context.abi_compat = (void *)UINTPTR_MAX; /* as verbs_get_ctx() wants it */
	c->v.context.device = &device->device;
	c->v.context.cmd_fd = pair[0];
	c->v.context.async_fd = -1;
	c->v.context.ops.post_send = post_send;
	c->v.context.ops.poll_cq = poll_cq;
	return &c->v.context;
}

static int close_context(struct ibv_context *context)
{
	struct fake_context *c = context_of(context);

	close(context->cmd_fd);
	close(c->kicks);
	free(c);
	return 0;
}

__attribute__((visibility("default"))) struct fake_device *fake_device(const char *name)
{
	static const struct fake_calls calls = {open_context, close_context, create_qp, modify_qp,
		query_qp, destroy_qp, get_async_event};
	struct fake_device *d = calloc(1, sizeof(*d));

	strncpy(d->device.name, name, sizeof(d->device.name) - 1u);
	d->calls = &calls;
	return d;
}
