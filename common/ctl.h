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

#ifndef CTL_H
#define CTL_H

#include <stdint.h>

#include "imsg.h"
#include "msg.h"

/*
 * The language of the control socket, SOCK_SEQPACKET messages between
 * sbxctl and the frontend.  A request carries CTL_VERSION as its id; the
 * answer is any number of data messages and then OK or FAIL.
 */

#define CTL_VERSION	1

enum ctl_type {
	/* sbxctl -> frontend */
	CTL_SHOW = 1000,
	CTL_SHOW_CONFIG,
	CTL_LOG,		/* uint32: level of syslog.h */
	CTL_RELOAD,
	CTL_STOP,

	/* frontend -> sbxctl */
	CTL_SUMMARY = 2000,
	CTL_PROCESS,		/* struct msg_procinfo */
	CTL_TEXT,		/* fd: sealed memfd */
	CTL_OK,
	CTL_FAIL		/* code and text, as in msg_result_send() */
};

#define CTL_VERSIONLEN	32
#define CTL_TEXT_MAX	(4 * 1024 * 1024)

struct ctl_summary {
	char		 su_version[CTL_VERSIONLEN];
	uint64_t	 su_uptime;		/* ms */
	uint64_t	 su_requests;
	uint64_t	 su_accepted;		/* connections ever */
	uint64_t	 su_connections;	/* now */
	uint64_t	 su_refused;		/* over a limit */
	uint64_t	 su_loglevel;
};

void	 ctl_summary_send(struct imsg_chan *, const struct ctl_summary *);
int	 ctl_summary_recv(const struct imsg *, struct ctl_summary *);

#endif /* CTL_H */
