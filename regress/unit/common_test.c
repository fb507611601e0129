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
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <cmocka.h>

#include "compat.h"
#include "conf_msg.h"
#include "confine.h"
#include "ibuf.h"
#include "log.h"
#include "msg.h"
#include "utf8.h"
#include "util.h"

/* ibuf */

static void
test_ibuf_round_trip(void **state __unused)
{
	struct ibuf		 ib;
	struct ibuf_reader	 ir;
	uint64_t		 u64;
	uint32_t		 u32;
	uint16_t		 u16;
	char			 s[8];

	ibuf_init(&ib);
	ibuf_add_u16(&ib, 0xabcd);
	ibuf_add_u32(&ib, 0x12345678);
	ibuf_add_u64(&ib, UINT64_MAX - 1);
	ibuf_add_str(&ib, "");
	ibuf_add_str(&ib, "1234567");
	assert_false(ibuf_failed(&ib));
	ibuf_read(&ir, ib.ib_data, ib.ib_wpos);
	assert_int_equal(ibuf_get_u16(&ir, &u16), 0);
	assert_int_equal(u16, 0xabcd);
	assert_int_equal(ibuf_get_u32(&ir, &u32), 0);
	assert_int_equal(u32, 0x12345678);
	assert_int_equal(ibuf_get_u64(&ir, &u64), 0);
	assert_true(u64 == UINT64_MAX - 1);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), 0);
	assert_string_equal(s, "");
	assert_int_equal(ibuf_end(&ir), -1);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), 0);
	assert_string_equal(s, "1234567");
	assert_int_equal(ibuf_end(&ir), 0);
}

static void
test_ibuf_bounds(void **state __unused)
{
	static char		 big[IBUF_MAX + 1];
	struct ibuf		 ib;
	struct ibuf_reader	 ir;
	uint32_t		 u32;
	char			 s[4];

	ibuf_init(&ib);
	ibuf_add(&ib, big, IBUF_MAX);
	assert_false(ibuf_failed(&ib));
	ibuf_add(&ib, big, 1);
	assert_true(ibuf_failed(&ib));
	ibuf_init(&ib);
	ibuf_add(&ib, big, IBUF_MAX + 1);
	assert_true(ibuf_failed(&ib));
	ibuf_add(&ib, big, 0);
	assert_true(ibuf_failed(&ib));

	/* A length that is larger than what follows. */
	ibuf_read(&ir, "\x05\x00""ab", 4);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), -1);
	/* One that does not fit the receiver. */
	ibuf_read(&ir, "\x04\x00""abcd", 6);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), -1);
	/* A NUL inside. */
	ibuf_read(&ir, "\x03\x00""a\0b", 5);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), -1);
	/* Half a length, nothing at all; a failure sticks. */
	ibuf_read(&ir, "\x03", 1);
	assert_int_equal(ibuf_get_str(&ir, s, sizeof(s)), -1);
	ibuf_read(&ir, "abc", 3);
	assert_int_equal(ibuf_get_u32(&ir, &u32), -1);
	assert_int_equal(ibuf_get(&ir, s, 1), -1);
	assert_int_equal(ibuf_end(&ir), -1);
	ibuf_read(&ir, NULL, 0);
	assert_int_equal(ibuf_end(&ir), 0);
}

/* Compound messages: what a receiver must not believe. */

static void
make_imsg(struct imsg *im, uint32_t type, const struct ibuf *ib)
{
	memset(im, 0, sizeof(*im));
	im->im_hdr.ih_type = type;
	im->im_hdr.ih_len = (uint32_t)ib->ib_wpos;
	im->im_data = ib->ib_data;
}

static void
add_boot(struct ibuf *ib, uint32_t setuser, uint32_t uid, uint32_t gid,
    uint32_t level)
{
	ibuf_init(ib);
	ibuf_add_u32(ib, setuser);
	ibuf_add_u32(ib, uid);
	ibuf_add_u32(ib, gid);
	ibuf_add_u32(ib, 0);
	ibuf_add_u32(ib, level);
	ibuf_add_u32(ib, 0);
	ibuf_add_str(ib, "/empty");
}

static void
test_msg_boot(void **state __unused)
{
	struct ibuf	 ib;
	struct imsg	 im;
	struct msg_boot	 mb;

	add_boot(&ib, 1, 10, 20, 6);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), 0);
	assert_string_equal(mb.mb_chroot, "/empty");
	add_boot(&ib, 1, 0, 20, 6);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), -1);
	add_boot(&ib, 1, 10, 0, 6);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), -1);
	add_boot(&ib, 2, 10, 20, 6);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), -1);
	add_boot(&ib, 1, 10, 20, 8);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), -1);
	/* Something left over. */
	add_boot(&ib, 1, 10, 20, 6);
	ibuf_add(&ib, "x", 1);
	make_imsg(&im, MSG_BOOT, &ib);
	assert_int_equal(msg_boot_recv(&im, &mb), -1);
}

