/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Reads DPDK devargs, "NAME,key=value,...". Rails name their ports in this form. */
#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the value of the first `key`= behind the name to buf. False: the devargs do not have this
 * key; buf is unchanged.
 */
bool hp3_devarg(const char *devargs, const char *key, char *buf, size_t cap);
/*
 * Writes the driver of a virtual device to buf: the device's name without the number
 * ("net_af_packet0": net_af_packet).
 */
void hp3_devargs_driver(const char *devargs, char *buf, size_t cap);
/*
 * True: the name is a PCI address, "0000:3b:00.1" or "3b:00.1" (domain 0000). Writes the whole
 * address to buf.
 */
bool hp3_devargs_pci(const char *devargs, char buf[16]);
/*
 * May the devargs be the plain name of a kernel interface? Names of DPDK's virtual devices begin
 * with net_ or eth_. The kernel knows whether there is such an interface.
 */
bool hp3_devargs_may_be_interface(const char *devargs);
/*
 * Writes the kernel interface of a virtual device (net_af_packet, net_af_xdp, net_pcap) to buf.
 * False: the device has no kernel interface.
 */
bool hp3_devargs_interface(const char *devargs, char *buf, size_t cap);
