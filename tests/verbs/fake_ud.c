/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libibverbs for hp3d, with one RNIC that has queue pairs of datagrams and nothing else. Datagrams
 * travel by UNIX sockets in the directory of the fabric (fabric.h), named ADDRESS-QPN.
 *
 * HP3_FAKE_IP: its IPv4 address; HP3_FAKE_VENDOR: ffffff is Soft-RoCE, 2c9 mlx5: where the source
 * port comes from; HP3_FAKE_QPN: its first queue pair; HP3_FAKE_NO_UD: none can be made.
 *
 * HP3_FAKE_STAMPS: completions are stamped (else it has no such counter), with 1 ns a tick, 64
 * bits: "good"; "wraps", 24 bits, every 17 ms; "resets" to 0 every 50 ms; "still", always the same;
 * "fast", ten times as fast as it says; "refused", it says so, but makes no such queue.
 */
#include "tests/verbs/fabric.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define QPS     32
#define DEPTH   4096u
#define PENDING 1024
#define GRH     40u
#define BYTES   512u

struct wire {
	uint64_t due;
	uint32_t src, dst, src_qpn, qkey;
	uint8_t tclass, ttl;
	uint16_t bytes;
	uint8_t data[BYTES];
};

struct qp {
	struct ibv_qp qp;
	int fd;
	uint32_t qkey;
	struct ibv_recv_wr wr[256];
	struct ibv_sge sge[256];
	uint32_t head, tail;
};

struct cq {
	struct ibv_cq_ex ex; /* begins as an ibv_cq does */
	struct ibv_wc wc[DEPTH];
	uint64_t ticks[DEPTH];
	uint32_t head, tail;
	int armed;
};

struct ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

static struct ibv_device device = {.name = "fake0"};
static struct {
	struct verbs_context verbs;
	struct ibv_comp_channel channel;
	struct cq *arrived;
	struct qp *qps[QPS];
	uint32_t n, next_qpn, n_pending;
	struct wire pending[PENDING];
	const uint32_t *paths;
	uint32_t ip;
	bool stop;
	pthread_t thread;
	pthread_mutex_t lock;
} rnic = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t number(const char *name, int base)
{
	const char *text = getenv(name);

	return text == NULL ? 0 : (uint32_t)strtoul(text, NULL, base);
}

static struct sockaddr_un address(uint32_t ip, uint32_t qpn)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &ip, text, sizeof(text));
	snprintf(at.sun_path, sizeof(at.sun_path), "%.70s/%s-%u", getenv("HP3_FAKE_FABRIC"), text,
		qpn);
	return at;
}

static void put_header(uint8_t *grh, const struct wire *w)
{
	uint8_t *ip = grh + 20;
	uint32_t sum = 0;

	memset(grh, 0, GRH);
	ip[0] = 0x45;
	ip[1] = w->tclass;
	ip[8] = w->ttl;
	ip[9] = 17;
	memcpy(ip + 12, &w->src, 4);
	memcpy(ip + 16, &w->dst, 4);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static bool stamps(const char *how)
{
	const char *text = getenv("HP3_FAKE_STAMPS");

	return text != NULL && strcmp(text, how) == 0;
}

static uint64_t ticks_at(uint64_t ns)
{
	if (stamps("wraps"))
		return ns & 0xffffff;
	if (stamps("resets"))
		return ns % 50000000;
	if (stamps("still"))
		return 1;
	return stamps("fast") ? ns * 10u : ns;
}

static void push(struct cq *c, const struct ibv_wc *wc, uint64_t at)
{
	uint64_t one = 1;

	c->ticks[c->head % DEPTH] = ticks_at(at);
	c->wc[c->head++ % DEPTH] = *wc;
	if (c->armed && c == rnic.arrived && write(rnic.channel.fd, &one, sizeof(one)) > 0)
		c->armed = 0;
}

static void deliver(const struct wire *w, struct qp *q)
{
	uint8_t *to;
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV, .wc_flags = IBV_WC_GRH};

	if (w->qkey != q->qkey || q->head == q->tail)
		return;
	to = (uint8_t *)(uintptr_t)q->sge[q->tail % 256].addr;
	put_header(to, w);
	memcpy(to + GRH, w->data, w->bytes);
	wc.wr_id = q->wr[q->tail++ % 256].wr_id;
	wc.byte_len = GRH + w->bytes;
	wc.qp_num = q->qp.qp_num;
	wc.src_qp = w->src_qpn;
	push((struct cq *)q->qp.recv_cq, &wc, w->due);
}

static struct qp *by_number(uint32_t qpn)
{
	for (uint32_t i = 0; i < rnic.n; i++)
		if (rnic.qps[i] != NULL && rnic.qps[i]->qp.qp_num == qpn)
			return rnic.qps[i];
	return NULL;
}

