/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces by raw sockets, in a network namespace of this process: packets sent and received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <linux/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/hp3d/ud/traces.h"
#include "probe_frames.h"
#include "probes/expired.h"

#define SPORT   0xc123
#define SKIPPED 77

static const char *const addresses[] = {
	"10.9.0.1/32", "10.9.0.2/32", "10.9.0.9/32", "fd00::1/128", "fd00::2/128", "fd00::9/128"};
static const char *const hops[] = {"10.9.0.9", "fd00::9"};
static struct hp3d_ud_traces traces = HP3D_UD_NO_TRACES;

static int setup(void **state)
{
	return hp3d_ud_traces_open(&traces);
}

static int teardown(void **state)
{
	hp3d_ud_traces_close(&traces);
	return 0;
}

static void make_trace(struct frame *f, bool ipv6)
{
	struct hp3_addressing a = flow_addressing(ipv6, SPORT);
	const struct hp3_peer_probe p = {.dest_qpn = 0x1234, .psn = 0x777, .id = 42, .time = 1};
	int n;

	a.ttl = 1;
	a.ipv4_id = 0x4321;
	n = hp3_peer_build(f->b, sizeof(f->b), &a, &p, &probe_key);
	assert_true(n > 0);
	f->len = (uint32_t)n;
	reparse(f);
}

/* At port 4791 of the other end, as it left: port, hop limit, every byte behind the UDP header. */
static void leaves_as_it_was_built(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		int s = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), yes = 1, n;
		const struct timeval longest = {.tv_sec = 10}; /* the kernel may deliver it later */
		struct sockaddr_in6 at6 = {
			.sin6_family = AF_INET6, .sin6_port = htons(HP3_ROCE_UDP_PORT)};
		struct sockaddr_in at4 = {
			.sin_family = AF_INET, .sin_port = htons(HP3_ROCE_UDP_PORT)};
		union {
			struct cmsghdr header;
			char space[CMSG_SPACE(sizeof(int))];
		} c;
		uint8_t got[512];
		struct sockaddr_in6 from;
		struct iovec to = {got, sizeof(got)};
		struct msghdr m = {&from, sizeof(from), &to, 1, &c, sizeof(c), 0};
		struct frame f;

		assert_int_equal(ipv6 ? bind(s, (struct sockaddr *)&at6, sizeof(at6))
				      : bind(s, (struct sockaddr *)&at4, sizeof(at4)),
			0);
		assert_int_equal(setsockopt(s, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
					 ipv6 ? IPV6_RECVHOPLIMIT : IP_RECVTTL, &yes, sizeof(yes)),
			0);
		setsockopt(
			s, IPPROTO_UDP, UDP_NO_CHECK6_RX, &yes, sizeof(yes)); /* RoCEv2 has none */
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
		make_trace(&f, ipv6);
		assert_true(hp3d_ud_is_trace(f.b, f.len));
		assert_int_equal(hp3d_ud_traces_send(&traces, f.b, f.len), 0);
		n = (int)recvmsg(s, &m, 0);
		assert_int_equal(n, f.len - f.v.udp_off - 8);
		assert_memory_equal(got, f.b + f.v.udp_off + 8, (size_t)n);
		assert_int_equal(ntohs(from.sin6_port), SPORT);
		assert_int_equal(*(int *)(void *)CMSG_DATA(CMSG_FIRSTHDR(&m)), 1);
		close(s);
	}
}

static void say(const struct frame *f, bool ipv6)
{
	int s = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_RAW);
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};
	struct sockaddr_in to4 = {.sin_family = AF_INET};
	const struct sockaddr *to = ipv6 ? (struct sockaddr *)&to6 : (struct sockaddr *)&to4;

	memcpy(&to6.sin6_addr, f->b + 38, sizeof(to6.sin6_addr));
	memcpy(&to4.sin_addr, f->b + 30, sizeof(to4.sin_addr));
	assert_int_equal(sendto(s, f->b + 14, f->len - 14, 0, to, ipv6 ? sizeof(to6) : sizeof(to4)),
		f->len - 14);
	close(s);
}

/* The kernel may deliver it later. */
static int take(bool ipv6, struct frame *got)
{
	int n = -EAGAIN;

	for (int ms = 0; n == -EAGAIN && ms < 10000; ms++) {
		n = hp3d_ud_traces_take(&traces, ipv6, got->b, sizeof(got->b));
		if (n == -EAGAIN)
			usleep(1000);
	}
	return n;
}

/* What a switch says is what hp3d hears, whatever the kernel took off it; of a ping it hears
 * nothing. */
static void hears_what_switches_say(void **state)
{
	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_expired told, heard;
		struct frame trace, f, got;
		uint8_t hop[16] = {0};
		int n;

		inet_pton(ipv6 ? AF_INET6 : AF_INET, hops[ipv6], hop);
		make_trace(&trace, ipv6);
		make_expired(&f, &trace, hop, 48);
		assert_int_equal(hp3_expired_read(PARSED(&f), &told), 0);
		f.b[ipv6 ? 54 : 34] = ipv6 ? 128 : 8;
		repair_icmp(&f);
		say(&f, ipv6);
		assert_int_equal(hp3d_ud_traces_take(&traces, ipv6, got.b, sizeof(got.b)), -EAGAIN);
		f.b[ipv6 ? 54 : 34] = ipv6 ? 3 : 11;
		repair_icmp(&f);
		say(&f, ipv6);
		n = take(ipv6, &got);
		assert_int_equal(n, f.len);
		got.len = (uint32_t)n;
		reparse(&got);
		assert_int_equal(hp3_expired_read(PARSED(&got), &heard), 0);
		assert_memory_equal(&heard, &told, sizeof(told));
		assert_int_equal(hp3d_ud_traces_take(&traces, ipv6, got.b, sizeof(got.b)), -EAGAIN);
	}
}

static void what_is_no_trace(void **state)
{
	struct frame f;

	make_probe(&f, false, 1, 1, &probe_key);
	assert_false(hp3d_ud_is_trace(f.b, f.len));
	make_trace(&f, false);
	assert_false(hp3d_ud_is_trace(f.b, f.v.udp_off));
	hp3d_ud_traces_close(&traces);
	assert_int_equal(hp3d_ud_traces_send(&traces, f.b, f.len), -EAFNOSUPPORT);
}

static bool own_network(void)
{
	char command[128];

	if (unshare(CLONE_NEWNET) != 0 || system("ip link set lo up") != 0)
		return false;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		/* An IPv6 address without `nodad` is tentative until a worker of the kernel has
		 * run. */
		snprintf(command, sizeof(command), "ip addr add %s dev lo%s", addresses[i],
			strchr(addresses[i], ':') != NULL ? " nodad" : "");
		if (system(command) != 0)
			return false;
	}
	return true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves_as_it_was_built, setup, teardown),
		cmocka_unit_test_setup_teardown(hears_what_switches_say, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_trace, setup, teardown),
	};

	if (!own_network()) {
		printf("no network of its own: %m\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
