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

#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Every number of sbxd.conf, in one table: the parser, the printer, the
 * defaults and the receivers of a configuration all read it, so that a
 * range exists once.
 */
enum setting {
	SET_HTTP_CONNECTIONS,
	SET_HTTP_PER_ADDRESS,
	SET_HTTP_HEADER_SIZE,
	SET_HTTP_HEADER_COUNT,
	SET_HTTP_HEADER_TIMEOUT,
	SET_HTTP_BODY_TIMEOUT,
	SET_HTTP_IDLE_TIMEOUT,
	SET_HTTP_WRITE_TIMEOUT,

	SET_LIMIT_TIME,
	SET_LIMIT_CPU,
	SET_LIMIT_MEMORY,
	SET_LIMIT_PROCESSES,
	SET_LIMIT_FILES,
	SET_LIMIT_FILE_SIZE,
	SET_LIMIT_WORKSPACE_SIZE,
	SET_LIMIT_TMP_SIZE,

	SET_RUN_BODY_SIZE,
	SET_RUN_OUTPUT_SIZE,
	SET_RUN_READ_SIZE,

	SET_PROCESS_COUNT,
	SET_PROCESS_KEEP,
	SET_PROCESS_LOG_LINES,
	SET_PROCESS_LOG_SIZE,

	SET_EXECUTE_CONCURRENT,
	SET_EXECUTE_QUEUE,
	SET_EXECUTE_TIMEOUT,
	SET_EXECUTE_TIMEOUT_MAX,
	SET_EXECUTE_BODY_SIZE,
	SET_EXECUTE_CODE_SIZE,
	SET_EXECUTE_OUTPUT_SIZE,
	SET_EXECUTE_CHECKSUM_SIZE,
	SET_EXECUTE_REMEMBER_COUNT,
	SET_EXECUTE_REMEMBER_SIZE,

	SET_CALL_TIMEOUT,
	SET_CALL_TIMEOUT_MAX,
	SET_CALL_BODY_SIZE,
	SET_CALL_CODE_SIZE,
	SET_CALL_CONTENT_SIZE,
	SET_CALL_REMEMBER_COUNT,

	SET_POOL_SANDBOXES,

	SET_CP_CONNECT_TIMEOUT,
	SET_CP_TIMEOUT,
	SET_CP_ATTEMPTS,
	SET_CP_HEARTBEAT,

	SET_SPOOL_KEEP,

	SET_COUNT
};

#define SET_LIMIT_FIRST	SET_LIMIT_TIME
#define SET_LIMIT_LAST	SET_LIMIT_TMP_SIZE
#define SET_LIMIT_COUNT	(SET_LIMIT_LAST - SET_LIMIT_FIRST + 1)

enum setting_unit {
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_MSEC
};

#define SETTING_TEXTLEN	32

struct setting_def {
	const char		*sd_block;
	const char		*sd_name;
	enum setting_unit	 sd_unit;
	uint64_t		 sd_min;
	uint64_t		 sd_max;
	uint64_t		 sd_default;
};

extern const struct setting_def	 settings[SET_COUNT];

int	 setting_byname(const char *, const char *);
int	 setting_parse(enum setting, const char *, uint64_t *);
void	 setting_format(enum setting, uint64_t, char [SETTING_TEXTLEN]);
void	 setting_defaults(uint64_t [SET_COUNT]);
int	 setting_valid(enum setting, uint64_t);

#endif /* SETTINGS_H */
