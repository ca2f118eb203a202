/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures of a real RNIC stack (Linux rdma_rxe): every ICRC is correct, before and after a change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pcap.h>
#include <stdlib.h>
#include "roce/icrc.h"

struct expected {
	const char *file;
	unsigned packets, requests, replies, cm, ud, uc;
};

static const struct expected captures[] = {
	{"rc_atomic", 60, 30, 30, 0, 0, 0},
	{"rc_read_ect", 650, 11, 639, 0, 0, 0},
	{"rc_send_mtu2048_ect", 240, 229, 11, 0, 0, 0},
	{"rc_write_4qp_ect", 600, 575, 25, 0, 0, 0},
	{"rc_write_bidir", 700, 688, 12, 0, 0, 0},
	{"rc_write_lat64", 200, 100, 100, 0, 0, 0},
	{"rc_write_mtu1024", 650, 641, 9, 0, 0, 0},
	{"rc_write_mtu4096_ect", 260, 257, 3, 0, 0, 0},
	{"rc_write_rdmacm", 490, 416, 64, 10, 0, 0},
	{"uc_send", 240, 0, 0, 0, 0, 240},
	{"ud_send", 30, 0, 0, 0, 30, 0},
};

/* There with another port and AckReq turned, and back: good each time, the last bytes equal the
 * first. */
static void check_change(const uint8_t *data, uint32_t len, const struct hp3_view *v)
{
	uint8_t *f = malloc(len);
	struct hp3_view w = *v;
	bool ack = v->flags & HP3_VF_ACKREQ;

	assert_non_null(f);
	memcpy(f, data, len);
	hp3_set_sport_ackreq(f, &w, v->sport ^ 0x1555, !ack);
	assert_int_equal(hp3_be16(f + v->udp_off), v->sport ^ 0x1555);
	assert_true(hp3_icrc_ok(f, &w));
	hp3_set_ackreq(f, &w, ack);
	assert_true(hp3_icrc_ok(f, &w));
	hp3_set_sport(f, &w, v->sport);
	assert_memory_equal(f, data, len);
	assert_memory_equal(&w, v, sizeof(w));
	free(f);
}

static void walk(const struct expected *e)
{
	char path[512], err[PCAP_ERRBUF_SIZE];
	unsigned count[HP3_CLASS_MAX] = {0}, packets = 0;
	struct pcap_pkthdr *h;
	const u_char *data;

	snprintf(path, sizeof(path), HP3_TEST_DATA "/pcap/%s.pcap", e->file);
	pcap_t *p = pcap_open_offline(path, err);
	if (!p)
		fail_msg("%s", err);
	while (pcap_next_ex(p, &h, &data) == 1) {
		struct hp3_view v;
		hp3_parse(data, h->caplen, &v);
		packets++;
		count[v.class]++;
		assert_int_equal(v.reason, HP3_PARSE_OK);
		if (!hp3_icrc_ok(data, &v))
			fail_msg("%s: packet %u: bad ICRC", e->file, packets);
		check_change(data, h->caplen, &v);
	}
	pcap_close(p);
	assert_int_equal(packets, e->packets);
	assert_int_equal(count[HP3_CLASS_RC_REQUEST], e->requests);
	assert_int_equal(count[HP3_CLASS_RC_REPLY], e->replies);
	assert_int_equal(count[HP3_CLASS_CM], e->cm);
	assert_int_equal(count[HP3_CLASS_UD], e->ud);
	assert_int_equal(count[HP3_CLASS_UC], e->uc);
}

static void every_capture(void **state)
{
	for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
		walk(&captures[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_capture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