/* What is due goes to its queue pair, which `dst_qpn` of the socket named. */
static void settle(uint64_t now)
{
	for (uint32_t i = 0; i < rnic.n_pending;) {
		struct wire *w = &rnic.pending[i];
		struct qp *q;

		if (w->due > now) {
			i++;
			continue;
		}
		q = by_number(w->dst);
		w->dst = rnic.ip;
		if (q != NULL)
			deliver(w, q);
		*w = rnic.pending[--rnic.n_pending];
	}
}

static void *run(void *unused)
{
	struct pollfd p[QPS];
	struct timespec nap = {0, 200000};
	uint32_t n;

	while (!__atomic_load_n(&rnic.stop, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&rnic.lock);
		n = rnic.n;
		for (uint32_t i = 0; i < n; i++)
			p[i] = (struct pollfd){rnic.qps[i] ? rnic.qps[i]->fd : -1, POLLIN, 0};
		for (uint32_t i = 0; i < n; i++)
			while (rnic.qps[i] != NULL && rnic.n_pending < PENDING &&
				recv(rnic.qps[i]->fd, &rnic.pending[rnic.n_pending],
					sizeof(struct wire), MSG_DONTWAIT) == sizeof(struct wire))
				rnic.pending[rnic.n_pending++].dst = rnic.qps[i]->qp.qp_num;
		settle(now_ns());
		nap.tv_nsec = rnic.n_pending > 0 ? 50000 : 5000000;
		pthread_mutex_unlock(&rnic.lock);
		ppoll(p, n, &nap, NULL);
	}
	return unused;
}

