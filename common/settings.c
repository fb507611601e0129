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

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

#define K	1024ULL
#define M	(1024 * K)
#define G	(1024 * M)
#define T	(1024 * G)
#define SEC	1000ULL
#define MIN	(60 * SEC)
#define HOUR	(60 * MIN)
#define DAY	(24 * HOUR)

const struct setting_def settings[SET_COUNT] = {
	[SET_HTTP_CONNECTIONS] =
	    { "http", "connections", UNIT_COUNT, 1, 65000, 4096 },
	[SET_HTTP_PER_ADDRESS] =
	    { "http", "connections per address", UNIT_COUNT, 1, 65000, 1024 },
	[SET_HTTP_HEADER_SIZE] =
	    { "http", "header size", UNIT_BYTES, K, M, 16 * K },
	[SET_HTTP_HEADER_COUNT] =
	    { "http", "header count", UNIT_COUNT, 8, 256, 100 },
	[SET_HTTP_HEADER_TIMEOUT] =
	    { "http", "header timeout", UNIT_MSEC, SEC, HOUR, 10 * SEC },
	[SET_HTTP_BODY_TIMEOUT] =
	    { "http", "body timeout", UNIT_MSEC, SEC, HOUR, 30 * SEC },
	[SET_HTTP_IDLE_TIMEOUT] =
	    { "http", "idle timeout", UNIT_MSEC, SEC, DAY, 75 * SEC },
	[SET_HTTP_WRITE_TIMEOUT] =
	    { "http", "write timeout", UNIT_MSEC, SEC, HOUR, 30 * SEC },

	[SET_LIMIT_TIME] =
	    { "limits", "time", UNIT_MSEC, 10, 30 * DAY, HOUR },
	[SET_LIMIT_CPU] =
	    { "limits", "cpu time", UNIT_MSEC, 10, 30 * DAY, HOUR },
	[SET_LIMIT_MEMORY] =
	    { "limits", "memory", UNIT_BYTES, 4 * M, 16 * T, 512 * M },
	[SET_LIMIT_PROCESSES] =
	    { "limits", "processes", UNIT_COUNT, 1, 1000000, 256 },
	[SET_LIMIT_FILES] =
	    { "limits", "open files", UNIT_COUNT, 8, 1000000, 1024 },
	[SET_LIMIT_FILE_SIZE] =
	    { "limits", "file size", UNIT_BYTES, 4 * K, 16 * T, G },
	[SET_LIMIT_WORKSPACE_SIZE] =
	    { "limits", "workspace size", UNIT_BYTES, 64 * K, 16 * T, G },
	[SET_LIMIT_TMP_SIZE] =
	    { "limits", "tmp size", UNIT_BYTES, 64 * K, 16 * T, 256 * M },

	[SET_RUN_BODY_SIZE] =
	    { "run", "body size", UNIT_BYTES, K, G, 96 * M },
	[SET_RUN_OUTPUT_SIZE] =
	    { "run", "output size", UNIT_BYTES, K, G, 128 * M },
	[SET_RUN_READ_SIZE] =
	    { "run", "read size", UNIT_BYTES, K, G, 64 * M },

	[SET_PROCESS_COUNT] =
	    { "processes", "count", UNIT_COUNT, 1, 100000, 2000 },
	[SET_PROCESS_KEEP] =
	    { "processes", "keep", UNIT_COUNT, 1, 100000, 1000 },
	[SET_PROCESS_LOG_LINES] =
	    { "processes", "log lines", UNIT_COUNT, 16, 10000000, 10000 },
	[SET_PROCESS_LOG_SIZE] =
	    { "processes", "log size", UNIT_BYTES, 4 * K, G, 16 * M },

	[SET_EXECUTE_CONCURRENT] =
	    { "execute", "concurrent", UNIT_COUNT, 1, 10000, 100 },
	[SET_EXECUTE_QUEUE] =
	    { "execute", "queue", UNIT_COUNT, 1, 100000, 1000 },
	[SET_EXECUTE_TIMEOUT] =
	    { "execute", "timeout", UNIT_MSEC, SEC, HOUR, 30 * SEC },
	[SET_EXECUTE_TIMEOUT_MAX] =
	    { "execute", "timeout maximum", UNIT_MSEC, SEC, HOUR, HOUR },
	[SET_EXECUTE_BODY_SIZE] =
	    { "execute", "body size", UNIT_BYTES, K, G, 8 * M },
	[SET_EXECUTE_CODE_SIZE] =
	    { "execute", "code size", UNIT_BYTES, K, G, M },
	[SET_EXECUTE_OUTPUT_SIZE] =
	    { "execute", "output size", UNIT_BYTES, K, G, 10 * M },
	[SET_EXECUTE_CHECKSUM_SIZE] =
	    { "execute", "checksum size", UNIT_BYTES, K, T, 64 * M },
	[SET_EXECUTE_REMEMBER_COUNT] =
	    { "execute", "remember count", UNIT_COUNT, 1, 1000000, 1000 },
	[SET_EXECUTE_REMEMBER_SIZE] =
	    { "execute", "remember size", UNIT_BYTES, 64 * K, 64 * G,
	    64 * M },

	[SET_CALL_TIMEOUT] =
	    { "call", "timeout", UNIT_MSEC, 10, HOUR, 30 * SEC },
	[SET_CALL_TIMEOUT_MAX] =
	    { "call", "timeout maximum", UNIT_MSEC, 10, HOUR, HOUR },
	[SET_CALL_BODY_SIZE] =
	    { "call", "body size", UNIT_BYTES, K, G, 64 * M },
	[SET_CALL_CODE_SIZE] =
	    { "call", "code size", UNIT_BYTES, K, G, M },
	[SET_CALL_CONTENT_SIZE] =
	    { "call", "content size", UNIT_BYTES, K, G, M },
	[SET_CALL_REMEMBER_COUNT] =
	    { "call", "remember count", UNIT_COUNT, 1, 100000, 100 },

	[SET_POOL_SANDBOXES] =
	    { "pool", "sandboxes", UNIT_COUNT, 0, 1000, 4 },

	[SET_CP_CONNECT_TIMEOUT] =
	    { "control plane", "connect timeout", UNIT_MSEC, 100, 10 * MIN,
	    5 * SEC },
	[SET_CP_TIMEOUT] =
	    { "control plane", "timeout", UNIT_MSEC, 100, 10 * MIN,
	    30 * SEC },
	[SET_CP_ATTEMPTS] =
	    { "control plane", "attempts", UNIT_COUNT, 1, 100, 5 },
	[SET_CP_HEARTBEAT] =
	    { "control plane", "heartbeat", UNIT_MSEC, SEC, HOUR, 5 * SEC },

	[SET_SPOOL_KEEP] =
	    { "spool", "keep", UNIT_MSEC, MIN, 365 * DAY, 24 * HOUR },
};

