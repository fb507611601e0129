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
#include <sys/stat.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "config.h"

#define LETTERS		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS		"0123456789"

#define TOKEN_MIN	8

static int	value_toolong(size_t, const char **);
static int	value_copy(const char *, char *, size_t, const char **);
static int	value_printable(const char *);
static int	value_owner(uid_t);
static int	url_host(const char *, size_t, const char **);

static int
value_toolong(size_t size, const char **errstr)
{
	static char	 text[64];

	/* Always fits. */
	(void)snprintf(text, sizeof(text),
	    "must have at most %zu characters", size - 1);
	*errstr = text;
	return (-1);
}

static int
value_copy(const char *text, char *out, size_t size, const char **errstr)
{
	if (strlcpy(out, text, size) < size)
		return (0);
	explicit_bzero(out, size);
	return (value_toolong(size, errstr));
}

/* Bytes above 0x7f pass: names of files may be in any language. */
static int
value_printable(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return (0);
	}
	return (1);
}

/* An absolute path, copied without "//", "/./" and a last "/". */
int
config_value_path(const char *text, char *out, size_t size,
    const char **errstr)
{
	size_t	 len, n;

	if (text[0] != '/') {
		*errstr = "must be an absolute path";
		return (-1);
	}
	if (!value_printable(text)) {
		*errstr = "must not contain control characters";
		return (-1);
	}
	for (len = 0; *text != '\0'; text += n) {
		text += strspn(text, "/");
		n = strcspn(text, "/");
		if (n == 0 || (n == 1 && text[0] == '.'))
			continue;
		if (n == 2 && strncmp(text, "..", 2) == 0) {
			*errstr = "must not contain \"..\"";
			return (-1);
		}
		if (len + n + 1 >= size)
			return (value_toolong(size, errstr));
		out[len++] = '/';
		memcpy(out + len, text, n);
		len += n;
	}
	out[len] = '\0';
	if (len == 0) {
		*errstr = "must not be /";
		return (-1);
	}
	return (0);
}

/* Of a profile, a language, a mount. */
int
config_value_name(const char *text, char *out, size_t size,
    const char **errstr)
{
	if (text[0] == '\0' ||
	    text[strspn(text, LETTERS DIGITS "_-")] != '\0' ||
	    strlen(text) >= size) {
		*errstr = "must be 1 to 63 of the characters "
		    "A-Z, a-z, 0-9, _ and -";
		return (-1);
	}
	return (value_copy(text, out, size, errstr));
}

/* Of a user or a group. */
int
config_value_user(const char *text, char *out, size_t size,
    const char **errstr)
{
	if (text[0] == '\0' || text[0] == '-' ||
	    text[strspn(text, LETTERS DIGITS "_-.")] != '\0' ||
	    strlen(text) >= size) {
		*errstr = "must be 1 to 32 of the characters "
		    "A-Z, a-z, 0-9, _, . and -, not beginning with -";
		return (-1);
	}
	return (value_copy(text, out, size, errstr));
}

int
config_value_text(const char *text, char *out, size_t size,
    const char **errstr)
{
	if (text[0] == '\0' || !value_printable(text)) {
		*errstr = "must not be empty or contain control characters";
		return (-1);
	}
	return (value_copy(text, out, size, errstr));
}

int
config_value_token(const char *text, char *out, size_t size,
    const char **errstr)
{
	const char	*p;

	for (p = text; *p > 0x20 && *p < 0x7f; p++)
		;
	if (*p != '\0') {
		*errstr = "must be printable ASCII without blanks";
		return (-1);
	}
	if (p - text < TOKEN_MIN || (size_t)(p - text) >= size) {
		*errstr = "must have 8 to 511 characters";
		return (-1);
	}
	return (value_copy(text, out, size, errstr));
}

static int
url_host(const char *host, size_t len, const char **errstr)
{
	in_port_t	 port;
	size_t		 n;
	char		 text[8];

	if (memchr(host, '@', len) != NULL) {
		*errstr = "must not contain a user or a password";
		return (-1);
	}
	if (host[0] == '[') {
		n = 1 + strspn(host + 1, DIGITS "abcdefABCDEF:.");
		if (n == 1 || host[n++] != ']')
			n = 0;
	} else
		n = strspn(host, LETTERS DIGITS "-._");
	if (n == 0 || n > len || (n < len && host[n] != ':')) {
		*errstr = "must name a host";
		return (-1);
	}
	if (n == len)
		return (0);
	n++;
	if (len - n >= sizeof(text)) {
		*errstr = "port must be between 1 and 65535";
		return (-1);
	}
	memcpy(text, host + n, len - n);
	text[len - n] = '\0';
	if (config_value_port(text, &port, errstr) == -1) {
		*errstr = "port must be between 1 and 65535";
		return (-1);
	}
	return (0);
}

