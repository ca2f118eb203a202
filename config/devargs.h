/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_DEVARGS_H
#define HP3_CONFIG_DEVARGS_H
/* DPDK devargs, "NAME,key=value,...", as rails name their ports. */
#include <stdbool.h>
#include <stddef.h>

/* The value of the first key= behind the name; false: there is none, and buf is as it was. */
bool hp3_devarg(const char *devargs, const char *key, char *buf, size_t cap);
/* The driver of a virtual device: its name without the number ("net_af_packet0": net_af_packet). */
void hp3_devargs_driver(const char *devargs, char *buf, size_t cap);
/* "0000:3b:00.1", or "3b:00.1" in the domain 0000: true, and the whole address. */
bool hp3_devargs_pci(const char *devargs, char buf[16]);
/* The interface of this kernel on which a virtual device works (net_af_packet, net_af_xdp,
 * net_pcap); false: it works on none. */
bool hp3_devargs_interface(const char *devargs, char *buf, size_t cap);

#endif
