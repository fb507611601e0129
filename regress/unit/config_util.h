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

#ifndef CONFIG_UTIL_H
#define CONFIG_UTIL_H

#include <sys/types.h>

#include "conf.h"
#include "config.h"

/* What the tests of the configuration share. */

#define SECRET		"s3cr3t-s3cr3t"
#define OTHER_UID	65534

extern char			 testdir[64];
extern struct config_errors	 errors;	/* of the last load */

int	 config_setup(void **);
int	 config_teardown(void **);
void	 clean_environment(void);

const char	*file_path(const char *);
void		 file_write(const char *, const void *, size_t, mode_t);
void		 file_text(const char *, const char *, mode_t);

struct config	*load_file(const char *);
struct config	*load(const char *);
struct config	*load_good(const char *);
void		 good(const char *);
void		 assert_error(const char *, const char *);
void		 bad_line(const char *, int, const char *);
void		 bad(const char *, const char *);
void		 bad_file(const char *, const char *);
char		*print(const struct config *, int);
void		 round_trip(const struct config *);

const struct config_listen	*listener(const struct config *,
				    unsigned int);
void				 assert_inet(const struct config_listen *,
				    const char *, unsigned int, int,
				    enum config_auth);
const struct conf_item		*item(const struct conf_profile *,
				    enum conf_item_kind, int);

#endif /* CONFIG_UTIL_H */
