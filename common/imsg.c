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
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "imsg.h"
#include "log.h"

#define IMSG_PER_WAKE	64	/* messages before other events get a turn */

struct imsg_out {
	TAILQ_ENTRY(imsg_out)	 io_entry;
	struct imsg_hdr		 io_hdr;
	int			 io_fds[IMSG_MAXFDS];
	uint8_t			 io_data[];
};

union imsg_control {
	struct cmsghdr	 hdr;
	char		 buf[CMSG_SPACE(sizeof(int) * IMSG_MAXFDS)];
};

static void	 imsg_readable(int, short, void *);
static void	 imsg_writable(int, short, void *);
static int	 imsg_write_one(struct imsg_chan *, struct imsg_out *);
static void	 imsg_end(struct imsg_chan *, enum imsg_end);
static void	 imsg_out_free(struct imsg_out *);

int
imsg_pair(int fds[2])
{
	return (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0, fds));
}

/* Takes the descriptor over if it succeeds. */
int
imsg_chan_open(struct imsg_chan *ic, const char *peer, int fd,
    struct event_base *base, const struct imsg_rule *rules, size_t nrules,
    void (*ended)(struct imsg_chan *, enum imsg_end), void *arg)
{
	memset(ic, 0, sizeof(*ic));
	ic->ic_peer = peer;
	ic->ic_fd = fd;
	ic->ic_arg = arg;
	ic->ic_ended = ended;
	ic->ic_base = base;
	ic->ic_high = IMSG_HIGH_DEFAULT;
	ic->ic_low = IMSG_LOW_DEFAULT;
	TAILQ_INIT(&ic->ic_outq);
	imsg_chan_table(ic, rules, nrules);

	if ((ic->ic_ev_read = event_new(base, fd, EV_READ | EV_PERSIST,
	    imsg_readable, ic)) != NULL &&
	    (ic->ic_ev_write = event_new(base, fd, EV_WRITE, imsg_writable,
	    ic)) != NULL && event_add(ic->ic_ev_read, NULL) == 0)
		return (0);
	if (ic->ic_ev_read != NULL)
		event_free(ic->ic_ev_read);
	if (ic->ic_ev_write != NULL)
		event_free(ic->ic_ev_write);
	ic->ic_fd = -1;
	return (-1);
}

/* For siblings, without whom there is nothing to do. */
void
imsg_chan_init(struct imsg_chan *ic, const char *peer, int fd,
    struct event_base *base, const struct imsg_rule *rules, size_t nrules,
    void (*ended)(struct imsg_chan *, enum imsg_end), void *arg)
{
	if (imsg_chan_open(ic, peer, fd, base, rules, nrules, ended, arg) ==
	    -1)
		fatalx("no event for the channel to %s", peer);
}

/* A channel's state may change what it accepts. */
void
imsg_chan_table(struct imsg_chan *ic, const struct imsg_rule *rules,
    size_t nrules)
{
	ic->ic_table.it_rules = rules;
	ic->ic_table.it_count = nrules;
}

void
imsg_chan_close(struct imsg_chan *ic)
{
	struct imsg_out	*io;

	if (ic->ic_fd == -1)
		return;
	if (ic->ic_freed != NULL)
		*ic->ic_freed = 1;
	event_free(ic->ic_ev_read);
	event_free(ic->ic_ev_write);
	ic->ic_ev_read = ic->ic_ev_write = NULL;
	while ((io = TAILQ_FIRST(&ic->ic_outq)) != NULL) {
		TAILQ_REMOVE(&ic->ic_outq, io, io_entry);
		imsg_out_free(io);
	}
	close(ic->ic_fd);
	ic->ic_fd = -1;
}

static void
imsg_out_free(struct imsg_out *io)
{
	uint32_t	 i;

	for (i = 0; i < io->io_hdr.ih_nfds; i++)
		close(io->io_fds[i]);
	freezero(io, sizeof(*io) + io->io_hdr.ih_len);
}

/* Says that the channel is over, once; the owner closes it. */
static void
imsg_end(struct imsg_chan *ic, enum imsg_end why)
{
	if (ic->ic_dead)
		return;
	ic->ic_dead = 1;
	event_del(ic->ic_ev_read);
	event_del(ic->ic_ev_write);
	ic->ic_ended(ic, why);
}

