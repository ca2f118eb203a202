/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Stand-in for a header of NIXL, for tests: what agent and backend pass (see nixl_types.h). */
#include <utility>
#include "nixl_descriptors.h"

typedef std::vector<std::pair<std::string, std::string>> notif_list_t; /* agent, message */

struct nixlBackendOptionalArgs {
	nixl_blob_t notifMsg;
	bool hasNotif = false;
	nixl_blob_t customParam;
};

using nixl_opt_b_args_t = nixlBackendOptionalArgs;

class nixlBackendInitParams
{
      public:
	std::string localAgent;
	nixl_backend_t type;
	nixl_b_params_t *customParams = nullptr;
	bool enableProgTh = false;
	uint64_t pthrDelay = 0;
	nixl_thread_sync_t syncMode;
	bool enableTelemetry_ = false;
};

class nixlBackendReqH
{
      public:
	nixlBackendReqH()
	{
	}
	virtual ~nixlBackendReqH()
	{
	}
};

class nixlBackendMD
{
      protected:
	bool isPrivateMD;

      public:
	nixlBackendMD(bool is_private) : isPrivateMD(is_private)
	{
	}
	virtual ~nixlBackendMD()
	{
	}
};

class nixlMetaDesc : public nixlBasicDesc
{
      public:
	nixlBackendMD *metadataP;

	nixlMetaDesc() : metadataP(nullptr)
	{
	}
	nixlMetaDesc(uintptr_t address, size_t length, uint64_t device, nixlBackendMD *metadata)
	    : nixlBasicDesc(address, length, device), metadataP(metadata)
	{
	}
};

struct nixlRemoteMetaDesc : public nixlMetaDesc {
	std::string remoteAgent;
};

typedef nixlDescList<nixlMetaDesc> nixl_meta_dlist_t;
using nixl_remote_meta_dlist_t = nixlDescList<nixlRemoteMetaDesc>;
