/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The configuration of hp3-fleet: an INI file; all keys have a default. */
#include "config/ini.h"
#include "fleet/fleet.h"

struct fleet_config {
	struct {
		char servers[HP3_INI_VALUE_MAX];
		char name[HP3_FLEET_NAME]; /* "": host name and process id */
		char credentials[HP3_INI_VALUE_MAX];
		char nkey[HP3_INI_VALUE_MAX];
		char nkey_seed[HP3_INI_VALUE_MAX];
		char tls_ca[HP3_INI_VALUE_MAX];
		char tls_cert[HP3_INI_VALUE_MAX];
		char tls_key[HP3_INI_VALUE_MAX];
		char listen[64];
		uint32_t keepalive_ms, takeover_ms;
	} fleet;
	struct {
		uint32_t interval_ms;
	} plan;
	struct {
		char control[108]; /* sun_path */
		char host[HP3_FLEET_NAME]; /* "": the host name */
		char leaf[HP3_FLEET_LEAF];
		char addresses[HP3_INI_VALUE_MAX];
		uint32_t interval_ms, severe_ms;
		bool advice;
	} agent;
	struct hp3_fleet_params p;
};

extern const struct hp3_ini_schema fleet_schema;

/* File names without '/' become paths in $CREDENTIALS_DIRECTORY, if systemd sets it. */
void fleet_config_find_files(struct fleet_config *c);
