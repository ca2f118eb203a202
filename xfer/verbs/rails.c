/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens rails, and watches their ports and GIDs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "xfer/verbs/verbs.h"

static int watch_fd(struct hp3x_rails *rails, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data = {.fd = fd}};

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return epoll_ctl(rails->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static bool scratch_add(struct hp3x_rail_verbs *r)
{
	r->scratch_mr = ibv_reg_mr(r->pd, r->scratch, sizeof(r->scratch),
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	return r->scratch_mr != NULL;
}

/* Makes the queues of a rail whose port has been read. */
static int rail_begin(struct hp3x_rails *rails, struct hp3x_rail_verbs *r)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};

	r->pd = ibv_alloc_pd(r->context);
	r->channel = ibv_create_comp_channel(r->context);
	if (r->pd == NULL || r->channel == NULL)
		return -ENOMEM;
	r->cq = ibv_create_cq(r->context, CQ_ENTRIES, NULL, r->channel, 0);
	r->srq = ibv_create_srq(r->pd, &srq);
	if (r->cq == NULL || r->srq == NULL || !scratch_add(r) ||
		watch_fd(rails, r->channel->fd) < 0 || watch_fd(rails, r->context->async_fd) < 0)
		return -ENOMEM;
	hp3x_verbs_receives_fill(r);
	if (hp3x_verbs_connector_begin(r, rails->wake) < 0)
		return -EAGAIN;
	r->up = true;
	return ibv_req_notify_cq(r->cq, 0) == 0 ? 0 : -EIO;
}

static void rail_end(struct hp3x_rail_verbs *r)
{
	hp3x_verbs_connector_end(r);
	if (r->scratch_mr != NULL)
		ibv_dereg_mr(r->scratch_mr);
	if (r->srq != NULL)
		ibv_destroy_srq(r->srq);
	if (r->cq != NULL)
		ibv_destroy_cq(r->cq);
	if (r->channel != NULL)
		ibv_destroy_comp_channel(r->channel);
	if (r->pd != NULL)
		ibv_dealloc_pd(r->pd);
	if (r->context != NULL)
		ibv_close_device(r->context);
}

/* "mlx5_0", "mlx5_0:2": is this port of this device meant? */
static bool is_named(const char *name, const char *device, uint8_t port)
{
	const char *colon = strchr(name, ':');
	size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);

	return strlen(device) == length && strncmp(name, device, length) == 0 &&
	       (colon == NULL ? port == 1 : (unsigned long)port == strtoul(colon + 1, NULL, 10));
}

/* Position in the list of names; n_names: not in it. */
static uint32_t position_in(
	const char *const *names, uint32_t n_names, const char *device, uint8_t port)
{
	uint32_t i = 0;

	while (i < n_names && !is_named(names[i], device, port))
		i++;
	return i;
}

static int ports_of(struct ibv_device *device)
{
	struct ibv_context *c = ibv_open_device(device);
	struct ibv_device_attr attr = {0};

	if (c == NULL)
		return 0;
	ibv_query_device(c, &attr);
	ibv_close_device(c);
	return attr.phys_port_cnt;
}

/* Adds a port as a rail, if it is active. */
static int rail_add(struct hp3x_rails *rails, struct ibv_device *device, uint8_t port)
{
	struct hp3x_rail_verbs *r = &rails->rail[rails->n];
	int rc;

	if (rails->n == HP3X_RAILS)
		return 0;
	r->context = ibv_open_device(device);
	if (r->context == NULL)
		return 0;
	if (!hp3x_verbs_port_read(r, ibv_get_device_name(device), port)) {
		ibv_close_device(r->context);
		*r = (struct hp3x_rail_verbs){0};
		return 0;
	}
	rc = rail_begin(rails, r);
	rails->n++;
	if (rc < 0)
		return hp3x_error_set(rc, "%s: no queues: %s; is \"ulimit -l\" large enough?",
			r->name, strerror(-rc));
	return 1;
}