static void
test_conf_values_range(void **state __unused)
{
	struct conf_set	*cs;
	struct ibuf	 ib;
	struct imsg	 im;
	uint64_t	 values[SET_COUNT];
	int		 i;

	for (i = -1; i < 2 * SET_COUNT; i++) {
		setting_defaults(values);
		if (i >= 0 && i < SET_COUNT)
			values[i] = settings[i].sd_max + 1;
		else if (i >= SET_COUNT && settings[i - SET_COUNT].sd_min > 0)
			values[i - SET_COUNT] =
			    settings[i - SET_COUNT].sd_min - 1;
		else if (i >= SET_COUNT)
			continue;
		ibuf_init(&ib);
		ibuf_add_u32(&ib, 0);
		ibuf_add(&ib, values, sizeof(values));
		make_imsg(&im, MSG_CONF_VALUES, &ib);
		cs = conf_set_new();
		assert_int_equal(conf_values_recv(&im, cs), i == -1 ? 0 : -1);
		conf_set_free(cs);
	}
}

static void
test_settings_text(void **state __unused)
{
	char		 text[SETTING_TEXTLEN];
	uint64_t	 values[3], v;
	int		 i;
	size_t		 j;

	for (i = 0; i < SET_COUNT; i++) {
		values[0] = settings[i].sd_min;
		values[1] = settings[i].sd_default;
		values[2] = settings[i].sd_max;
		assert_true(setting_valid((enum setting)i, values[1]));
		for (j = 0; j < nitems(values); j++) {
			setting_format((enum setting)i, values[j], text);
			assert_int_equal(setting_parse((enum setting)i, text,
			    &v), 0);
			assert_true(v == values[j]);
		}
		assert_int_equal(setting_byname(settings[i].sd_block,
		    settings[i].sd_name), i);
		for (j = 0; j < 7; j++) {
			static const char *const bad[] = { "", "-1", "1x",
			    " 1", "K", "99999999999999999999999", "1e3" };

			assert_int_equal(setting_parse((enum setting)i,
			    bad[j], &v), -1);
		}
	}
}

/* log */

static void
test_escape_text(void **state __unused)
{
	static const struct {
		const char	*in;
		size_t		 len;
		const char	*out;
	} cases[] = {
		{ "plain", 5, "plain" },
		{ "a\nb\rc\td", 7, "a\\012b\\015c\\011d" },
		{ "\033[31m", 5, "\\033[31m" },
		{ "a\0b", 3, "a\\000b" },
		{ "\x7f", 1, "\\177" },
		{ "\\", 1, "\\\\" },
		{ "\xc3\xa4", 2, "\xc3\xa4" },
		{ "\xc2\x9b", 2, "\\233" },
		{ "\xff", 1, "\\377" },
		{ "\xc3", 1, "\\303" },
		{ "%s%n", 4, "%s%n" },
	};
	char	 out[64];
	size_t	 i;

	for (i = 0; i < nitems(cases); i++) {
		(void)log_escape_text(out, sizeof(out), cases[i].in,
		    cases[i].len);
		assert_string_equal(out, cases[i].out);
	}
}

