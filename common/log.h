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

#ifndef LOG_H
#define LOG_H

#include <stdarg.h>

#include "compat.h"

/*
 * One event, one line, one write.  Text for people, JSON lines for
 * machines; control characters and invalid UTF-8 are escaped in both, so
 * callers may pass what came from outside as a "%s".
 */

enum log_format {
	LOG_FORMAT_PLAIN,	/* a program at a terminal: no time stamp */
	LOG_FORMAT_TEXT,
	LOG_FORMAT_JSON
};

#define LOG_LINE_MAX	4096

/*
 * Fields that a line can carry beside its text.  NULL ones are left out.
 * le_type is the event_type of the contract ("signal_received").
 */
struct log_event {
	const char	*le_type;
	const char	*le_request_id;
	const char	*le_execution_id;
	const char	*le_container_id;
};

void	log_init(const char *, enum log_format, int);
void	log_setformat(enum log_format);
enum log_format log_getformat(void);
void	log_setlevel(int);
int	log_getlevel(void);
void	log_setsyslog(int);
const char *log_procname(void);

void	log_event(int, const struct log_event *, const char *, ...)
	    __attribute__((__format__(printf, 3, 4)));
void	log_warn(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));
void	log_warnx(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));
void	log_info(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));
void	log_debug(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));
__dead void fatal(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));
__dead void fatalx(const char *, ...)
	    __attribute__((__format__(printf, 1, 2)));

/* log_escape.c */
size_t	log_escape_text(char *, size_t, const char *, size_t);
size_t	log_escape_json(char *, size_t, const char *, size_t);

#endif /* LOG_H */
