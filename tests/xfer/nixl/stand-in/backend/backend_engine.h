/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stand-in for a header of NIXL, for tests (see nixl_types.h): the class that a backend derives
 * from. The order of the virtual functions is part of the interface.
 */
#include <mutex>
#include "backend/backend_aux.h"

struct nixlTelemetryEvent {
	uint32_t type;
	uint64_t value;
};

class nixlBackendEngine
{
      private:
	nixl_backend_t backendType;
	nixl_b_params_t customParams;
	std::vector<nixlTelemetryEvent> telemetryEvents_;
	std::mutex telemetryEventsMutex_;

      protected:
	bool initErr = false;
	const std::string localAgent;
	const bool enableTelemetry_;

      public:
	explicit nixlBackendEngine(const nixlBackendInitParams *params)
	    : backendType(params->type), customParams(*params->customParams),
	      localAgent(params->localAgent), enableTelemetry_(params->enableTelemetry_)
	{
	}
	nixlBackendEngine(const nixlBackendEngine &) = delete;
	void operator=(const nixlBackendEngine &) = delete;
	virtual ~nixlBackendEngine() = default;
	bool getInitErr() const noexcept
	{
		return initErr;
	}

	virtual bool supportsRemote() const = 0;
	virtual bool supportsLocal() const = 0;
	virtual bool supportsNotif() const = 0;
	virtual nixl_mem_list_t getSupportedMems() const = 0;
	virtual nixl_status_t registerMem(
		const nixlBlobDesc &memory, const nixl_mem_t &type, nixlBackendMD *&out) = 0;
	virtual nixl_status_t deregisterMem(nixlBackendMD *metadata) = 0;
	virtual nixl_status_t connect(const std::string &agent) = 0;
	virtual nixl_status_t disconnect(const std::string &agent) = 0;
	virtual nixl_status_t unloadMD(nixlBackendMD *metadata) = 0;
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