int
config_value_url(const char *text, char *out, size_t size,
    const char **errstr)
{
	const char	*host, *p;
	size_t		 len;

	for (p = text; *p != '\0'; p++) {
		if (*p <= 0x20 || *p >= 0x7f || strchr("?#\"\\<>", *p)) {
			*errstr = "must not contain blanks, control or special "
			    "characters, a query or a fragment";
			return (-1);
		}
	}
	if (strncmp(text, "http://", 7) == 0)
		host = text + 7;
	else if (strncmp(text, "https://", 8) == 0)
		host = text + 8;
	else {
		*errstr = "must begin with http:// or https://";
		return (-1);
	}
	if (url_host(host, strcspn(host, "/"), errstr) == -1 ||
	    value_copy(text, out, size, errstr) == -1)
		return (-1);
	for (len = strlen(out); len > 0 && out[len - 1] == '/'; len--)
		out[len - 1] = '\0';
	return (0);
}

/* What a sandbox itself sets or what the dynamic linker acts on is taken. */
int
config_value_envname(const char *text, const char **errstr)
{
	if (text[0] == '\0' || strchr(DIGITS, text[0]) != NULL ||
	    text[strspn(text, LETTERS DIGITS "_")] != '\0' ||
	    strlen(text) >= CONF_IDLEN) {
		*errstr = "must be letters, digits and _, at most 255, not "
		    "beginning with a digit";
		return (-1);
	}
	if (strncmp(text, "SBXD_", 5) == 0 || strncmp(text, "LD_", 3) == 0) {
		*errstr = "names that begin with SBXD_ or LD_ are reserved";
		return (-1);
	}
	return (0);
}

int
config_value_loglevel(const char *text, int *level)
{
	static const struct {
		const char	*name;
		int		 level;
	} levels[] = {
		{ "debug",	LOG_DEBUG },
		{ "info",	LOG_INFO },
		{ "warning",	LOG_WARNING },
		{ "error",	LOG_ERR }
	};
	size_t	 i;

	for (i = 0; i < nitems(levels); i++) {
		if (strcasecmp(text, levels[i].name) == 0) {
			*level = levels[i].level;
			return (0);
		}
	}
	return (-1);
}

int
config_value_port(const char *text, in_port_t *port, const char **errstr)
{
	const char	*bad;

	/* strtonum() would take blanks and a sign. */
	*port = (in_port_t)strtonum(text, 1, 65535, &bad);
	if (bad != NULL || text[strspn(text, DIGITS)] != '\0') {
		*errstr = "must be between 1 and 65535";
		return (-1);
	}
	return (0);
}

int
config_value_address(const char *text, in_port_t port,
    struct config_listen *li, const char **errstr)
{
	struct sockaddr_in	*sin = (struct sockaddr_in *)&li->li_ss;
	struct sockaddr_in6	*sin6 = (struct sockaddr_in6 *)&li->li_ss;

	memset(&li->li_ss, 0, sizeof(li->li_ss));
	if (inet_pton(AF_INET, text, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		li->li_sslen = sizeof(*sin);
		return (0);
	}
	if (inet_pton(AF_INET6, text, &sin6->sin6_addr) != 1) {
		*errstr = "must be a numeric IPv4 or IPv6 address, "
		    "names are not looked up";
		return (-1);
	}
	if (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr)) {
		*errstr = "must be written as an IPv4 address";
		return (-1);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	li->li_sslen = sizeof(*sin6);
	return (0);
}

int
config_is_loopback(const struct config_listen *li)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;

	switch (li->li_ss.ss_family) {
	case AF_INET:
		sin = (const struct sockaddr_in *)&li->li_ss;
		return (ntohl(sin->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET);
	case AF_INET6:
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		return (IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr));
	default:
		return (1);
	}
}

static int
value_owner(uid_t uid)
{
	return (uid == 0 || uid == geteuid());
}

/* Whether others could read what is in it; a pipe is the opener's own. */
int
config_is_public(const struct stat *st)
{
	return (S_ISREG(st->st_mode) && (st->st_mode & S_IRWXO) != 0);
}

int
config_file_check(const struct stat *st, int secret, const char **errstr)
{
	if (S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode) ||
	    S_ISSOCK(st->st_mode))
		return (0);
	if (!S_ISREG(st->st_mode))
		*errstr = "must be a regular file";
	else if (!value_owner(st->st_uid))
		*errstr = "must be owned by root or the user who runs sbxd";
	else if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		*errstr = "must not be writable by its group or by others";
	else if (secret && config_is_public(st))
		*errstr = "holds a token and must not be accessible to "
		    "others: chmod o-rwx";
	else
		return (0);
	errno = EPERM;
	return (-1);
}

/*
 * Opens a file that leads to tokens.  The checks are made on what was
 * opened; only who made a link has to be asked beforehand.
 */
int
config_open(const char *path, int secret, struct stat *st,
    const char **errstr)
{
	int	 fd, saved;

	if (lstat(path, st) == -1) {
		*errstr = strerror(errno);
		return (-1);
	}
	if (S_ISLNK(st->st_mode) && !value_owner(st->st_uid)) {
		*errstr = "is a link of another user: must be owned by root "
		    "or the user who runs sbxd";
		errno = EPERM;
		return (-1);
	}
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1 ||
	    fstat(fd, st) == -1) {
		*errstr = strerror(errno);
		/* A link to nowhere is not the same as no file. */
		if (errno == ENOENT)
			errno = ENOLINK;
		goto fail;
	}
	if (config_file_check(st, secret, errstr) == -1)
		goto fail;
	return (fd);
 fail:
	saved = errno;
	if (fd != -1)
		close(fd);
	errno = saved;
	return (-1);
}