/*
 * One packet against a table: 0 and the rule, or -1 and what is wrong.
 */
int
imsg_check(const struct imsg_table *it, const void *packet, size_t len,
    unsigned int nfds, const struct imsg_rule **rule, struct imsg_hdr *hdr,
    char *error, size_t size)
{
	const struct imsg_rule	*r;
	size_t			 i;

	if (len < sizeof(*hdr)) {
		snprintf(error, size, "message of %zu bytes has no header",
		    len);
		return (-1);
	}
	memcpy(hdr, packet, sizeof(*hdr));
	for (i = 0, r = NULL; i < it->it_count; i++) {
		if (it->it_rules[i].ir_type == hdr->ih_type)
			r = &it->it_rules[i];
	}
	if (r == NULL) {
		snprintf(error, size, "message type %u is not for this edge",
		    hdr->ih_type);
		return (-1);
	}
	if (hdr->ih_len != len - sizeof(*hdr)) {
		snprintf(error, size, "%s says %u bytes and brings %zu",
		    r->ir_name, hdr->ih_len, len - sizeof(*hdr));
		return (-1);
	}
	if (hdr->ih_len < r->ir_minlen || hdr->ih_len > r->ir_maxlen) {
		snprintf(error, size, "%s has %u bytes, not %u to %u",
		    r->ir_name, hdr->ih_len, r->ir_minlen, r->ir_maxlen);
		return (-1);
	}
	if (hdr->ih_nfds != nfds || nfds != r->ir_nfds) {
		snprintf(error, size,
		    "%s says %u descriptors and brings %u, not %u",
		    r->ir_name, hdr->ih_nfds, nfds, r->ir_nfds);
		return (-1);
	}
	*rule = r;
	return (0);
}

/* Collects what came along, all of it, so that nothing can leak. */
static unsigned int
imsg_take_fds(struct msghdr *mh, int fds[IMSG_MAXFDS])
{
	struct cmsghdr	*cm;
	unsigned int	 i, n, got = 0;
	int		 fd;

	for (cm = CMSG_FIRSTHDR(mh); cm != NULL; cm = CMSG_NXTHDR(mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET ||
		    cm->cmsg_type != SCM_RIGHTS)
			continue;
		n = (unsigned int)((cm->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int),
			    sizeof(fd));
			if (got < IMSG_MAXFDS)
				fds[got++] = fd;
			else
				close(fd);
		}
	}
	return (got);
}

/* 1: a message was handled, 0: none there, -1: the channel has ended. */
static int
imsg_read_one(struct imsg_chan *ic)
{
	static uint8_t		 packet[sizeof(struct imsg_hdr) +
				    IMSG_MAXDATA];
	union imsg_control	 control;
	const struct imsg_rule	*rule;
	struct msghdr		 mh;
	struct iovec		 iov;
	struct imsg		 im;
	unsigned int		 i, nfds;
	ssize_t			 n;
	int			 freed = 0;

	memset(&mh, 0, sizeof(mh));
	iov.iov_base = packet;
	iov.iov_len = sizeof(packet);
	mh.msg_iov = &iov;
	mh.msg_iovlen = 1;
	mh.msg_control = control.buf;
	mh.msg_controllen = sizeof(control.buf);
	n = recvmsg(ic->ic_fd, &mh, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n == -1 && errno == ECONNRESET) {
		/* It left without reading ours; its own are still there. */
		snprintf(ic->ic_error, sizeof(ic->ic_error), "unread");
		return (1);
	}
	/* An empty packet reads like the end, but may bring descriptors. */
	nfds = n == -1 ? 0 : imsg_take_fds(&mh, im.im_fds);
	if (n <= 0) {
		for (i = 0; i < nfds; i++)
			close(im.im_fds[i]);
		imsg_end(ic, IMSG_END_EOF);
		return (-1);
	}
	for (i = nfds; i < IMSG_MAXFDS; i++)
		im.im_fds[i] = -1;
	im.im_data = packet + sizeof(im.im_hdr);
	if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		snprintf(ic->ic_error, sizeof(ic->ic_error),
		    "message %s", mh.msg_flags & MSG_TRUNC ? "too long" :
		    "lost descriptors on the way");
		n = -1;
	} else
		n = imsg_check(&ic->ic_table, packet, (size_t)n, nfds, &rule,
		    &im.im_hdr, ic->ic_error, sizeof(ic->ic_error));
	if (n == -1) {
		for (i = 0; i < nfds; i++)
			close(im.im_fds[i]);
		imsg_end(ic, IMSG_END_PROTOCOL);
		return (-1);
	}

	/* A handler may close the channel and free what holds it. */
	ic->ic_freed = &freed;
	rule->ir_handler(ic, &im);
	for (i = 0; i < nfds; i++) {
		if (im.im_fds[i] != -1)
			close(im.im_fds[i]);
	}
	if (freed)
		return (-1);
	ic->ic_freed = NULL;
	return (ic->ic_dead ? -1 : 1);
}

