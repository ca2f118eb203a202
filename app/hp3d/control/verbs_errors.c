/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/verbs_errors.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* X(error, meaning) */
#define ERRORS(X)                                                                                  \
	X(EPERM,                                                                                   \
		"the peer may READ, so its queue pair has to be held meanwhile, and was not. The " \
		"peer needs hp3d in verbs mode, the library in the application, and a common key " \
		"(hp3ctl peers). If it has all of these, its queue pair was moving, was held a "   \
		"moment ago, or cannot be held (hp3ctl qps at the peer). Such a queue pair stays " \
		"on a dead path")                                                                  \
	X(ENODATA, "no post has completed through the library; a GPU or rc_mlx5 may post")         \
	X(ENOLCK, "the application uses thread domains or MLX5_SINGLE_THREADED, so only its own "  \
		  "thread may post")                                                               \
	X(EOPNOTSUPP, "the RNIC cannot move queue pairs")                                          \
	X(ENOBUFS, "the application posted more than the library can hold")                        \
	X(ETIMEDOUT, "the queue pair did not drain in time, or hp3d did not respond")              \
	X(EIO, "the queue pair is in the error state")                                             \
	X(ECANCELED, "the application moved the queue pair out of RTS, or destroyed it")           \
	X(ENOTCONN, "the queue pair is not in RTS")                                                \
	X(EBUSY, "another move of the queue pair, or of its peer, is under way")                   \
	X(EINVAL, "the command or the port does not exist")                                        \
	X(ENOMEM, "there was no memory for the posts to be held")

const char *hp3d_verbs_error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name != NULL ? name : "unknown";
}

const char *hp3d_verbs_error_meaning(int error)
{
	static const struct {
		int error;
		const char *meaning;
	} all[] = {
#define X(error, meaning) {error, meaning},
		ERRORS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].error == error)
			return all[i].meaning;
	return "a call of the RNIC's provider failed with this error";
}
