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

#ifndef UTIL_H
#define UTIL_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN	32

/* memfd.c: data too large for a message, unchangeable once sent */
int	 memfd_sealed(const char *, const void *, size_t);
int	 memfd_open_sealed(int, size_t, size_t *);
char	*memfd_read(int, size_t, size_t *);

/* util.c */
uint64_t clock_msec(void);
void	 sha256_digest(const void *, size_t, uint8_t [SHA256_LEN]);
void	 random_hex(char *, size_t);
int	 fd_ensure_stdio(void);

#endif /* UTIL_H */
