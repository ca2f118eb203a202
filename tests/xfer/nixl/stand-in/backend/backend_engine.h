/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stand-in for NIXL's headers: the interface of a backend engine. Not NIXL's text. The virtual
 * functions have the order, names and signatures of NIXL 1.4.0. The private members of NIXL's base
 * class are here only as far as the plugin sees them: objects have another size than NIXL's.
 */
#include "backend/types.h"

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
	nixl_thread_sync_t syncMode = {};
	bool enableTelemetry_ = false;
};

class nixlBackendReqH
{
      public:
	virtual ~nixlBackendReqH() = default;
};

class nixlBackendMD
{
      protected:
	bool isPrivateMD;

      public:
	explicit nixlBackendMD(bool isPrivate) : isPrivateMD(isPrivate)
	{
	}
	virtual ~nixlBackendMD() = default;
};

class nixlMetaDesc : public nixlBasicDesc
{
      public:
	nixlMetaDesc(uintptr_t at, size_t length, uint64_t device, nixlBackendMD *metadata)
	    : nixlBasicDesc(at, length, device), metadataP(metadata)
	{
	}

	nixlBackendMD *metadataP;
};

struct nixlRemoteMetaDesc : nixlMetaDesc {
	using nixlMetaDesc::nixlMetaDesc;
	std::string remoteAgent;
};

using nixl_meta_dlist_t = nixlDescList<nixlMetaDesc>;
using nixl_remote_meta_dlist_t = nixlDescList<nixlRemoteMetaDesc>;

class nixlBackendEngine
{
      private:
	nixl_backend_t backendType;
	nixl_b_params_t customParams;

      protected:
	bool initErr = false;
	const std::string localAgent;

      public:
	explicit nixlBackendEngine(const nixlBackendInitParams *params)
	    : backendType(params->type), customParams(*params->customParams),
	      localAgent(params->localAgent)
	{
	}
	nixlBackendEngine(const nixlBackendEngine &) = delete;
	void operator=(const nixlBackendEngine &) = delete;
	virtual ~nixlBackendEngine() = default;

	bool getInitErr() const
	{
		return initErr;
	}

	virtual bool supportsRemote() const = 0;
	virtual bool supportsLocal() const = 0;
	virtual bool supportsNotif() const = 0;
	virtual nixl_mem_list_t getSupportedMems() const = 0;
	virtual nixl_status_t registerMem(
		const nixlBlobDesc &mem, const nixl_mem_t &type, nixlBackendMD *&out) = 0;
	virtual nixl_status_t deregisterMem(nixlBackendMD *meta) = 0;
	virtual nixl_status_t connect(const std::string &agent) = 0;
	virtual nixl_status_t disconnect(const std::string &agent) = 0;
	virtual nixl_status_t unloadMD(nixlBackendMD *input) = 0;
	virtual nixl_status_t prepXfer(const nixl_xfer_op_t &operation,
		const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote,
		const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options = nullptr) const = 0;
	virtual nixl_status_t postXfer(const nixl_xfer_op_t &operation,
		const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote,
		const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options = nullptr) const = 0;
	virtual nixl_status_t checkXfer(nixlBackendReqH *handle) const = 0;
	virtual nixl_status_t releaseReqH(nixlBackendReqH *handle) const = 0;

	/* The plugin leaves these as they are. */
	virtual nixl_status_t prepMemView(const nixl_remote_meta_dlist_t &, nixlMemViewH &,
		const nixl_opt_b_args_t * = nullptr) const
	{
		return NIXL_ERR_NOT_SUPPORTED;
	}
	virtual nixl_status_t prepMemView(const nixl_meta_dlist_t &, nixlMemViewH &,
		const nixl_opt_b_args_t * = nullptr) const
	{
		return NIXL_ERR_NOT_SUPPORTED;
	}
	virtual void releaseMemView(nixlMemViewH) const
	{
	}

	/* Not pure: engines without remote transfers have none of these. */
	virtual nixl_status_t getPublicData(const nixlBackendMD *, std::string &) const
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t getConnInfo(std::string &) const
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t loadRemoteConnInfo(const std::string &, const std::string &)
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t loadRemoteMD(
		const nixlBlobDesc &, const nixl_mem_t &, const std::string &, nixlBackendMD *&)
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t loadLocalMD(nixlBackendMD *, nixlBackendMD *&)
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t getNotifs(notif_list_t &)
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t genNotif(const std::string &, const std::string &) const
	{
		return NIXL_ERR_BACKEND;
	}
	virtual nixl_status_t queryMem(
		const nixl_reg_dlist_t &, std::vector<nixl_query_resp_t> &) const
	{
		return NIXL_ERR_NOT_SUPPORTED;
	}
	virtual nixl_status_t estimateXferCost(const nixl_xfer_op_t &, const nixl_meta_dlist_t &,
		const nixl_meta_dlist_t &, const std::string &, nixlBackendReqH *const &,
		std::chrono::microseconds &, std::chrono::microseconds &, nixl_cost_t &,
		const nixl_opt_args_t * = nullptr) const
	{
		return NIXL_ERR_NOT_SUPPORTED;
	}
};