static void
imsg_readable(int fd __unused, short event __unused, void *arg)
{
	struct imsg_chan	*ic = arg;
	int			 i;

	/* Who leaves the loop does not want to hear the rest. */
	for (i = 0; i < IMSG_PER_WAKE; i++) {
		if (imsg_read_one(ic) != 1 ||
		    event_base_got_break(ic->ic_base))
			return;
	}
}

/* 0: sent or waiting for room, -1: the peer is gone. */
static int
imsg_write_one(struct imsg_chan *ic, struct imsg_out *io)
{
	union imsg_control	 control;
	struct msghdr		 mh;
	struct cmsghdr		*cm;
	struct iovec		 iov[2];

	memset(&mh, 0, sizeof(mh));
	iov[0].iov_base = &io->io_hdr;
	iov[0].iov_len = sizeof(io->io_hdr);
	iov[1].iov_base = io->io_data;
	iov[1].iov_len = io->io_hdr.ih_len;
	mh.msg_iov = iov;
	mh.msg_iovlen = 2;
	if (io->io_hdr.ih_nfds != 0) {
		memset(&control, 0, sizeof(control));
		mh.msg_control = control.buf;
		mh.msg_controllen = CMSG_SPACE(sizeof(int) *
		    io->io_hdr.ih_nfds);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int) * io->io_hdr.ih_nfds);
		memcpy(CMSG_DATA(cm), io->io_fds, sizeof(int) *
		    io->io_hdr.ih_nfds);
	}
	if (sendmsg(ic->ic_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) == -1) {
		/* ETOOMANYREFS: too many descriptors are in flight. */
		if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS ||
		    errno == ETOOMANYREFS)
			return (0);
		return (-1);
	}
	TAILQ_REMOVE(&ic->ic_outq, io, io_entry);
	ic->ic_queued--;
	imsg_out_free(io);
	return (1);
}

/* 1: all sent, 0: the socket is full, -1: the peer is gone. */
static int
imsg_write_all(struct imsg_chan *ic)
{
	struct imsg_out	*io;
	int		 n;

	while ((io = TAILQ_FIRST(&ic->ic_outq)) != NULL) {
		if ((n = imsg_write_one(ic, io)) != 1)
			return (n);
	}
	return (1);
}

static void
imsg_writable(int fd __unused, short event __unused, void *arg)
{
	struct imsg_chan	*ic = arg;

	if (imsg_write_all(ic) == -1) {
		snprintf(ic->ic_error, sizeof(ic->ic_error), "unread");
		/* One turn for the reader: there may be last words. */
		if (!ic->ic_unsent) {
			ic->ic_unsent = 1;
			event_add(ic->ic_ev_write, NULL);
		} else
			imsg_end(ic, IMSG_END_EOF);
		return;
	}
	if (ic->ic_dropped || ic->ic_queued > ic->ic_high) {
		imsg_end(ic, IMSG_END_OVERFLOW);
		return;
	}
	if (!TAILQ_EMPTY(&ic->ic_outq))
		event_add(ic->ic_ev_write, NULL);
	if (ic->ic_above_low && ic->ic_queued <= ic->ic_low) {
		ic->ic_above_low = 0;
		if (ic->ic_drained != NULL)
			ic->ic_drained(ic);
	}
}

