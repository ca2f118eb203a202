/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* DPDK devargs, "NAME,key=value,...": the form in which rails name their ports. */
#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the value of the first `key`= behind the name to buf. False: there is no such key; buf is
 * unchanged.
 */
bool hp3_devarg(const char *devargs, const char *key, char *buf, size_t cap);
/*
 * Writes the driver of a virtual device: its name without the number ("net_af_packet0":
 * net_af_packet).
 */
void hp3_devargs_driver(const char *devargs, char *buf, size_t cap);
/* True for a PCI address: "0000:3b:00.1", or "3b:00.1" (domain 0000). buf: the whole address. */
bool hp3_devargs_pci(const char *devargs, char buf[16]);
/*
 * Writes the kernel's interface under a virtual device (net_af_packet, net_af_xdp, net_pcap).
 * False: there is none.
 */
bool hp3_devargs_interface(const char *devargs, char *buf, size_t cap);