static uint16_t port_of(const struct qp *q, const struct ah *a)
{
	if (number("HP3_FAKE_VENDOR", 16) == 0xffffff)
		return (uint16_t)(0xc000 + (q->qp.qp_num * 0x61c88647u >> 18));
	return (uint16_t)(((a->attr.grh.flow_label & 0x3fff) ^
				  (a->attr.grh.flow_label & 0xfc000) >> 14) |
			  0xc000);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct qp *q = (struct qp *)qp;
	const struct ah *a = (const struct ah *)wr->wr.ud.ah;
	struct wire w = {.src = rnic.ip,
		.src_qpn = qp->qp_num,
		.qkey = wr->wr.ud.remote_qkey,
		.tclass = a->attr.grh.traffic_class,
		.ttl = a->attr.grh.hop_limit,
		.bytes = (uint16_t)wr->sg_list[0].length};
	struct ibv_wc wc = {.wr_id = wr->wr_id, .status = IBV_WC_SUCCESS};
	uint64_t delay = fabric_delay(rnic.paths, port_of(q, a));
	struct sockaddr_un to;
	uint64_t posted = now_ns();
	uint32_t ip;

	memcpy(&ip, a->attr.grh.dgid.raw + 12, 4);
	memcpy(w.data, (void *)(uintptr_t)wr->sg_list[0].addr, w.bytes);
	w.due = posted + 20000 + delay;
	to = address(ip, wr->wr.ud.remote_qpn);
	if (delay != FABRIC_DEAD)
		sendto(q->fd, &w, sizeof(w), MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
	pthread_mutex_lock(&rnic.lock);
	push((struct cq *)qp->send_cq, &wc, posted);
	pthread_mutex_unlock(&rnic.lock);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct qp *q = (struct qp *)qp;

	pthread_mutex_lock(&rnic.lock);
	q->sge[q->head % 256] = wr->sg_list[0];
	q->wr[q->head++ % 256] = *wr;
	pthread_mutex_unlock(&rnic.lock);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct cq *c = (struct cq *)cq;
	int got = 0;

	pthread_mutex_lock(&rnic.lock);
	while (got < n && c->tail != c->head)
		wc[got++] = c->wc[c->tail++ % DEPTH];
	pthread_mutex_unlock(&rnic.lock);
	return got;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct cq *c = (struct cq *)ex;
	bool empty;

	pthread_mutex_lock(&rnic.lock);
	empty = c->tail == c->head;
	pthread_mutex_unlock(&rnic.lock);
	if (empty)
		return ENOENT;
	ex->wr_id = c->wc[c->tail % DEPTH].wr_id;
	ex->status = c->wc[c->tail % DEPTH].status;
	return 0;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_lock(&rnic.lock);
	((struct cq *)ex)->tail++;
	pthread_mutex_unlock(&rnic.lock);
}

static const struct ibv_wc *current(struct ibv_cq_ex *ex)
{
	return &((struct cq *)ex)->wc[((struct cq *)ex)->tail % DEPTH];
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return current(ex)->byte_len;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return current(ex)->wc_flags;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return ((struct cq *)ex)->ticks[((struct cq *)ex)->tail % DEPTH];
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct cq *c;

	if (stamps("refused") || !(attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	c->ex.context = context;
	c->ex.start_poll = start_poll;
	c->ex.end_poll = end_poll;
	c->ex.read_byte_len = read_byte_len;
	c->ex.read_wc_flags = read_wc_flags;
	c->ex.read_completion_ts = read_completion_ts;
	if (attr->channel != NULL)
		rnic.arrived = c;
	return &c->ex;
}

static int query_device_ex(struct ibv_context *context,
	const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr, size_t size)
{
	memset(attr, 0, size);
	if (getenv("HP3_FAKE_STAMPS") != NULL) {
		attr->completion_timestamp_mask = stamps("wraps") ? 0xffffff : UINT64_MAX;
		attr->hca_core_clock = 1000000; /* kHz */
	}
	return 0;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	struct cq *c = (struct cq *)cq;

	pthread_mutex_lock(&rnic.lock);
	c->armed = 1;
	pthread_mutex_unlock(&rnic.lock);
	return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	if (rnic.paths != NULL)
		return NULL; /* it has one port */
	rnic.paths = fabric_open();
	inet_pton(AF_INET, getenv("HP3_FAKE_IP"), &rnic.ip);
	rnic.next_qpn = number("HP3_FAKE_QPN", 10);
	rnic.verbs.sz = sizeof(rnic.verbs);
	rnic.verbs.query_device_ex = query_device_ex;
	rnic.verbs.create_cq_ex = create_cq_ex;
	rnic.verbs.context.abi_compat = (void *)UINTPTR_MAX;
	rnic.verbs.context.device = d;
	rnic.verbs.context.ops.post_send = post_send;
	rnic.verbs.context.ops.post_recv = post_recv;
	rnic.verbs.context.ops.poll_cq = poll_cq;
	rnic.verbs.context.ops.req_notify_cq = req_notify_cq;
	rnic.channel.fd = eventfd(0, EFD_CLOEXEC);
	pthread_create(&rnic.thread, NULL, run, NULL);
	return &rnic.verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	__atomic_store_n(&rnic.stop, true, __ATOMIC_RELAXED);
	pthread_join(rnic.thread, NULL);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	attr->vendor_id = number("HP3_FAKE_VENDOR", 16);
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	((struct ibv_port_attr *)attr)->link_layer = IBV_LINK_LAYER_ETHERNET;
	return port == 1 ? 0 : EINVAL;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
	struct ibv_gid_entry *e, uint32_t flags, size_t size)
{
	if (index != 1)
		return ENODATA;
	memset(e, 0, sizeof(*e));
	e->gid_type = IBV_GID_TYPE_ROCE_V2;
	memset(e->gid.raw + 10, 0xff, 2);
	memcpy(e->gid.raw + 12, &rnic.ip, 4);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at, size_t n, int access)
{
	return calloc(1, sizeof(struct ibv_mr));
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	return &rnic.channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	uint64_t n;

	*cq = ibv_cq_ex_to_cq(&rnic.arrived->ex);
	return read(channel->fd, &n, sizeof(n)) == sizeof(n) ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *data,
	struct ibv_comp_channel *channel, int vector)
{
	struct cq *c = calloc(1, sizeof(*c));

	c->ex.context = context;
	if (channel != NULL)
		rnic.arrived = c;
	return ibv_cq_ex_to_cq(&c->ex);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *make)
{
	struct qp *q = calloc(1, sizeof(*q));
	struct sockaddr_un at;

	if (getenv("HP3_FAKE_NO_UD") != NULL || rnic.n == QPS) {
		free(q);
		errno = EPERM;
		return NULL;
	}
	q->qp = (struct ibv_qp){.context = pd->context,
		.send_cq = make->send_cq,
		.recv_cq = make->recv_cq,
		.qp_type = make->qp_type,
		.qp_num = rnic.next_qpn++};
	at = address(rnic.ip, q->qp.qp_num);
	unlink(at.sun_path);
	q->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(q->fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		abort();
	pthread_mutex_lock(&rnic.lock);
	rnic.qps[rnic.n++] = q;
	pthread_mutex_unlock(&rnic.lock);
	return &q->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_QKEY)
		((struct qp *)qp)->qkey = attr->qkey;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	pthread_mutex_lock(&rnic.lock);
	for (uint32_t i = 0; i < rnic.n; i++)
		if (rnic.qps[i] == (struct qp *)qp)
			rnic.qps[i] = NULL;
	close(((struct qp *)qp)->fd);
	pthread_mutex_unlock(&rnic.lock);
	free(qp);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ah *a = calloc(1, sizeof(*a));

	a->attr = *attr;
	return &a->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	return 0;
}
