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

#include <string.h>

#include "ibuf.h"

void
ibuf_init(struct ibuf *ib)
{
	ib->ib_wpos = 0;
	ib->ib_failed = 0;
}

void
ibuf_add(struct ibuf *ib, const void *data, size_t len)
{
	if (ib->ib_failed || len > sizeof(ib->ib_data) - ib->ib_wpos) {
		ib->ib_failed = 1;
		return;
	}
	if (len != 0)
		memcpy(ib->ib_data + ib->ib_wpos, data, len);
	ib->ib_wpos += len;
}

void
ibuf_add_u16(struct ibuf *ib, uint16_t v)
{
	ibuf_add(ib, &v, sizeof(v));
}

void
ibuf_add_u32(struct ibuf *ib, uint32_t v)
{
	ibuf_add(ib, &v, sizeof(v));
}

void
ibuf_add_u64(struct ibuf *ib, uint64_t v)
{
	ibuf_add(ib, &v, sizeof(v));
}

/* Length in 16 bits, then the bytes; no NUL travels. */
void
ibuf_add_str(struct ibuf *ib, const char *s)
{
	size_t	 len;

	len = strlen(s);
	if (len > UINT16_MAX) {
		ib->ib_failed = 1;
		return;
	}
	ibuf_add_u16(ib, (uint16_t)len);
	ibuf_add(ib, s, len);
}

int
ibuf_failed(const struct ibuf *ib)
{
	return (ib->ib_failed);
}

void
ibuf_read(struct ibuf_reader *ir, const void *data, size_t len)
{
	ir->ir_data = data;
	ir->ir_len = len;
	ir->ir_pos = 0;
	ir->ir_failed = 0;
}

int
ibuf_get(struct ibuf_reader *ir, void *data, size_t len)
{
	if (ir->ir_failed || len > ir->ir_len - ir->ir_pos) {
		ir->ir_failed = 1;
		return (-1);
	}
	if (len != 0)
		memcpy(data, ir->ir_data + ir->ir_pos, len);
	ir->ir_pos += len;
	return (0);
}

int
ibuf_get_u16(struct ibuf_reader *ir, uint16_t *v)
{
	return (ibuf_get(ir, v, sizeof(*v)));
}

int
ibuf_get_u32(struct ibuf_reader *ir, uint32_t *v)
{
	return (ibuf_get(ir, v, sizeof(*v)));
}

int
ibuf_get_u64(struct ibuf_reader *ir, uint64_t *v)
{
	return (ibuf_get(ir, v, sizeof(*v)));
}

/* A string that fits dst with its NUL and holds none inside. */
int
ibuf_get_str(struct ibuf_reader *ir, char *dst, size_t size)
{
	uint16_t	 len;

	if (ibuf_get_u16(ir, &len) == -1)
		return (-1);
	if (len >= size) {
		ir->ir_failed = 1;
		return (-1);
	}
	if (ibuf_get(ir, dst, len) == -1)
		return (-1);
	if (memchr(dst, '\0', len) != NULL) {
		ir->ir_failed = 1;
		return (-1);
	}
	dst[len] = '\0';
	return (0);
}

/* 0 if everything was there and nothing is left over. */
int
ibuf_end(struct ibuf_reader *ir)
{
	if (ir->ir_failed || ir->ir_pos != ir->ir_len)
		return (-1);
	return (0);
}
