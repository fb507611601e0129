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

/*
 * A directory for the files of a test, and what its tests say again and
 * again: this text is good, that one is bad and says so in this line.
 */

#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
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
#include "config.h"
#include "config_util.h"
#include "log.h"

static const char * const	 variables[] = {
	"SANDBOX_SECRET", "PORT", "EXECUTOR_PORT", "PROXY_PORT",
	"CONTROL_PLANE_URL", "INTERNAL_API_TOKEN", "WORKSPACE_PATH",
	"CONTAINER_ID", "HOSTNAME", "POD_NAME", "LOG_LEVEL",
	"XDG_RUNTIME_DIR"
};

char			 testdir[64];
struct config_errors	 errors;

int
config_setup(void **state)
{
	(void)state;
	log_init("config_test", LOG_FORMAT_TEXT, LOG_CRIT);
	clean_environment();
	(void)strlcpy(testdir, "/tmp/sbxd-config.XXXXXX", sizeof(testdir));
	return (mkdtemp(testdir) == NULL ? -1 : 0);
}

int
config_teardown(void **state)
{
	(void)state;
	(void)unlink(file_path("test.conf"));
	return (rmdir(testdir));
}

void
clean_environment(void)
{
	size_t	 i;

	for (i = 0; i < nitems(variables); i++)
		assert_int_equal(unsetenv(variables[i]), 0);
	assert_int_equal(setenv("HOSTNAME", "testhost", 1), 0);
}

const char *
file_path(const char *name)
{
	static char	 paths[4][PATH_MAX];
	static int	 next;
	char		*path = paths[next++ % 4];

	(void)snprintf(path, PATH_MAX, "%s/%s", testdir, name);
	return (path);
}

void
file_write(const char *name, const void *data, size_t len, mode_t mode)
{
	int	 fd;

	(void)unlink(file_path(name));
	fd = open(file_path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);
	assert_true(fd != -1);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

void
file_text(const char *name, const char *text, mode_t mode)
{
	file_write(name, text, strlen(text), mode);
}

struct config *
load_file(const char *name)
{
	memset(&errors, 0, sizeof(errors));
	return (config_load(file_path(name), 1, &errors));
}

struct config *
load(const char *text)
{
	file_text("test.conf", text, 0600);
	return (load_file("test.conf"));
}

struct config *
load_good(const char *text)
{
	struct config	*conf;

	conf = load(text);
	if (conf == NULL)
		print_error("%s", errors.ce_text);
	assert_non_null(conf);
	assert_int_equal(errors.ce_count, 0);
	return (conf);
}

void
good(const char *text)
{
	config_free(load_good(text));
}

void
assert_error(const char *what, const char *part)
{
	if (strstr(errors.ce_text, part) == NULL)
		fail_msg("\"%s\" gave \"%s\" and not \"%s\"", what,
		    errors.ce_text, part);
}

/* Exactly one error, in this line, with this text. */
void
bad_line(const char *text, int line, const char *part)
{
	char	 place[PATH_MAX];

	assert_null(load(text));
	if (errors.ce_count != 1)
		fail_msg("\"%s\" gave %u errors: %s", text, errors.ce_count,
		    errors.ce_text);
	assert_error(text, part);
	if (line == 0)
		return;
	(void)snprintf(place, sizeof(place), "%s:%d: ",
	    file_path("test.conf"), line);
	assert_error(text, place);
}

void
bad(const char *text, const char *part)
{
	bad_line(text, 1, part);
}

void
bad_file(const char *name, const char *part)
{
	assert_null(load_file(name));
	assert_true(errors.ce_count >= 1);
	assert_error(name, part);
}

char *
print(const struct config *conf, int show)
{
	FILE	*fp;
	char	*text = NULL;
	size_t	 len = 0;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	config_print(fp, conf, show);
	assert_int_equal(fclose(fp), 0);
	return (text);
}

/* What is printed and read again prints the same. */
void
round_trip(const struct config *conf)
{
	struct config	*again;
	char		*first, *second;

	first = print(conf, 1);
	again = load(first);
	if (again == NULL)
		fail_msg("%s\n%s", errors.ce_text, first);
	second = print(again, 1);
	assert_string_equal(first, second);
	free(first);
	free(second);
	config_free(again);
}

const struct config_listen *
listener(const struct config *conf, unsigned int id)
{
	const struct config_listen	*li;

	TAILQ_FOREACH(li, &conf->cf_listens, li_entry) {
		if (li->li_id == id)
			return (li);
	}
	fail_msg("no listener %u", id);
	return (NULL);
}

void
assert_inet(const struct config_listen *li, const char *address,
    unsigned int port, int proxy, enum config_auth auth)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	char				 text[INET6_ADDRSTRLEN];

	if (li->li_ss.ss_family == AF_INET) {
		sin = (const struct sockaddr_in *)&li->li_ss;
		assert_int_equal(li->li_sslen, sizeof(*sin));
		inet_ntop(AF_INET, &sin->sin_addr, text, sizeof(text));
		assert_int_equal(ntohs(sin->sin_port), port);
	} else {
		assert_int_equal(li->li_ss.ss_family, AF_INET6);
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		assert_int_equal(li->li_sslen, sizeof(*sin6));
		inet_ntop(AF_INET6, &sin6->sin6_addr, text, sizeof(text));
		assert_int_equal(ntohs(sin6->sin6_port), port);
	}
	assert_string_equal(text, address);
	assert_int_equal(li->li_proxy, proxy);
	assert_int_equal(li->li_auth, auth);
}

const struct conf_item *
item(const struct conf_profile *pr, enum conf_item_kind kind, int n)
{
	const struct conf_item	*it;

	TAILQ_FOREACH(it, &pr->pr_items, it_entry) {
		if (it->it_kind == kind && n-- == 0)
			return (it);
	}
	return (NULL);
}
