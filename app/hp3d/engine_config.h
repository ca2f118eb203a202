/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_ENGINE_CONFIG_H
#define HP3D_ENGINE_CONFIG_H
/* From the INI file's words and units to the engine's. */
#include "config/config.h"
#include "engine/engine.h"

struct hp3_engine_config hp3d_engine_config(const struct hp3_config *c, uint64_t seed);

#endif
