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
#include <sys/socket.h>
#include <sys/un.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "parent.h"

static int	notify_fd = -1;

/* The socket is opened once, while the environment is still ours. */
void
notify_init(void)
{
	struct sockaddr_un	 sun;
	const char		*path;
	size_t			 len;

	if ((path = getenv("NOTIFY_SOCKET")) == NULL)
		return;
	len = strlen(path);
	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	if ((path[0] != '/' && path[0] != '@') ||
	    len >= sizeof(sun.sun_path)) {
		log_warnx("NOTIFY_SOCKET is not a usable address");
		return;
	}
	memcpy(sun.sun_path, path, len);
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	if ((notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0)) == -1 ||
	    connect(notify_fd, (struct sockaddr *)&sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) == -1)
		log_warn("NOTIFY_SOCKET");
	(void)unsetenv("NOTIFY_SOCKET");
}

void
notify_send(const char *text)
{
	if (notify_fd != -1 && send(notify_fd, text, strlen(text),
	    MSG_NOSIGNAL) == -1)
		log_debug("no answer from the service manager");
}
