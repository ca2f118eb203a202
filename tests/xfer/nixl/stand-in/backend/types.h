/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stand-in for NIXL's headers: types. Not NIXL's text. It has the names, values and layouts that a
 * backend plugin of NIXL 1.4.0 uses, so that libplugin_HP3.so can be built and driven without NIXL.
 * Descriptors lack the members that are functions of NIXL's library.
 */
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

enum nixl_mem_t { DRAM_SEG, VRAM_SEG, BLK_SEG, OBJ_SEG, FILE_SEG };
enum nixl_xfer_op_t { NIXL_READ, NIXL_WRITE };
enum nixl_status_t {
	NIXL_IN_PROG = 1,
	NIXL_SUCCESS = 0,
	NIXL_ERR_NOT_POSTED = -1,
	NIXL_ERR_INVALID_PARAM = -2,
	NIXL_ERR_BACKEND = -3,
	NIXL_ERR_NOT_FOUND = -4,
	NIXL_ERR_MISMATCH = -5,
	NIXL_ERR_NOT_ALLOWED = -6,
	NIXL_ERR_REPOST_ACTIVE = -7,
	NIXL_ERR_UNKNOWN = -8,
	NIXL_ERR_NOT_SUPPORTED = -9,
	NIXL_ERR_REMOTE_DISCONNECT = -10,
	NIXL_ERR_CANCELED = -11,
};
enum class nixl_thread_sync_t { NIXL_THREAD_SYNC_NONE };
enum class nixl_cost_t { ANALYTICAL_BACKEND };

using nixl_backend_t = std::string;
using nixl_blob_t = std::string;
using nixl_mem_list_t = std::vector<nixl_mem_t>;
using nixl_b_params_t = std::unordered_map<std::string, std::string>;
using nixl_query_resp_t = std::optional<nixl_b_params_t>;
using nixlMemViewH = void *;
using notif_list_t = std::vector<std::pair<std::string, std::string>>;

struct nixlAgentOptionalArgs; /* of calls that the plugin does not have */
using nixl_opt_args_t = nixlAgentOptionalArgs;

class nixlBasicDesc
{
      public:
	nixlBasicDesc() = default;
	nixlBasicDesc(const uintptr_t &at, const size_t &length, const uint64_t &device)
	    : addr(at), len(length), devId(device)
	{
	}

	uintptr_t addr;
	size_t len;
	uint64_t devId;
};

class nixlBlobDesc : public nixlBasicDesc
{
      public:
	using nixlBasicDesc::nixlBasicDesc;
	nixl_blob_t metaInfo;
};

template <class T> class nixlDescList
{
      protected:
	nixl_mem_t type;
	std::vector<T> descs;

      public:
	explicit nixlDescList(const nixl_mem_t &of) : type(of)
	{
	}
	virtual ~nixlDescList() = default;
	nixl_mem_t getType() const
	{
		return type;
	}
	int descCount() const
	{
		return static_cast<int>(descs.size());
	}
	const T &operator[](size_t index) const
	{
		return descs[index];
	}
	virtual void addDesc(const T &desc)
	{
		descs.push_back(desc);
	}
};

using nixl_reg_dlist_t = nixlDescList<nixlBlobDesc>;
