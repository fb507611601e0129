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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compat.h"
#include "imsg.h"

/*
 * One end of a channel is the code under test, the other a raw socket that
 * sends whatever it likes.
 */

enum { T_NONE = 1, T_FIXED, T_VAR, T_ONEFD, T_FDS, T_CLOSE };

static struct event_base	*base;
static struct imsg_chan		 chan;
static int			 raw;
static unsigned int		 handled;
static int			 ended;		/* 1 + enum imsg_end */
static struct imsg_hdr		 last;
static uint8_t			 lastdata[IMSG_MAXDATA];
static int			 taken;
static int			 drained;

static void
on_message(struct imsg_chan *ic __unused, struct imsg *im)
{
	handled++;
	last = im->im_hdr;
	memcpy(lastdata, im->im_data, im->im_hdr.ih_len);
	if (im->im_hdr.ih_type == T_ONEFD)
		taken = imsg_get_fd(im, 0);
}

static void
on_close(struct imsg_chan *ic, struct imsg *im __unused)
{
	handled++;
	imsg_chan_close(ic);
}

static void
on_end(struct imsg_chan *ic __unused, enum imsg_end why)
{
	ended = 1 + (int)why;
}

static void
on_drained(struct imsg_chan *ic __unused)
{
	drained++;
}

static const struct imsg_rule rules[] = {
	{ T_NONE, "NONE", 0, 0, 0, on_message },
	{ T_FIXED, "FIXED", 8, 8, 0, on_message },
	{ T_VAR, "VAR", 1, IMSG_MAXDATA, 0, on_message },
	{ T_ONEFD, "ONEFD", 0, 0, 1, on_message },
	{ T_FDS, "FDS", 0, 0, IMSG_MAXFDS, on_message },
	{ T_CLOSE, "CLOSE", 0, 0, 0, on_close },
};

static int
count_fds(void)
{
	DIR	*dir;
	int	 n = 0;

	assert_non_null(dir = opendir("/proc/self/fd"));
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return (n);
}

static int
setup(void **state __unused)
{
	int	 fds[2];

	handled = 0;
	ended = 0;
	drained = 0;
	taken = -1;
	memset(&last, 0, sizeof(last));
	assert_non_null(base = event_base_new());
	assert_int_equal(imsg_pair(fds), 0);
	raw = fds[1];
	imsg_chan_init(&chan, "test", fds[0], base, rules, nitems(rules),
	    on_end, NULL);
	return (0);
}

static int
teardown(void **state __unused)
{
	imsg_chan_close(&chan);
	if (raw != -1)
		close(raw);
	if (taken != -1)
		close(taken);
	event_base_free(base);
	return (0);
}

static void
turn(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

/* Sends a packet whose header may lie. */
static void
send_raw(uint32_t type, uint32_t len, uint32_t nfds, const void *data,
    size_t datalen, const int *fds, size_t realfds)
{
	struct imsg_hdr	 hdr = { type, len, 7, nfds };
	struct msghdr	 mh;
	struct cmsghdr	*cm;
	struct iovec	 iov[2];
	char		 control[CMSG_SPACE(sizeof(int) * 253)];

	memset(&mh, 0, sizeof(mh));
	memset(control, 0, sizeof(control));
	iov[0].iov_base = &hdr;
	iov[0].iov_len = sizeof(hdr);
	iov[1].iov_base = (void *)(uintptr_t)data;
	iov[1].iov_len = datalen;
	mh.msg_iov = iov;
	mh.msg_iovlen = 2;
	if (realfds != 0) {
		mh.msg_control = control;
		mh.msg_controllen = CMSG_SPACE(sizeof(int) * realfds);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int) * realfds);
		memcpy(CMSG_DATA(cm), fds, sizeof(int) * realfds);
	}
	assert_int_not_equal(sendmsg(raw, &mh, 0), -1);
}