/*
 * Sends everything that is queued, waiting at most so many milliseconds
 * in all.  For start-up and the last words before an exit.
 */
int
imsg_chan_flush(struct imsg_chan *ic, int timeout)
{
	struct pollfd	 pfd;
	int		 n, step;

	while (ic->ic_fd != -1 && (n = imsg_write_all(ic)) != 1) {
		if (n == -1 || timeout <= 0)
			return (-1);
		step = timeout < 10 ? timeout : 10;
		pfd.fd = ic->ic_fd;
		pfd.events = POLLOUT;
		(void)poll(&pfd, 1, step);
		timeout -= step;
	}
	return (0);
}

void
imsg_send(struct imsg_chan *ic, uint32_t type, uint32_t id, const void *data,
    size_t len)
{
	imsg_send_fds(ic, type, id, data, len, NULL, 0);
}

void
imsg_send_ibuf(struct imsg_chan *ic, uint32_t type, uint32_t id,
    const struct ibuf *ib, const int *fds, unsigned int nfds)
{
	if (ibuf_failed(ib))
		fatalx("%s: message %u to %s does not fit", __func__, type,
		    ic->ic_peer);
	imsg_send_fds(ic, type, id, ib->ib_data, ib->ib_wpos, fds, nfds);
}

/*
 * The descriptors are given away, whether the message arrives or not.  Past
 * the high water mark nothing more is queued, and the channel ends.
 */
void
imsg_send_fds(struct imsg_chan *ic, uint32_t type, uint32_t id,
    const void *data, size_t len, const int *fds, unsigned int nfds)
{
	struct imsg_out	*io;
	unsigned int	 i;
	int		 n;

	if (len > IMSG_MAXDATA || nfds > IMSG_MAXFDS)
		fatalx("%s: message %u to %s does not fit", __func__, type,
		    ic->ic_peer);
	if (ic->ic_fd == -1 || ic->ic_dead || ic->ic_queued > ic->ic_high) {
		for (i = 0; i < nfds; i++)
			close(fds[i]);
		/* Even if the queue drains now: a gap is not survived. */
		ic->ic_dropped = 1;
		return;
	}
	if ((io = calloc(1, sizeof(*io) + len)) == NULL)
		fatal("%s", __func__);
	io->io_hdr.ih_type = type;
	io->io_hdr.ih_len = (uint32_t)len;
	io->io_hdr.ih_id = id;
	io->io_hdr.ih_nfds = nfds;
	if (len != 0)
		memcpy(io->io_data, data, len);
	if (nfds != 0)
		memcpy(io->io_fds, fds, sizeof(int) * nfds);
	TAILQ_INSERT_TAIL(&ic->ic_outq, io, io_entry);
	ic->ic_queued++;

	/*
	 * Sent at once if nothing waits.  A failure is left to the event
	 * loop, so that no caller loses its channel under its feet.
	 */
	n = TAILQ_FIRST(&ic->ic_outq) == io ? imsg_write_one(ic, io) : 0;
	if (n == 1)
		return;
	if (ic->ic_queued > ic->ic_low)
		ic->ic_above_low = 1;
	event_add(ic->ic_ev_write, NULL);
	if (ic->ic_queued > ic->ic_high)
		event_active(ic->ic_ev_write, EV_WRITE, 0);
}

/* Moves a descriptor out of the message; the rest die with it. */
int
imsg_get_fd(struct imsg *im, unsigned int i)
{
	int	 fd;

	if (i >= im->im_hdr.ih_nfds)
		return (-1);
	fd = im->im_fds[i];
	im->im_fds[i] = -1;
	return (fd);
}

void
imsg_get_reader(const struct imsg *im, struct ibuf_reader *ir)
{
	ibuf_read(ir, im->im_data, im->im_hdr.ih_len);
}

/* The payload, if it is exactly that long. */
int
imsg_get_data(const struct imsg *im, void *data, size_t len)
{
	if (im->im_hdr.ih_len != len)
		return (-1);
	if (len != 0)
		memcpy(data, im->im_data, len);
	return (0);
}
