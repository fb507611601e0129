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

#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compat.h"
#include "util.h"

/* Takes as long whatever differs, and wherever. */
int
timingsafe_bcmp(const void *a, const void *b, size_t len)
{
	const volatile unsigned char	*p = a, *q = b;
	unsigned char			 diff = 0;

	while (len-- > 0)
		diff |= *p++ ^ *q++;
	return (diff != 0);
}

/* Monotonic: deadlines do not follow somebody's wall clock. */
uint64_t
clock_msec(void)
{
	struct timespec	 ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000);
}

void
sha256_digest(const void *data, size_t len, uint8_t digest[SHA256_LEN])
{
	SHA2_CTX	 ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, data, len);
	SHA256Final(digest, &ctx);
	explicit_bzero(&ctx, sizeof(ctx));
}

/* Fills the string with random hex digits: size - 1 of them and a NUL. */
void
random_hex(char *s, size_t size)
{
	static const char	 digits[] = "0123456789abcdef";
	uint8_t			 byte;
	size_t			 i;

	for (i = 0; i + 1 < size; i++) {
		arc4random_buf(&byte, 1);
		s[i] = digits[byte & 15];
	}
	s[size - 1] = '\0';
}

/* A descriptor 0, 1 or 2 that is closed would be taken by the next open. */
int
fd_ensure_stdio(void)
{
	int	 fd;

	do {
		if ((fd = open("/dev/null", O_RDWR)) == -1)
			return (-1);
	} while (fd <= STDERR_FILENO);
	close(fd);
	return (0);
}
