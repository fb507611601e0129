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
#include <sys/uio.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

static void	 log_write(int, const struct log_event *, const char *, int,
		    va_list) __attribute__((__format__(printf, 3, 0)));
static size_t	 log_put_text(char *, size_t, int, const struct log_event *,
		    const char *);
static size_t	 log_put_json(char *, size_t, int, const struct log_event *,
		    const char *);

static const char	*log_name = "sbxd";
static enum log_format	 log_format = LOG_FORMAT_TEXT;
static int		 log_level = LOG_INFO;
static int		 log_syslog;	/* fd 2 is the system log's socket */

void
log_init(const char *name, enum log_format format, int level)
{
	log_name = name;
	log_format = format;
	log_level = level;

	/* No file is opened for a time stamp later, behind a chroot. */
	tzset();
}

void
log_setformat(enum log_format format)
{
	log_format = format;
}

enum log_format
log_getformat(void)
{
	return (log_format);
}

void
log_setlevel(int level)
{
	log_level = level;
}

int
log_getlevel(void)
{
	return (log_level);
}

void
log_setsyslog(int on)
{
	log_syslog = on;
}

const char *
log_procname(void)
{
	return (log_name);
}

static const char *
log_levelname(int level)
{
	switch (level) {
	case LOG_DEBUG:
		return ("debug");
	case LOG_INFO:
		return ("info");
	case LOG_WARNING:
		return ("warning");
	default:
		return ("error");
	}
}

/* UTC with milliseconds: 2026-11-04T12:34:56.123Z */
static void
log_timestamp(char *buf, size_t size)
{
	struct timespec	 ts;
	struct tm	 tm;
	char		 sec[32];

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	if (gmtime_r(&ts.tv_sec, &tm) == NULL ||
	    strftime(sec, sizeof(sec), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		sec[0] = '\0';
	(void)snprintf(buf, size, "%s.%03ldZ", sec, ts.tv_nsec / 1000000);
}

static size_t
log_put_text(char *line, size_t size, int level, const struct log_event *le,
    const char *text)
{
	char	 stamp[48];
	size_t	 n;
	int	 k;

	log_timestamp(stamp, sizeof(stamp));
	if (log_format == LOG_FORMAT_PLAIN)
		k = snprintf(line, size, "%s", level == LOG_ERR ?
		    "sbxd: " : "");
	else if (log_syslog)
		k = snprintf(line, size, "<%d>sbxd[%d]: %s: ",
		    LOG_DAEMON | level, (int)getpid(), log_name);
	else
		k = snprintf(line, size, "%s %s %s: ", stamp,
		    log_levelname(level), log_name);
	n = (size_t)k;
	if (le != NULL && le->le_type != NULL)
		n += (size_t)snprintf(line + n, size - n, "%s: ",
		    le->le_type);
	n += log_escape_text(line + n, size - n, text, strlen(text));
	if (le != NULL && le->le_request_id != NULL && size - n > 128)
		n += (size_t)snprintf(line + n, size - n, " (request %.64s)",
		    le->le_request_id);
	if (le != NULL && le->le_execution_id != NULL && size - n > 128)
		n += (size_t)snprintf(line + n, size - n, " (%.64s)",
		    le->le_execution_id);
	return (n);
}

static size_t
log_put_field(char *line, size_t size, const char *key, const char *value)
{
	size_t	 n;
	int	 k;

	if (value == NULL)
		return (0);
	k = snprintf(line, size, ",\"%s\":\"", key);
	if (k < 0 || (size_t)k + 2 >= size)
		return (0);
	n = (size_t)k;
	n += log_escape_json(line + n, size - n - 1, value, strlen(value));
	line[n++] = '"';
	line[n] = '\0';
	return (n);
}

static size_t
log_put_json(char *line, size_t size, int level, const struct log_event *le,
    const char *text)
{
	char	 stamp[48];
	size_t	 n;

	log_timestamp(stamp, sizeof(stamp));
	n = (size_t)snprintf(line, size, "{\"timestamp\":\"%s\","
	    "\"level\":\"%s\",\"process\":\"%s\",\"event_type\":\"%s\"",
	    stamp, log_levelname(level), log_name,
	    le != NULL && le->le_type != NULL ? le->le_type : "message");
	if (le != NULL) {
		n += log_put_field(line + n, size - n, "request_id",
		    le->le_request_id);
		n += log_put_field(line + n, size - n, "execution_id",
		    le->le_execution_id);
		n += log_put_field(line + n, size - n, "container_id",
		    le->le_container_id);
	}
	n += log_put_field(line + n, size - n - 2, "message", text);
	line[n++] = '}';
	line[n] = '\0';
	return (n);
}

static void
log_write(int level, const struct log_event *le, const char *fmt, int errnum,
    va_list ap)
{
	char	 text[2048], line[LOG_LINE_MAX];
	size_t	 n;
	int	 k, saved;

	if (level > log_level)
		return;
	saved = errno;
	k = vsnprintf(text, sizeof(text), fmt, ap);
	if (errnum != 0 && k >= 0 && (size_t)k < sizeof(text))
		(void)snprintf(text + k, sizeof(text) - (size_t)k, ": %s",
		    strerror(errnum));

	/* A newline of ours is kept free; the rest may be cut. */
	if (log_format == LOG_FORMAT_JSON && !log_syslog)
		n = log_put_json(line, sizeof(line) - 1, level, le, text);
	else
		n = log_put_text(line, sizeof(line) - 1, level, le, text);
	if (!log_syslog)
		line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) == -1) {
		/* There is nowhere to report a broken log. */
	}
	errno = saved;
}

void
log_event(int level, const struct log_event *le, const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(level, le, fmt, 0, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_WARNING, NULL, fmt, errno, ap);
	va_end(ap);
}

void
log_warnx(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_WARNING, NULL, fmt, 0, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_INFO, NULL, fmt, 0, ap);
	va_end(ap);
}

void
log_debug(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_DEBUG, NULL, fmt, 0, ap);
	va_end(ap);
}

void
fatal(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_ERR, NULL, fmt, errno, ap);
	va_end(ap);
	exit(1);
}

void
fatalx(const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	log_write(LOG_ERR, NULL, fmt, 0, ap);
	va_end(ap);
	exit(1);
}
