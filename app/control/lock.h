/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_LOCK_H
#define HP3D_CONTROL_LOCK_H
/*
 * A lock for one process at a time: a file that only its owner can open, so that no other user can
 * take the lock. The file has the holder's process id. The kernel releases the lock when the
 * process ends.
 */

/*
 * Returns the lock's descriptor, or a negative errno. -EWOULDBLOCK: another process still has the
 * lock after `wait_ms`; *holder: the id of that process (0: not written yet).
 */
int hp3d_lock_take(const char *path, unsigned wait_ms, int *holder);
/* Removes the file, too. */
void hp3d_lock_free(const char *path, int lock);

#endif
