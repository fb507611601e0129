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

#include <sys/types.h>

#include <string.h>

#include "ctl.h"

void
ctl_summary_send(struct imsg_chan *ic, const struct ctl_summary *su)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_str(&ib, su->su_version);
	ibuf_add_u64(&ib, su->su_uptime);
	ibuf_add_u64(&ib, su->su_requests);
	ibuf_add_u64(&ib, su->su_accepted);
	ibuf_add_u64(&ib, su->su_connections);
	ibuf_add_u64(&ib, su->su_refused);
	ibuf_add_u64(&ib, su->su_loglevel);
	imsg_send_ibuf(ic, CTL_SUMMARY, CTL_VERSION, &ib, NULL, 0);
}

int
ctl_summary_recv(const struct imsg *im, struct ctl_summary *su)
{
	struct ibuf_reader	 ir;

	memset(su, 0, sizeof(*su));
	imsg_get_reader(im, &ir);
	ibuf_get_str(&ir, su->su_version, sizeof(su->su_version));
	ibuf_get_u64(&ir, &su->su_uptime);
	ibuf_get_u64(&ir, &su->su_requests);
	ibuf_get_u64(&ir, &su->su_accepted);
	ibuf_get_u64(&ir, &su->su_connections);
	ibuf_get_u64(&ir, &su->su_refused);
	ibuf_get_u64(&ir, &su->su_loglevel);
	return (ibuf_end(&ir));
}
