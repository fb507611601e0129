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
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util.h"

#define MEMFD_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | \
			    F_SEAL_SEAL)

/* A descriptor that holds the data and cannot be changed any more. */
int
memfd_sealed(const char *name, const void *data, size_t len)
{
	const char	*p = data;
	size_t		 done;
	ssize_t		 n;
	int		 fd, saved;

	if ((fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) == -1)
		return (-1);
	for (done = 0; done < len; done += (size_t)n) {
		if ((n = write(fd, p + done, len - done)) == -1) {
			if (errno != EINTR)
				goto fail;
			n = 0;
		}
	}
	if (fcntl(fd, F_ADD_SEALS, MEMFD_SEALS) == -1)
		goto fail;
	return (fd);
 fail:
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

/*
 * The receiver's check: really sealed (else the sender could change it
 * between check and use) and no longer than allowed.
 */
int
memfd_open_sealed(int fd, size_t max, size_t *len)
{
	struct stat	 st;
	int		 seals;

	if ((seals = fcntl(fd, F_GET_SEALS)) == -1)
		return (-1);
	if ((seals & MEMFD_SEALS) != MEMFD_SEALS) {
		errno = EPERM;
		return (-1);
	}
	if (fstat(fd, &st) == -1)
		return (-1);
	if (!S_ISREG(st.st_mode) || st.st_size < 0 ||
	    (uint64_t)st.st_size > max) {
		errno = EFBIG;
		return (-1);
	}
	*len = (size_t)st.st_size;
	return (0);
}

/* The content with a NUL behind it, or NULL. */
char *
memfd_read(int fd, size_t max, size_t *len)
{
	char	*data;
	size_t	 done;
	ssize_t	 n;

	if (memfd_open_sealed(fd, max, len) == -1)
		return (NULL);
	if ((data = malloc(*len + 1)) == NULL)
		return (NULL);
	for (done = 0; done < *len; done += (size_t)n) {
		n = pread(fd, data + done, *len - done, (off_t)done);
		if (n == -1 && errno == EINTR)
			n = 0;
		else if (n <= 0) {
			free(data);
			return (NULL);
		}
	}
	data[*len] = '\0';
	return (data);
}