struct suffix {
	const char	*su_text;
	uint64_t	 su_factor;
};

/* Largest first, so that formatting finds the shortest text. */
static const struct suffix suffix_bytes[] = {
	{ "T", T }, { "G", G }, { "M", M }, { "K", K }, { "", 1 }
};
static const struct suffix suffix_msec[] = {
	{ "d", DAY }, { "h", HOUR }, { "m", MIN }, { "s", SEC }, { "ms", 1 },
	{ "", SEC }
};
static const struct suffix suffix_count[] = {
	{ "", 1 }
};

static const struct suffix *
setting_suffixes(enum setting_unit unit, size_t *n)
{
	switch (unit) {
	case UNIT_BYTES:
		*n = sizeof(suffix_bytes) / sizeof(suffix_bytes[0]);
		return (suffix_bytes);
	case UNIT_MSEC:
		*n = sizeof(suffix_msec) / sizeof(suffix_msec[0]);
		return (suffix_msec);
	case UNIT_COUNT:
		break;
	}
	*n = sizeof(suffix_count) / sizeof(suffix_count[0]);
	return (suffix_count);
}

/* Index of a setting, or -1. */
int
setting_byname(const char *block, const char *name)
{
	int	 i;

	for (i = 0; i < SET_COUNT; i++) {
		if (strcmp(settings[i].sd_block, block) == 0 &&
		    strcmp(settings[i].sd_name, name) == 0)
			return (i);
	}
	return (-1);
}

/*
 * Reads "16K", "24h", "100".  Fails with EINVAL for a text that is no
 * such value and with ERANGE for one outside the setting's range.
 */
int
setting_parse(enum setting set, const char *text, uint64_t *value)
{
	const struct suffix	*su;
	unsigned long long	 n;
	size_t			 i, nsu;
	char			*end;

	if (!isdigit((unsigned char)text[0])) {
		errno = EINVAL;
		return (-1);
	}
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno == ERANGE)
		return (-1);

	su = setting_suffixes(settings[set].sd_unit, &nsu);
	for (i = 0; i < nsu; i++) {
		if (strcmp(su[i].su_text, end) == 0)
			break;
	}
	if (i == nsu) {
		errno = EINVAL;
		return (-1);
	}
	if (n > UINT64_MAX / su[i].su_factor ||
	    !setting_valid(set, n * su[i].su_factor)) {
		errno = ERANGE;
		return (-1);
	}
	*value = n * su[i].su_factor;
	return (0);
}

void
setting_format(enum setting set, uint64_t value, char text[SETTING_TEXTLEN])
{
	const struct suffix	*su;
	size_t			 i, nsu;

	su = setting_suffixes(settings[set].sd_unit, &nsu);
	for (i = 0; i < nsu - 1; i++) {
		if (value >= su[i].su_factor && value % su[i].su_factor == 0)
			break;
	}
	/* Twenty digits and two letters always fit. */
	(void)snprintf(text, SETTING_TEXTLEN, "%llu%s",
	    (unsigned long long)(value / su[i].su_factor), su[i].su_text);
}

void
setting_defaults(uint64_t values[SET_COUNT])
{
	int	 i;

	for (i = 0; i < SET_COUNT; i++)
		values[i] = settings[i].sd_default;
}

int
setting_valid(enum setting set, uint64_t value)
{
	return (value >= settings[set].sd_min &&
	    value <= settings[set].sd_max);
}
