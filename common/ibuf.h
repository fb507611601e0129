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

#ifndef IBUF_H
#define IBUF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bounded writer and reader of message payloads.  A failed step sticks:
 * callers add or get everything, then ask ibuf_error() or ibuf_end() once.
 */

#define IBUF_MAX	4096

struct ibuf {
	size_t		 ib_wpos;
	int		 ib_failed;
	uint8_t		 ib_data[IBUF_MAX];
};

struct ibuf_reader {
	const uint8_t	*ir_data;
	size_t		 ir_len;
	size_t		 ir_pos;
	int		 ir_failed;
};

void	 ibuf_init(struct ibuf *);
void	 ibuf_add(struct ibuf *, const void *, size_t);
void	 ibuf_add_u16(struct ibuf *, uint16_t);
void	 ibuf_add_u32(struct ibuf *, uint32_t);
void	 ibuf_add_u64(struct ibuf *, uint64_t);
void	 ibuf_add_str(struct ibuf *, const char *);
int	 ibuf_failed(const struct ibuf *);

void	 ibuf_read(struct ibuf_reader *, const void *, size_t);
int	 ibuf_get(struct ibuf_reader *, void *, size_t);
int	 ibuf_get_u16(struct ibuf_reader *, uint16_t *);
int	 ibuf_get_u32(struct ibuf_reader *, uint32_t *);
int	 ibuf_get_u64(struct ibuf_reader *, uint64_t *);
int	 ibuf_get_str(struct ibuf_reader *, char *, size_t);
int	 ibuf_end(struct ibuf_reader *);

#endif /* IBUF_H */
