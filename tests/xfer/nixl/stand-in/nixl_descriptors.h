/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Stand-in for a header of NIXL, for tests: descriptors, and lists of them (see nixl_types.h). */
#include "nixl_types.h"

class nixlBasicDesc
{
      public:
	uintptr_t addr;
	size_t len;
	uint64_t devId;

	nixlBasicDesc() = default;
	nixlBasicDesc(const uintptr_t &address, const size_t &length, const uint64_t &device)
	    : addr(address), len(length), devId(device)
	{
	}
};

class nixlBlobDesc : public nixlBasicDesc
{
      public:
	nixl_blob_t metaInfo;

	using nixlBasicDesc::nixlBasicDesc;
};

template <class T> class nixlDescList
{
      protected:
	nixl_mem_t type;
	std::vector<T> descs;

      public:
	nixlDescList(const nixl_mem_t &of, const int &n = 0) : type(of), descs((size_t)n)
	{
	}
	virtual ~nixlDescList() = default;
	nixl_mem_t getType() const
	{
		return type;
	}
	int descCount() const
	{
		return (int)descs.size();
	}
	const T &operator[](size_t i) const
	{
		return descs[i];
	}
	virtual void resize(const size_t &n)
	{
		descs.resize(n);
	}
	virtual void addDesc(const T &descriptor)
	{
		descs.push_back(descriptor);
	}
	virtual int getIndex(const nixlBasicDesc &wanted) const
	{
		for (size_t i = 0; i < descs.size(); i++)
			if (descs[i].addr == wanted.addr && descs[i].len == wanted.len)
				return (int)i;
		return NIXL_ERR_NOT_FOUND;
	}
};

using nixl_reg_dlist_t = nixlDescList<nixlBlobDesc>;
