/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the doctor reads in the kernel's messages about interfaces: the mode of a macvlan, and the
 * checks of a VF's frames. Not every kernel has ipvlan, and few hosts have VFs, so the messages
 * are made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include "app/doctor/host.h"

static union {
	struct nlmsghdr hdr;
	char room[4096];
} message;

static struct nlmsghdr *begin_link(const char *name)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(memset(&message, 0, sizeof(message)));
	struct ifinfomsg *ifm;

	nlh->nlmsg_type = RTM_NEWLINK;
	ifm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifm));
	ifm->ifi_index = 7;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	return nlh;
}

static struct hp3_link_info link_of_kind(const char *kind, uint32_t mode, uint16_t flags)
{
	struct nlmsghdr *nlh = begin_link("x0");
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO), *data;
	struct hp3_link_info l = {0};

	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	if (strcmp(kind, "ipvlan") == 0) {
		mnl_attr_put_u16(nlh, IFLA_IPVLAN_MODE, (uint16_t)mode);
	} else {
		mnl_attr_put_u32(nlh, IFLA_MACVLAN_MODE, mode);
		mnl_attr_put_u16(nlh, IFLA_MACVLAN_FLAGS, flags);
	}
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	hp3_link_take(nlh, &l);
	hp3_link_shared(&l);
	return l;
}

static void interfaces_that_share_a_device(void **state)
{
	static const struct {
		const char *kind;
		uint32_t mode;
		uint16_t flags;
		const char *text; /* the mode that the finding names; NULL: no finding */
	} cases[] = {
		{"macvlan", MACVLAN_MODE_PRIVATE, 0, "private"},
		{"macvlan", MACVLAN_MODE_VEPA, 0, "vepa"},
		{"macvlan", MACVLAN_MODE_BRIDGE, 0, "bridge"},
		{"macvtap", MACVLAN_MODE_SOURCE, 0, "source"},
		{"macvlan", MACVLAN_MODE_PASSTHRU, 0, NULL},
		{"macvtap", MACVLAN_MODE_PASSTHRU, MACVLAN_FLAG_NODST, NULL},
		{"macvlan", MACVLAN_MODE_PASSTHRU, MACVLAN_FLAG_NOPROMISC, "passthru nopromisc"},
		{"ipvlan", IPVLAN_MODE_L2, 0, ""},
		{"ipvlan", IPVLAN_MODE_L3, 0, ""},
		{"ipvlan", IPVLAN_MODE_L3S, 0, ""},
		{"veth", MACVLAN_MODE_BRIDGE, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hp3_link_info l = link_of_kind(cases[i].kind, cases[i].mode, cases[i].flags);

		assert_string_equal(l.itf.kind, cases[i].kind);
		assert_string_equal(l.itf.shared.name, cases[i].text != NULL ? "x0" : "");
		if (cases[i].text != NULL)
			assert_string_equal(l.itf.shared.mode, cases[i].text);
	}
}

static void put_vf(struct nlmsghdr *nlh, uint32_t number, uint32_t spoofchk, uint32_t trust)
{
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_VF_INFO);
	struct ifla_vf_mac mac = {.vf = number};
	struct ifla_vf_spoofchk s = {.vf = number, .setting = spoofchk};
	struct ifla_vf_trust t = {.vf = number, .setting = trust};

	mnl_attr_put(nlh, IFLA_VF_MAC, sizeof(mac), &mac);
	mnl_attr_put(nlh, IFLA_VF_SPOOFCHK, sizeof(s), &s);
	mnl_attr_put(nlh, IFLA_VF_TRUST, sizeof(t), &t);
	mnl_attr_nest_end(nlh, info);
}

static struct hp3_vf vf_of_message(uint32_t number)
{
	struct nlmsghdr *nlh = begin_link("pf0");
	struct nlattr *list = mnl_attr_nest_start(nlh, IFLA_VFINFO_LIST);
	struct hp3_vf vf = {.number = number};

	put_vf(nlh, 0, 1, 0);
	put_vf(nlh, 1, 0, 1);
	put_vf(nlh, 2, UINT32_MAX, UINT32_MAX); /* the driver reports neither */
	put_vf(nlh, 3, 1, 1);
	mnl_attr_nest_end(nlh, list);
	hp3_link_take_vf(nlh, &vf);
	return vf;
}

static void checks_of_a_vf(void **state)
{
	static const struct {
		bool found, spoof_check, untrusted;
	} want[] = {{true, true, true}, {true, false, false}, {true, false, false},
		{true, true, false}, {false, false, false}};

	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct hp3_vf vf = vf_of_message(i);

		assert_int_equal(vf.found, want[i].found);
		assert_int_equal(vf.spoof_check, want[i].spoof_check);
		assert_int_equal(vf.untrusted, want[i].untrusted);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(interfaces_that_share_a_device),
		cmocka_unit_test(checks_of_a_vf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
