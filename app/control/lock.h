/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_LOCK_H
#define HP3D_CONTROL_LOCK_H
/*
 * One process at a time: a file that is open to its owner alone, so that no other user can hold the
 * lock, and that tells the process id of who has it. The kernel gives it back when a process ends,
 * however that happens.
 */

/*
 * The lock's descriptor, or a negative errno: -EWOULDBLOCK: `wait_ms` have passed and another
 * process has it, *holder is its process id (0: it has not said yet).
 */
int hp3d_lock_take(const char *path, unsigned wait_ms, int *holder);
/* Removes the file, too. */
void hp3d_lock_free(const char *path, int lock);

#endif
