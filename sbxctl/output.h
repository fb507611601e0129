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

#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl.h"
#include "msg.h"

/* All that the daemon said; it is printed when it is complete. */
struct answer {
	struct ctl_summary	 an_summary;
	int			 an_has_summary;
	struct msg_procinfo	 an_procs[PROC_COUNT];
	int			 an_has_proc[PROC_COUNT];
	char			*an_text;
	size_t			 an_textlen;
};

/* One per format. */
struct output {
	void	(*ou_show)(const struct answer *);
	void	(*ou_config)(const struct answer *);
	void	(*ou_done)(void);
	void	(*ou_fail)(const char *);
};

/* output.c */
extern const struct output	 output_text;

const char *output_levelname(uint64_t);
void	 output_escape(FILE *, const char *, size_t,
	    size_t (*)(char *, size_t, const char *, size_t));

/* output_json.c */
extern const struct output	 output_json;

#endif /* OUTPUT_H */
