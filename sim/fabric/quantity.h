/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Rates, delays and shares in topology files, as ns-3 reads them. All functions return false for
 * other words, and for values out of range.
 */
#include <stdbool.h>
#include <stdint.h>

/* "100Gbps", or bit/s without a unit, from 1 Mbit/s on: fewer are a unit that was left out. */
bool sim_parse_rate(const char *word, uint64_t *bps);
/* "1000ns", or seconds without a unit, below 1 for the same reason. */
bool sim_parse_delay(const char *word, uint64_t *ps);
/* A share of packets from 0 to below 1, in units of 10^-9. */
bool sim_parse_loss(const char *word, uint32_t *of_1e9);
