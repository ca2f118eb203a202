/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a rail that connects endpoints. */
#include <string.h>
#include <unistd.h>
#include "xfer/verbs/verbs.h"

/* Takes one from the queue; NULL: the thread ends. */
static struct hp3x_endpoint *next_endpoint(struct hp3x_connector *c)
{
	struct hp3x_endpoint *e = NULL;

	pthread_mutex_lock(&c->lock);
	while (!c->ends && TAILQ_EMPTY(&c->queued))
		pthread_cond_wait(&c->more, &c->lock);
	if (!c->ends) {
		e = TAILQ_FIRST(&c->queued);
		TAILQ_REMOVE(&c->queued, e, connect);
		e->queued = false;
	}
	pthread_mutex_unlock(&c->lock);
	return e;
}

static void *connect_endpoints(void *arg)
{
	struct hp3x_connector *c = arg;
	struct hp3x_endpoint *e;
	const uint64_t one = 1;

	while ((e = next_endpoint(c)) != NULL) {
		e->connect_error = hp3x_verbs_endpoint_to_rts(e);
		pthread_mutex_lock(&c->lock);
		TAILQ_INSERT_TAIL(&c->done, e, connect);
		pthread_mutex_unlock(&c->lock);
		if (write(c->wake, &one, sizeof(one)) < 0)
			continue; /* it is readable already */
	}
	return NULL;
}

int hp3x_verbs_connector_begin(struct hp3x_rail_verbs *rail, int wake)
{
	struct hp3x_connector *c = &rail->connector;
	int rc;

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	TAILQ_INIT(&c->queued);
	TAILQ_INIT(&c->done);
	c->wake = wake;
	rc = pthread_create(&c->thread, NULL, connect_endpoints, c);
	c->runs = rc == 0;
	return -rc;
}

void hp3x_verbs_connector_end(struct hp3x_rail_verbs *rail)
{
	struct hp3x_connector *c = &rail->connector;

	if (!c->runs)
		return;
	pthread_mutex_lock(&c->lock);
	c->ends = true;
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->more);
	pthread_mutex_destroy(&c->lock);
}

void hp3x_verbs_connector_add(struct hp3x_endpoint *e)
{
	struct hp3x_connector *c = &e->rail->connector;

	e->connecting = e->queued = true;
	pthread_mutex_lock(&c->lock);
	TAILQ_INSERT_TAIL(&c->queued, e, connect);
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
}

bool hp3x_verbs_connector_remove(struct hp3x_endpoint *e)
{
	struct hp3x_connector *c = &e->rail->connector;
	bool queued;

	pthread_mutex_lock(&c->lock);
	queued = e->queued;
	if (queued)
		TAILQ_REMOVE(&c->queued, e, connect);
	e->queued = false;
	pthread_mutex_unlock(&c->lock);
	e->connecting &= !queued;
	return queued;
}

static struct hp3x_endpoint *done_endpoint(struct hp3x_connector *c)
{
	struct hp3x_endpoint *e;

	pthread_mutex_lock(&c->lock);
	e = TAILQ_FIRST(&c->done);
	if (e != NULL)
		TAILQ_REMOVE(&c->done, e, connect);
	pthread_mutex_unlock(&c->lock);
	return e;
}

void hp3x_verbs_connector_poll(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail)
{
	struct hp3x_endpoint *e;

	while ((e = done_endpoint(&rail->connector)) != NULL) {
		struct hp3x_event event = {.kind = HP3X_EVENT_CONNECTED,
			.success = e->connect_error == 0,
			.peer = e->place.peer,
			.path = e->place.path};

		e->connecting = false;
		if (e->shut_asked) {
			hp3x_verbs_endpoint_destroy(e);
			continue;
		}
		e->connected = event.success;
		hp3x_verbs_event_add(rails, &event);
	}
}