static void
test_good(void **state __unused)
{
	send_raw(T_NONE, 0, 0, NULL, 0, NULL, 0);
	send_raw(T_FIXED, 8, 0, "12345678", 8, NULL, 0);
	turn();
	assert_int_equal(handled, 2);
	assert_int_equal(ended, 0);
	assert_int_equal(last.ih_type, T_FIXED);
	assert_int_equal(last.ih_id, 7);
	assert_memory_equal(lastdata, "12345678", 8);
}

static void
test_largest(void **state __unused)
{
	static uint8_t	 data[IMSG_MAXDATA];

	memset(data, 0xa5, sizeof(data));
	send_raw(T_VAR, sizeof(data), 0, data, sizeof(data), NULL, 0);
	turn();
	assert_int_equal(handled, 1);
	assert_memory_equal(lastdata, data, sizeof(data));
}

/* Each is one packet that must end the channel and reach no handler. */
static void
test_malformed(void **state)
{
	static uint8_t		 data[2 * IMSG_MAXDATA];
	static const struct {
		uint32_t	 type, len, nfds;
		size_t		 datalen;
		const char	*error;
	} cases[] = {
		{ 0, 0, 0, 0, "not for this edge" },
		{ 99, 0, 0, 0, "not for this edge" },
		{ UINT32_MAX, 0, 0, 0, "not for this edge" },
		{ T_NONE, 1, 0, 0, "brings 0" },
		{ T_NONE, 0, 0, 1, "brings 1" },
		{ T_NONE, 1, 0, 1, "not 0 to 0" },
		{ T_NONE, UINT32_MAX, 0, 0, "brings 0" },
		{ T_NONE, 0x80000000U, 0, 0, "brings 0" },
		{ T_FIXED, 7, 0, 7, "not 8 to 8" },
		{ T_FIXED, 9, 0, 9, "not 8 to 8" },
		{ T_FIXED, 8, 0, 7, "brings 7" },
		{ T_FIXED, 0, 0, 8, "brings 8" },
		{ T_VAR, 0, 0, 0, "not 1 to" },
		{ T_VAR, IMSG_MAXDATA + 1, 0, IMSG_MAXDATA + 1, "too long" },
		{ T_VAR, 10, 0, IMSG_MAXDATA + 100, "too long" },
		{ T_NONE, 0, 1, 0, "descriptors" },
		{ T_NONE, 0, UINT32_MAX, 0, "descriptors" },
		{ T_ONEFD, 0, 0, 0, "descriptors" },
		{ T_ONEFD, 0, 1, 0, "descriptors" },
		{ T_FDS, 0, 8, 0, "descriptors" },
	};
	size_t	 i;

	for (i = 0; i < nitems(cases); i++) {
		if (i != 0)
			setup(state);
		send_raw(cases[i].type, cases[i].len, cases[i].nfds, data,
		    cases[i].datalen, NULL, 0);
		/* What follows a breach is not looked at either. */
		send_raw(T_NONE, 0, 0, NULL, 0, NULL, 0);
		turn();
		assert_int_equal(handled, 0);
		assert_int_equal(ended, 1 + IMSG_END_PROTOCOL);
		if (strstr(chan.ic_error, cases[i].error) == NULL)
			fail_msg("case %zu: \"%s\"", i, chan.ic_error);
		if (i + 1 < nitems(cases))
			teardown(state);
	}
}

static void
test_short_packets(void **state)
{
	struct imsg_hdr	 hdr = { T_NONE, 0, 0, 0 };
	size_t		 len;

	for (len = 1; len < sizeof(hdr); len++) {
		if (len != 1)
			setup(state);
		assert_int_equal(send(raw, &hdr, len, 0), (ssize_t)len);
		turn();
		assert_int_equal(ended, 1 + IMSG_END_PROTOCOL);
		assert_int_equal(handled, 0);
		if (len + 1 < sizeof(hdr))
			teardown(state);
	}
}

