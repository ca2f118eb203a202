/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of a domain. A caller holds `turn` while it waits for `lock`. The thread of the domain
 * takes `lock` again soon after it has released it, but needs `turn` for it, too. So it waits until
 * the caller has had the lock.
 */
#include "xfer/lib/internal.h"

void hp3x_lock(struct hp3x_domain *d)
{
	pthread_mutex_lock(&d->turn);
	pthread_mutex_lock(&d->lock);
	pthread_mutex_unlock(&d->turn);
}

void hp3x_unlock(struct hp3x_domain *d)
{
	pthread_mutex_unlock(&d->lock);
}
