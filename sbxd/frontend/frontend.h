/*
 * Copyright (c) 2026 The sbxd authors
 *
 * Permission to use, copy, modify, and distribute this software for any
 * purpose with or without fee is hereby granted, provided that the above
 * copyright notice and this permission notice appear in all copies.
 *
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
 * WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
 * MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
 * ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
 * WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
 * ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
 * OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */

#ifndef FRONTEND_H
#define FRONTEND_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "imsg.h"

/* frontend.c */
const char		*frontend_unhealthy(void);
uint64_t		 frontend_uptime(void);
const struct http_stats	*frontend_stats(void);
void			 frontend_ask_parent(uint32_t, uint32_t,
			    const void *, size_t);

/* routes.c */
extern const struct http_route	frontend_routes[];
extern const size_t		frontend_nroutes;

/* control.c */
void	 control_init(struct event_base *);
int	 control_listen(int, uint32_t, uint32_t);
void	 control_start(void);
void	 control_proc(struct imsg_chan *, struct imsg *);
void	 control_text(struct imsg_chan *, struct imsg *);
void	 control_result(struct imsg_chan *, struct imsg *);

/* proxy.c */
int	 proxy_listen(struct event_base *, uint32_t, int);
void	 proxy_start(void);
void	 proxy_keep_none(void);
int	 proxy_keep(uint32_t);
void	 proxy_sweep(void);

#endif /* FRONTEND_H */