static void
test_fd_passed(void **state __unused)
{
	int	 fds[2];
	char	 c = 0;

	assert_int_equal(pipe(fds), 0);
	send_raw(T_ONEFD, 0, 1, NULL, 0, &fds[1], 1);
	close(fds[1]);
	turn();
	assert_int_equal(handled, 1);
	assert_int_not_equal(taken, -1);
	assert_int_equal(fcntl(taken, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(taken, "x", 1), 1);
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(c, 'x');
	close(fds[0]);
}

/* Descriptors nobody asked for, in any number, are closed. */
static void
test_fd_storm(void **state)
{
	static const struct {
		uint32_t	 type, said;
		size_t		 real;
	} cases[] = {
		{ T_NONE, 0, 1 }, { T_NONE, 1, 1 }, { T_NONE, 0, 8 },
		{ T_ONEFD, 1, 2 }, { T_ONEFD, 2, 2 }, { T_ONEFD, 1, 8 },
		{ T_FDS, 8, 7 }, { T_FDS, 8, 9 }, { T_FDS, 8, 253 },
		{ T_NONE, 0, 253 }, { 99, 0, 8 },
	};
	int	 fds[253], before;
	size_t	 i, j;

	for (j = 0; j < nitems(fds); j++)
		fds[j] = 0;
	for (i = 0; i < nitems(cases); i++) {
		if (i != 0)
			setup(state);
		before = count_fds();
		send_raw(cases[i].type, 0, cases[i].said, NULL, 0, fds,
		    cases[i].real);
		turn();
		assert_int_equal(handled, 0);
		assert_int_equal(ended, 1 + IMSG_END_PROTOCOL);
		assert_int_equal(count_fds(), before);
		if (i + 1 < nitems(cases))
			teardown(state);
	}
}

/* All eight arrive; those the handler leaves are closed. */
static void
test_fds_untaken(void **state __unused)
{
	int	 fds[IMSG_MAXFDS] = { 0 }, before = count_fds();

	send_raw(T_FDS, 0, IMSG_MAXFDS, NULL, 0, fds, IMSG_MAXFDS);
	turn();
	assert_int_equal(handled, 1);
	assert_int_equal(count_fds(), before);
}

/* A full table loses descriptors on the way: that is no good message. */
static void
test_fd_table_full(void **state __unused)
{
	struct rlimit	 rl, old;
	int		 fd = 0, last_fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	send_raw(T_ONEFD, 0, 1, NULL, 0, &fd, 1);
	last_fd = dup(0);
	close(last_fd);
	rl = old;
	rl.rlim_cur = (rlim_t)last_fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &rl), 0);
	turn();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(handled, 0);
	assert_int_equal(ended, 1 + IMSG_END_PROTOCOL);
	assert_non_null(strstr(chan.ic_error, "lost descriptors"));
}

static void
test_eof(void **state __unused)
{
	send_raw(T_NONE, 0, 0, NULL, 0, NULL, 0);
	close(raw);
	raw = -1;
	turn();
	assert_int_equal(handled, 1);
	assert_int_equal(ended, 1 + IMSG_END_EOF);
}

static void
test_close_in_handler(void **state __unused)
{
	int	 fds[IMSG_MAXFDS] = { 0 }, before = count_fds();

	send_raw(T_CLOSE, 0, 0, NULL, 0, NULL, 0);
	send_raw(T_FDS, 0, IMSG_MAXFDS, NULL, 0, fds, IMSG_MAXFDS);
	turn();
	assert_int_equal(handled, 1);
	assert_int_equal(ended, 0);
	assert_int_equal(chan.ic_fd, -1);
	assert_int_equal(count_fds(), before - 1);
}

