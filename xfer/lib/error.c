/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences of errors, per thread; names of statuses. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/plain.h"
#include "xfer/error.h"
#include "xfer/hp3x.h"

static _Thread_local char sentence[256] = "no call of this thread has failed";

int hp3x_error_set(int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	hp3_plain(sentence);
	return error;
}

const char *hp3x_error(void)
{
	return sentence;
}

const char *hp3x_status_name(enum hp3x_status status)
{
	static const char *const name[] = {[HP3X_OK] = "OK",
		[HP3X_TIMED_OUT] = "TIMED_OUT",
		[HP3X_CANCELLED] = "CANCELLED",
		[HP3X_PEER_LOST] = "PEER_LOST",
		[HP3X_REFUSED] = "REFUSED",
		[HP3X_CLOSED] = "CLOSED"};

	return (size_t)status < sizeof(name) / sizeof(name[0]) ? name[status] : "unknown";
}
