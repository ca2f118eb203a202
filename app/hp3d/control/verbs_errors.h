/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Names and meanings of the errors with which moves fail in verbs mode (app/verbs/share.h). The
 * table in docs/guide/verbs.md has the same errors.
 */

/* Never NULL; an error that the table lacks comes from the call of a provider. */
const char *hp3d_verbs_error_name(int error);
const char *hp3d_verbs_error_meaning(int error);
