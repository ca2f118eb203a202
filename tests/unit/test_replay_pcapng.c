/* SPDX-License-Identifier: BSD-3-Clause */
/* pcapng files (app/hp3d/replay/pcapng.h): interfaces, byte orders, time stamps, damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include "app/hp3d/replay/pcapng.h"

#define SECTION   0x0a0d0d0au
#define INTERFACE 1u
#define SIMPLE    3u
#define PACKET    6u

static uint8_t file[1024];
static uint32_t len;
static bool swapped;

static void put32(uint32_t v)
{
	v = swapped ? __builtin_bswap32(v) : v;
	memcpy(file + len, &v, sizeof(v));
	len += sizeof(v);
}

static void put16(uint16_t v)
{
	v = swapped ? __builtin_bswap16(v) : v;
	memcpy(file + len, &v, sizeof(v));
	len += sizeof(v);
}

static uint32_t begin_block(uint32_t type)
{
	put32(type);
	put32(0);
	return len;
}

static void end_block(uint32_t body)
{
	uint32_t whole, end;

	while (len % 4 != 0)
		file[len++] = 0;
	whole = len - body + 12;
	put32(whole);
	end = len;
	len = body - 4;
	put32(whole);
	len = end;
}

static void put_section(void)
{
	uint32_t body = begin_block(SECTION);

	put32(0x1a2b3c4d);
	put16(1);
	put16(0);
	put32(UINT32_MAX);
	put32(UINT32_MAX);
	end_block(body);
}

/* `resolution`: if_tsresol; 0: no options. */
static void put_interface(uint16_t link, uint32_t snaplen, uint8_t resolution)
{
	uint32_t body = begin_block(INTERFACE);

	put16(link);
	put16(0);
	put32(snaplen);
	if (resolution != 0) {
		put16(9);
		put16(1);
		file[len] = resolution;
		memset(file + len + 1, 0, 3);
		len += 4;
		put32(0);
	}
	end_block(body);
}

static void put_packet(uint32_t interface, uint64_t t, const char *data, uint32_t caplen)
{
	uint32_t body = begin_block(PACKET);

	put32(interface);
	put32((uint32_t)(t >> 32));
	put32((uint32_t)t);
	put32(caplen);
	put32(1500);
	memcpy(file + len, data, strlen(data));
	len += (uint32_t)strlen(data);
	end_block(body);
}

static int empty_file(void **state)
{
	len = 0;
	swapped = false;
	return 0;
}

static struct hp3d_pcapng *open_file(void)
{
	FILE *f = fmemopen(file, len, "rb");
	struct hp3d_pcapng *p;

	assert_non_null(f);
	p = hp3d_pcapng_open(f);
	assert_non_null(p);
	return p;
}

static void must_have(struct hp3d_pcapng *p, uint32_t link, const char *data, long ns)
{
	struct pcap_pkthdr h;
	const u_char *got;
	uint32_t got_link;

	assert_int_equal(hp3d_pcapng_next(p, &h, &got, &got_link), 1);
	assert_int_equal(got_link, link);
	assert_int_equal(h.caplen, strlen(data));
	assert_memory_equal(got, data, h.caplen);
	assert_int_equal(h.ts.tv_usec, ns);
}

static void must_end(struct hp3d_pcapng *p, int ret)
{
	struct pcap_pkthdr h;
	const u_char *data;
	uint32_t link;

	assert_int_equal(hp3d_pcapng_next(p, &h, &data, &link), ret);
	if (ret < 0)
		assert_non_null(hp3d_pcapng_error(p));
	hp3d_pcapng_close(p);
}

static void check_interfaces(void)
{
	struct hp3d_pcapng *p;

	put_section();
	put_interface(1, 65535, 0);
	put_interface(113, 96, 9);
	put_packet(0, 5000007, "ethernet", 8);
	put_packet(1, 5000000007, "sll", 3);
	end_block(begin_block(5)); /* statistics: passed */
	put_packet(0, 5000008, "more", 4);
	p = open_file();
	must_have(p, 1, "ethernet", 7000);
	must_have(p, 113, "sll", 7);
	must_have(p, 1, "more", 8000);
	must_end(p, 0);
}

static void interfaces_have_their_link_types(void **state)
{
	check_interfaces();
}

static void files_of_the_other_byte_order(void **state)
{
	swapped = true;
	check_interfaces();
}

/* The interfaces of a section end with it. */
static void sections_have_their_interfaces(void **state)
{
	struct hp3d_pcapng *p;

	put_section();
	put_interface(1, 0, 0);
	put_packet(0, 0, "one", 3);
	swapped = true;
	put_section();
	put_interface(101, 0, 0x80 | 10);
	put_packet(0, 512, "two", 3);
	p = open_file();
	must_have(p, 1, "one", 0);
	must_have(p, 101, "two", 500000000);
	must_end(p, 0);
}

static void simple_packets_are_cut_by_the_interface(void **state)
{
	struct hp3d_pcapng *p;
	uint32_t body;

	put_section();
	put_interface(1, 4, 0);
	body = begin_block(SIMPLE);
	put32(100);
	put32(0x20202020);
	end_block(body);
	p = open_file();
	must_have(p, 1, "    ", 0);
	must_end(p, 0);
}

static void damaged_files_are_refused(void **state)
{
	put_section();
	put_packet(0, 0, "none", 4); /* of no interface */
	must_end(open_file(), -1);
	len = 0;
	put_section();
	put_interface(1, 0, 0);
	put_packet(0, 0, "long", 9); /* longer than its block */
	must_end(open_file(), -1);
	len = 0;
	put_section();
	len -= 4;
	put32(24); /* the second length differs */
	must_end(open_file(), -1);
	len = 0;
	put_section();
	put32(INTERFACE);
	put32(0xfffffffc); /* a length beyond all bounds */
	must_end(open_file(), -1);
}

static void every_truncation_ends(void **state)
{
	struct pcap_pkthdr h;
	const u_char *data;
	uint32_t link, whole;

	put_section();
	put_interface(1, 0, 9);
	put_packet(0, 0, "packet", 6);
	for (whole = len; len > 0; len--) {
		struct hp3d_pcapng *p = open_file();
		int ret;

		while ((ret = hp3d_pcapng_next(p, &h, &data, &link)) == 1)
			assert_int_equal(len, whole);
		assert_true(ret == 0 || hp3d_pcapng_error(p) != NULL);
		hp3d_pcapng_close(p);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, empty_file)
	const struct CMUnitTest tests[] = {
		TEST(interfaces_have_their_link_types),
		TEST(files_of_the_other_byte_order),
		TEST(sections_have_their_interfaces),
		TEST(simple_packets_are_cut_by_the_interface),
		TEST(damaged_files_are_refused),
		TEST(every_truncation_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
