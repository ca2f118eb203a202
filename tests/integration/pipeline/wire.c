/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include "roce/parse.h"

#define RECEIVE_BUFFER (16 << 20)
#define TAG            4u
#define STAMP          0x68703373u /* "hp3s" */
#define NS             1000000000ull

struct late {
	struct late *next;
	uint64_t due;
	uint32_t len;
	uint8_t frame[];
};

bool wire_open(struct wire *w, const char *interface, uint64_t slow_ns, bool stamps)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface)};
	int one = 1, room = RECEIVE_BUFFER;

	*w = (struct wire){.stamps = stamps, .serial = 1, .slow_ns = slow_ns, .tail = &w->head};
	w->had = calloc(1, WIRE_SERIAL / 8);
	w->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	if (w->fd < 0 || setsockopt(w->fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) != 0 ||
		setsockopt(w->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0 ||
		setsockopt(w->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) != 0 ||
		setsockopt(w->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0 ||
		bind(w->fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		fprintf(stderr, "%s: %s\n", interface, strerror(errno));
		return false;
	}
	return true;
}

void wire_close(struct wire *w)
{
	while (w->head != NULL) {
		struct late *l = w->head;

		w->head = l->next;
		free(l);
	}
	free(w->had);
	close(w->fd);
}

struct stamp {
	uint32_t magic, serial;
};

static uint32_t stamp(struct wire *w, const void *frame, uint32_t len, uint8_t *stamped)
{
	const struct stamp s = {STAMP, w->serial++};

	memcpy(stamped, frame, len);
	memcpy(stamped + len, &s, sizeof(s));
	return len + (uint32_t)sizeof(s);
}

static bool is_request(const uint8_t *frame, uint32_t len, struct hp3_view *v)
{
	hp3_parse(frame, len, v);
	return v->class == HP3_CLASS_RC_REQUEST;
}

static void note_stamp(struct wire *w, const uint8_t *frame, uint32_t len, uint64_t at)
{
	struct stamp s = {0};
	struct hp3_view v;
	uint32_t *newest;
	uint8_t *had, bit;

	if (len > sizeof(s))
		memcpy(&s, frame + len - sizeof(s), sizeof(s));
	if (s.magic != STAMP)
		return;
	had = &w->had[s.serial % WIRE_SERIAL / 8];
	bit = (uint8_t)(1u << s.serial % 8);
	if (*had & bit) {
		w->seen.twice++;
		return;
	}
	*had |= bit;
	w->seen.frames++;
	newest = &w->newest[is_request(frame, len - (uint32_t)sizeof(s), &v)];
	w->seen.late += s.serial < *newest;
	*newest = s.serial > *newest ? s.serial : *newest;
	if (w->seen_at != 0 && at - w->seen_at > w->seen.pause_ns)
		w->seen.pause_ns = at - w->seen_at;
	w->seen_at = at;
}

void wire_send(struct wire *w, const void *frame, uint32_t len)
{
	uint8_t stamped[WIRE_FRAME];

	struct pollfd p = {.fd = w->fd, .events = POLLOUT};

	if (w->stamps) {
		len = stamp(w, frame, len, stamped);
		frame = stamped;
	}
	while (send(w->fd, frame, len, 0) != (ssize_t)len) {
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR) {
			perror("send");
			exit(1);
		}
		poll(&p, 1, 1);
	}
}

/* The kernel takes the outer tag out of the frame and hands it over beside it. */
static uint32_t put_tag_back(struct msghdr *msg, uint8_t *frame, uint32_t len)
{
	struct tpacket_auxdata aux;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			continue;
		memmove(frame + 12 + TAG, frame + 12, len - 12);
		hp3_put_be16(frame + 12, aux.tp_vlan_tpid);
		hp3_put_be16(frame + 14, aux.tp_vlan_tci);
		len += TAG;
	}
	return len;
}

static uint64_t time_of(struct msghdr *msg)
{
	struct timespec ts = {0};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
	}
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

static uint32_t receive_now(struct wire *w, uint8_t *frame)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata)) +
		     CMSG_SPACE(sizeof(struct timespec))];
	struct iovec iov = {frame, WIRE_FRAME - TAG};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(w->fd, &msg, 0);

	if (n > 0 && w->stamps)
		note_stamp(w, frame, (uint32_t)n, time_of(&msg));
	return n <= 0 ? 0 : put_tag_back(&msg, frame, (uint32_t)n);
}

static bool is_slow(const struct wire *w, const uint8_t *frame, uint32_t len)
{
	struct hp3_view v;

	return w->slow_ns != 0 && is_request(frame, len, &v) && (v.sport & 1);
}

static void delay(struct wire *w, const uint8_t *frame, uint32_t len, uint64_t due)
{
	struct late *l = malloc(sizeof(*l) + len);

	*l = (struct late){.due = due, .len = len};
	memcpy(l->frame, frame, len);
	*w->tail = l;
	w->tail = &l->next;
}

uint32_t wire_receive(struct wire *w, uint8_t *frame, uint64_t now)
{
	struct late *l = w->head;
	uint32_t len;

	if (l != NULL && l->due <= now) {
		w->head = l->next;
		if (w->head == NULL)
			w->tail = &w->head;
		len = l->len;
		memcpy(frame, l->frame, len);
		free(l);
		return len;
	}
	while ((len = receive_now(w, frame)) > 0 && is_slow(w, frame, len))
		delay(w, frame, len, now + w->slow_ns);
	return len;
}

uint32_t wire_lost(struct wire *w)
{
	struct tpacket_stats s = {0};
	socklen_t len = sizeof(s);

	getsockopt(w->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len);
	return s.tp_drops;
}