static void
test_escape_json(void **state __unused)
{
	static const struct {
		const char	*in;
		size_t		 len;
		const char	*out;
	} cases[] = {
		{ "plain", 5, "plain" },
		{ "\"\\\n", 3, "\\\"\\\\\\n" },
		{ "\033", 1, "\\u001b" },
		{ "a\0b", 3, "a\\u0000b" },
		{ "\xc2\x85", 2, "\\u0085" },
		{ "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
		{ "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};
	char	 out[64];
	size_t	 i;

	for (i = 0; i < nitems(cases); i++) {
		(void)log_escape_json(out, sizeof(out), cases[i].in,
		    cases[i].len);
		assert_string_equal(out, cases[i].out);
	}
}

/* Never half an escape or half a character, whatever the room. */
static void
test_escape_room(void **state __unused)
{
	static const char	 in[] = "a\n\xc3\xa4\"\xff\033";
	char			 out[64];
	size_t			 size, n;

	for (size = 1; size < sizeof(out); size++) {
		memset(out, 'Z', sizeof(out));
		n = log_escape_json(out, size, in, sizeof(in) - 1);
		assert_true(n < size);
		assert_int_equal(out[n], '\0');
		assert_int_equal(n, strlen(out));
		if (n > 0)
			assert_int_not_equal(out[n - 1], '\xc3');
		memset(out, 'Z', sizeof(out));
		n = log_escape_text(out, size, in, sizeof(in) - 1);
		assert_true(n < size);
		assert_int_equal(out[n], '\0');
	}
}

static void
test_utf8(void **state __unused)
{
	assert_int_equal(utf8_length("", 0), 0);
	assert_int_equal(utf8_length("a", 1), 1);
	assert_int_equal(utf8_length("\xc0\x80", 2), 0);
	assert_int_equal(utf8_length("\xc1\xbf", 2), 0);
	assert_int_equal(utf8_length("\xe0\x9f\xbf", 3), 0);
	assert_int_equal(utf8_length("\xe0\xa0\x80", 3), 3);
	assert_int_equal(utf8_length("\xed\x9f\xbf", 3), 3);
	assert_int_equal(utf8_length("\xed\xa0\x80", 3), 0);
	assert_int_equal(utf8_length("\xf0\x8f\xbf\xbf", 4), 0);
	assert_int_equal(utf8_length("\xf4\x8f\xbf\xbf", 4), 4);
	assert_int_equal(utf8_length("\xf4\x90\x80\x80", 4), 0);
	assert_int_equal(utf8_length("\xf5\x80\x80\x80", 4), 0);
	assert_int_equal(utf8_length("\xe2\x82", 2), 0);
	assert_int_equal(utf8_length("\x80", 1), 0);
}

/* What a log call writes, by way of a pipe in place of standard error. */
static void
capture(char *buf, size_t size, enum log_format format, const char *text)
{
	struct log_event	 le = { "test_event", "req-1", NULL, "c\"1" };
	ssize_t			 n;
	int			 fds[2], saved;

	assert_int_equal(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	log_init("unit", format, LOG_INFO);
	log_event(LOG_INFO, &le, "%s", text);
	log_debug("not at this level");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	n = read(fds[0], buf, size - 1);
	assert_true(n > 0);
	buf[n] = '\0';
	close(fds[0]);
}

static void
test_log_line(void **state __unused)
{
	static char	 big[100000], buf[8192];

	capture(buf, sizeof(buf), LOG_FORMAT_JSON, "x\n\033\"%s");
	assert_non_null(strstr(buf, "\"event_type\":\"test_event\""));
	assert_non_null(strstr(buf, "\"request_id\":\"req-1\""));
	assert_non_null(strstr(buf, "\"container_id\":\"c\\\"1\""));
	assert_non_null(strstr(buf, "\"message\":\"x\\n\\u001b\\\"%s\"}\n"));
	assert_null(strstr(buf, "not at this level"));
	capture(buf, sizeof(buf), LOG_FORMAT_TEXT, "x\ny");
	assert_non_null(strstr(buf, "info unit: test_event: x\\012y "
	    "(request req-1)\n"));

	/* However long: one line, closed, in one write. */
	memset(big, '\001', sizeof(big) - 1);
	capture(buf, sizeof(buf), LOG_FORMAT_JSON, big);
	assert_true(strlen(buf) <= LOG_LINE_MAX);
	assert_string_equal(buf + strlen(buf) - 3, "\"}\n");
	capture(buf, sizeof(buf), LOG_FORMAT_TEXT, big);
	assert_true(strlen(buf) <= LOG_LINE_MAX);
	assert_int_equal(buf[strlen(buf) - 1], '\n');
}

/* util, memfd */

static void
test_timingsafe(void **state __unused)
{
	assert_int_equal(timingsafe_bcmp("abc", "abc", 3), 0);
	assert_int_not_equal(timingsafe_bcmp("abc", "abd", 3), 0);
	assert_int_not_equal(timingsafe_bcmp("abc", "bbc", 3), 0);
	assert_int_equal(timingsafe_bcmp("a", "b", 0), 0);
}

static void
test_sha256(void **state __unused)
{
	static const uint8_t	 abc[] = { 0xba, 0x78, 0x16, 0xbf };
	uint8_t			 digest[SHA256_LEN];

	sha256_digest("abc", 3, digest);
	assert_memory_equal(digest, abc, sizeof(abc));
}

static void
test_memfd(void **state __unused)
{
	static char	 big[300000];
	char		*data;
	size_t		 len;
	int		 fd, fds[2];

	memset(big, 'q', sizeof(big));
	assert_int_not_equal(fd = memfd_sealed("t", big, sizeof(big)), -1);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(ftruncate(fd, 1), -1);
	assert_int_equal(memfd_open_sealed(fd, sizeof(big) - 1, &len), -1);
	assert_int_equal(errno, EFBIG);
	assert_non_null(data = memfd_read(fd, sizeof(big), &len));
	assert_int_equal(len, sizeof(big));
	assert_memory_equal(data, big, len);
	assert_int_equal(data[len], '\0');
	free(data);
	close(fd);

	/* What could still change is not taken. */
	fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_null(memfd_read(fd, 100, &len));
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_null(memfd_read(fd, 100, &len));
	close(fd);
	assert_int_equal(pipe(fds), 0);
	assert_null(memfd_read(fds[0], 100, &len));
	close(fds[0]);
	close(fds[1]);
	fd = open("/dev/null", O_RDONLY);
	assert_null(memfd_read(fd, 100, &len));
	close(fd);
}

/* confine: each in a child, which tells by its exit status. */

static int
in_child(void (*f)(void))
{
	pid_t	 pid;
	int	 status;

	switch (pid = fork()) {
	case -1:
		fail();
	case 0:
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return (status);
}

static void
promise(const char *list)
{
	struct confine_state	 cs;

	memset(&cs, 0, sizeof(cs));
	confine_common();
	confine_promise(list, &cs);
}

static void
child_stdio(void)
{
	int	 fds[2];

	promise("stdio");
	if (pipe2(fds, 0) == -1 || write(fds[1], "x", 1) != 1)
		_exit(1);
	(void)getpid();
	free(malloc(1 << 20));
}

static void
child_open(void)
{
	promise("stdio");
	(void)open("/dev/null", O_RDONLY);
}

static void
child_socket(void)
{
	promise("stdio accept");
	(void)socket(AF_INET, SOCK_STREAM, 0);
}

static void
child_socket_high_bits(void)
{
	promise("stdio unix");
	/* The kernel reads 32 bits of the family. */
	(void)syscall(SYS_socket, 0x100000000ULL + AF_UNIX, SOCK_STREAM, 0);
	(void)syscall(SYS_socket, 0x100000000ULL + AF_INET, SOCK_STREAM, 0);
}

static void
child_exec_memory(void)
{
	promise("stdio");
	(void)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
child_fork(void)
{
	promise("stdio thread");
	(void)fork();
}

static void
child_rpath_write(void)
{
	promise("stdio rpath");
	if (open("/dev/null", O_RDONLY) == -1)
		_exit(1);
	(void)open("/dev/null", O_WRONLY);
}

static void
child_clone3(void)
{
	promise("stdio");
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		_exit(1);
}

static void
child_unknown(void)
{
	promise("stdio nonsense");
}

static void
test_promises(void **state __unused)
{
#ifdef SBXD_SANITIZE
	skip();
#endif
	static void (*const killed[])(void) = {
		child_open, child_socket, child_socket_high_bits,
		child_exec_memory, child_fork, child_rpath_write,
	};
	size_t	 i;
	int	 status;

	for (i = 0; i < nitems(killed); i++) {
		status = in_child(killed[i]);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
	assert_int_equal(in_child(child_stdio), 0);
	assert_int_equal(in_child(child_clone3), 0);
	status = in_child(child_unknown);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void
child_landlock_none(void)
{
	struct confine_state	 cs;

	memset(&cs, 0, sizeof(cs));
	confine_common();
	confine_paths(NULL, 0, &cs);
	if (cs.cs_landlock == 0)
		_exit(77);
	if (!cs.cs_nopaths || open("/dev/null", O_RDONLY) != -1 ||
	    errno != EACCES)
		_exit(1);
}

static void
child_landlock_some(void)
{
	struct confine_state	 cs;
	struct confine_path	 paths[] = {
		{ "/etc", -1, "r" }, { "/nonexistent", -1, "r" },
	};

	memset(&cs, 0, sizeof(cs));
	confine_common();
	confine_paths(paths, nitems(paths), &cs);
	if (cs.cs_landlock == 0)
		_exit(77);
	if (cs.cs_nopaths || open("/etc/passwd", O_RDONLY) == -1 ||
	    open("/etc/passwd", O_WRONLY) != -1 ||
	    open("/usr/bin/env", O_RDONLY) != -1)
		_exit(1);
}

static void
test_landlock(void **state __unused)
{
	if (landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(child_landlock_none), 0);
	assert_int_equal(in_child(child_landlock_some), 0);
}

static void
child_caps(void)
{
	confine_common();
	confine_bounding();
	confine_caps(0);
	if (setuid(1) == 0 && geteuid() == 1 && getuid() != 1)
		_exit(1);
	if (chroot("/") == 0)
		_exit(1);
}

static void
test_caps(void **state __unused)
{
	assert_int_equal(in_child(child_caps), 0);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_ibuf_round_trip),
		cmocka_unit_test(test_ibuf_bounds),
		cmocka_unit_test(test_msg_boot),
		cmocka_unit_test(test_conf_values_range),
		cmocka_unit_test(test_settings_text),
		cmocka_unit_test(test_escape_text),
		cmocka_unit_test(test_escape_json),
		cmocka_unit_test(test_escape_room),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_log_line),
		cmocka_unit_test(test_timingsafe),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_memfd),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_landlock),
		cmocka_unit_test(test_caps),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