/* What is sent arrives whole, in order, with its descriptors. */
static void
test_send_order(void **state __unused)
{
	struct {
		struct imsg_hdr	 hdr;
		uint32_t	 n;
	} packet;
	uint32_t	 i;
	ssize_t		 len;

	for (i = 0; i < 2000; i++)
		imsg_send(&chan, T_VAR, i, &i, sizeof(i));
	for (i = 0; i < 2000; i++) {
		while ((len = recv(raw, &packet, sizeof(packet), 0)) == -1 &&
		    errno == EAGAIN)
			turn();
		assert_int_equal(len, sizeof(packet));
		assert_int_equal(packet.hdr.ih_id, i);
		assert_int_equal(packet.hdr.ih_len, sizeof(i));
		assert_int_equal(packet.n, i);
	}
}

static void
test_send_gives_fd_away(void **state __unused)
{
	int	 before = count_fds(), fds[IMSG_MAXFDS], i;

	for (i = 0; i < IMSG_MAXFDS; i++)
		assert_int_not_equal(fds[i] = dup(0), -1);
	imsg_send_fds(&chan, T_FDS, 0, NULL, 0, fds, IMSG_MAXFDS);
	turn();
	assert_int_equal(count_fds(), before);
}

static void
test_water_marks(void **state __unused)
{
	static uint8_t	 data[IMSG_MAXDATA];
	uint8_t		 packet[sizeof(data) + sizeof(struct imsg_hdr)];
	int		 i;

	chan.ic_low = 4;
	chan.ic_high = 1000;
	chan.ic_drained = on_drained;
	for (i = 0; i < 500; i++)
		imsg_send(&chan, T_VAR, 0, data, sizeof(data));
	assert_true(chan.ic_queued > 4);
	turn();
	assert_int_equal(drained, 0);
	for (i = 0; i < 500; i++) {
		while (recv(raw, packet, sizeof(packet), 0) == -1 &&
		    errno == EAGAIN)
			turn();
	}
	turn();
	assert_int_equal(drained, 1);
	assert_int_equal(chan.ic_queued, 0);
	assert_int_equal(ended, 0);
}

/* A peer that never reads costs the high mark and its channel. */
static void
test_overflow(void **state __unused)
{
	static uint8_t	 data[IMSG_MAXDATA];
	int		 i;

	chan.ic_high = 50;
	for (i = 0; i < 5000; i++)
		imsg_send(&chan, T_VAR, 0, data, sizeof(data));
	assert_true(chan.ic_queued <= 51);
	turn();
	assert_int_equal(ended, 1 + IMSG_END_OVERFLOW);
}

static void
test_flush(void **state __unused)
{
	static uint8_t	 data[IMSG_MAXDATA];
	int		 i;

	imsg_send(&chan, T_NONE, 0, NULL, 0);
	assert_int_equal(imsg_chan_flush(&chan, 100), 0);
	for (i = 0; i < 500; i++)
		imsg_send(&chan, T_VAR, 0, data, sizeof(data));
	assert_int_equal(imsg_chan_flush(&chan, 20), -1);
}

static void
test_get_fd_bounds(void **state __unused)
{
	struct imsg	 im;

	memset(&im, 0, sizeof(im));
	im.im_hdr.ih_nfds = 1;
	im.im_fds[0] = 42;
	assert_int_equal(imsg_get_fd(&im, 1), -1);
	assert_int_equal(imsg_get_fd(&im, UINT32_MAX), -1);
	assert_int_equal(imsg_get_fd(&im, 0), 42);
	assert_int_equal(imsg_get_fd(&im, 0), -1);
}

int
main(void)
{
#define T(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest	 tests[] = {
		T(test_good), T(test_largest), T(test_malformed),
		T(test_short_packets), T(test_fd_passed), T(test_fd_storm),
		T(test_fds_untaken), T(test_fd_table_full), T(test_eof),
		T(test_close_in_handler), T(test_send_order),
		T(test_send_gives_fd_away), T(test_water_marks),
		T(test_overflow), T(test_flush),
		cmocka_unit_test(test_get_fd_bounds),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
