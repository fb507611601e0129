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
 * Any bytes as a configuration.  What is accepted must print, be accepted
 * again and print the same; what is not must have said why.  The parser
 * is fed from memory and opens no file.
 */

#include <sys/types.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "config.h"
#include "log.h"

int	 LLVMFuzzerInitialize(int *, char ***);
int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char	*fuzz_print(const struct config *, size_t *);
static void	 fuzz_again(const struct config *);
static void	 fuzz_errors(const struct config_errors *);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (clearenv() != 0 || setenv("HOSTNAME", "fuzz", 1) != 0)
		abort();
	log_init("config_fuzz", LOG_FORMAT_TEXT, LOG_CRIT);
	return (0);
}

static char *
fuzz_print(const struct config *conf, size_t *len)
{
	FILE	*fp;
	char	*text = NULL;

	if ((fp = open_memstream(&text, len)) == NULL)
		abort();
	config_print(fp, conf, 1);
	if (fclose(fp) != 0)
		abort();
	return (text);
}

static void
fuzz_again(const struct config *conf)
{
	struct config	*again;
	char		*first, *second;
	size_t		 firstlen, secondlen;

	first = fuzz_print(conf, &firstlen);
	again = config_parse_buffer("again", first, firstlen, NULL);
	if (again == NULL)
		abort();
	second = fuzz_print(again, &secondlen);
	if (firstlen != secondlen || memcmp(first, second, firstlen) != 0)
		abort();
	free(first);
	free(second);
	config_free(again);
}

static void
fuzz_errors(const struct config_errors *errors)
{
	size_t	 i;

	if (errors->ce_count == 0 || errors->ce_len == 0 ||
	    errors->ce_len >= sizeof(errors->ce_text) ||
	    strlen(errors->ce_text) != errors->ce_len)
		abort();
	for (i = 0; i < errors->ce_len; i++) {
		if ((unsigned char)errors->ce_text[i] < ' ' &&
		    errors->ce_text[i] != '\n')
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct config_errors	 errors;
	struct config		*conf;
	char			*buf;

	/* A copy of its own size, so that a read beyond it is seen. */
	if ((buf = malloc(len)) == NULL && len != 0)
		abort();
	if (len != 0)
		memcpy(buf, data, len);
	memset(&errors, 0, sizeof(errors));
	conf = config_parse_buffer("fuzz", buf, len, &errors);
	free(buf);
	if (conf == NULL)
		fuzz_errors(&errors);
	else {
		if (errors.ce_count != 0)
			abort();
		fuzz_again(conf);
		config_free(conf);
	}
	return (0);
}