/* Rails in the order of the names, or of the devices. */
static int rails_find(struct hp3x_rails *rails, const char *const *names, uint32_t n_names,
	struct ibv_device **list, int n)
{
	uint32_t rounds = n_names > 0 ? n_names : 1;

	for (uint32_t k = 0; k < rounds; k++) {
		uint32_t before = rails->n;

		for (int i = 0; i < n; i++) {
			for (int port = 1; port <= ports_of(list[i]); port++) {
				const char *device = ibv_get_device_name(list[i]);
				int rc = 0;

				if (n_names == 0 ||
					position_in(names, n_names, device, (uint8_t)port) == k)
					rc = rail_add(rails, list[i], (uint8_t)port);
				if (rc < 0)
					return rc;
			}
		}
		if (n_names > 0 && rails->n == before)
			return hp3x_error_set(-ENODEV,
				"%s: no active port of an RNIC has this name; see ibv_devinfo",
				names[k]);
	}
	return rails->n > 0 ? 0
			    : hp3x_error_set(-ENODEV,
				      "no RNIC has an active port with a GID of RoCE v2; see "
				      "ibv_devinfo -v");
}

static int descriptors_begin(struct hp3x_rails *rails)
{
	const struct itimerspec every = {.it_interval = {.tv_nsec = CHECK_MS * 1000000},
		.it_value = {.tv_nsec = CHECK_MS * 1000000}};

	rails->epoll = epoll_create1(EPOLL_CLOEXEC);
	rails->wake = eventfd(0, EFD_CLOEXEC);
	rails->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (rails->epoll < 0 || rails->wake < 0 || rails->timer < 0 ||
		watch_fd(rails, rails->wake) < 0 || watch_fd(rails, rails->timer) < 0 ||
		timerfd_settime(rails->timer, 0, &every, NULL) < 0)
		return -errno;
	return 0;
}

int hp3x_verbs_rails_open(const char *const *names, uint32_t n_names, struct hp3x_rails **result)
{
	struct hp3x_rails *rails = calloc(1, sizeof(*rails));
	struct ibv_device **list;
	int n = 0, rc;

	if (rails == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for rails");
	rails->epoll = rails->wake = rails->timer = -1;
	rails->ack_timeout = ACK_TIMEOUT;
	rc = descriptors_begin(rails);
	list = ibv_get_device_list(&n);
	if (rc < 0)
		hp3x_error_set(rc, "no descriptors for rails: %s", strerror(-rc));
	else
		rc = rails_find(rails, names, n_names, list, list != NULL ? n : 0);
	if (list != NULL)
		ibv_free_device_list(list);
	if (rc < 0) {
		hp3x_verbs_rails_close(rails);
		return rc;
	}
	*result = rails;
	return 0;
}

void hp3x_verbs_rails_close(struct hp3x_rails *rails)
{
	for (uint32_t i = 0; i < rails->n; i++)
		rail_end(&rails->rail[i]);
	if (rails->epoll >= 0)
		close(rails->epoll);
	if (rails->wake >= 0)
		close(rails->wake);
	if (rails->timer >= 0)
		close(rails->timer);
	free(rails->event);
	free(rails);
}

void hp3x_verbs_rails_hang(struct hp3x_rails *rails, uint64_t hang_ns)
{
	rails->ack_timeout = 1;
	while (rails->ack_timeout < MOST_TIMEOUT && (4096ull << rails->ack_timeout) < hang_ns)
		rails->ack_timeout++;
}

void hp3x_verbs_rails_check(struct hp3x_rails *rails)
{
	for (uint32_t i = 0; i < rails->n; i++) {
		struct hp3x_rail_verbs *r = &rails->rail[i];
		bool up = hp3x_verbs_gid_index(r) >= 0;

		if (up == r->up)
			continue;
		r->up = up;
		hp3x_verbs_event_add(rails,
			&(struct hp3x_event){.kind = HP3X_EVENT_RAIL, .success = up, .rail = i});
	}
}
