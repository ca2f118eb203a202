/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_PAGE_H
#define HP3_APP_FLEET_PAGE_H
/* page.html as a text (embed.py). */
extern const char fleet_page[];
#endif
