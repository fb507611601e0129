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

#ifndef IMSG_H
#define IMSG_H

#include <sys/types.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <stdint.h>

#include "ibuf.h"

/*
 * Messages over SOCK_SEQPACKET: one packet, one message, up to eight
 * descriptors with it.  A channel has one static table of what may arrive;
 * type, length and number of descriptors are checked against it before a
 * handler runs.  What a breach means is the owner's decision: fatal from a
 * sibling, an error for a client.
 */

#define IMSG_MAXFDS	8
#define IMSG_MAXDATA	IBUF_MAX

struct imsg_hdr {
	uint32_t	 ih_type;
	uint32_t	 ih_len;	/* of the payload */
	uint32_t	 ih_id;
	uint32_t	 ih_nfds;
};

struct imsg {
	struct imsg_hdr	 im_hdr;
	const uint8_t	*im_data;
	int		 im_fds[IMSG_MAXFDS];
};

struct imsg_chan;

/* Lengths are of the payload; a fixed size has both alike. */
struct imsg_rule {
	uint32_t	 ir_type;
	const char	*ir_name;
	uint32_t	 ir_minlen;
	uint32_t	 ir_maxlen;
	uint32_t	 ir_nfds;
	void		(*ir_handler)(struct imsg_chan *, struct imsg *);
};

struct imsg_table {
	const struct imsg_rule	*it_rules;
	size_t			 it_count;
};

enum imsg_end {
	IMSG_END_EOF,		/* gone; ic_error: without reading all */
	IMSG_END_PROTOCOL,	/* it broke the table; ic_error says how */
	IMSG_END_OVERFLOW	/* it does not read what it is sent */
};

struct imsg_out;
TAILQ_HEAD(imsg_outq, imsg_out);

struct imsg_chan {
	const char		*ic_peer;	/* for log lines */
	int			 ic_fd;
	void			*ic_arg;
	struct imsg_table	 ic_table;
	void			(*ic_ended)(struct imsg_chan *,
				    enum imsg_end);
	void			(*ic_drained)(struct imsg_chan *);
	struct event_base	*ic_base;
	struct event		*ic_ev_read;
	struct event		*ic_ev_write;
	struct imsg_outq	 ic_outq;
	size_t			 ic_queued;	/* messages waiting */
	size_t			 ic_high;	/* more than that: OVERFLOW */
	size_t			 ic_low;	/* fewer: ic_drained */
	int			 ic_above_low;
	int			 ic_dropped;	/* a message found no room */
	int			 ic_unsent;	/* a write found no reader */
	int			 ic_dead;
	int			*ic_freed;	/* set by imsg_chan_close() */
	char			 ic_error[128];
};

#define IMSG_HIGH_DEFAULT	4096
#define IMSG_LOW_DEFAULT	256

int	 imsg_pair(int [2]);
int	 imsg_chan_open(struct imsg_chan *, const char *, int,
	    struct event_base *, const struct imsg_rule *, size_t,
	    void (*)(struct imsg_chan *, enum imsg_end), void *);
void	 imsg_chan_init(struct imsg_chan *, const char *, int,
	    struct event_base *, const struct imsg_rule *, size_t,
	    void (*)(struct imsg_chan *, enum imsg_end), void *);
void	 imsg_chan_table(struct imsg_chan *, const struct imsg_rule *,
	    size_t);
void	 imsg_chan_close(struct imsg_chan *);
int	 imsg_chan_flush(struct imsg_chan *, int);

void	 imsg_send(struct imsg_chan *, uint32_t, uint32_t, const void *,
	    size_t);
void	 imsg_send_fds(struct imsg_chan *, uint32_t, uint32_t, const void *,
	    size_t, const int *, unsigned int);
void	 imsg_send_ibuf(struct imsg_chan *, uint32_t, uint32_t,
	    const struct ibuf *, const int *, unsigned int);

int	 imsg_get_fd(struct imsg *, unsigned int);
void	 imsg_get_reader(const struct imsg *, struct ibuf_reader *);
int	 imsg_get_data(const struct imsg *, void *, size_t);

/* For the decoder's tests: one packet through the table, no socket. */
int	 imsg_check(const struct imsg_table *, const void *, size_t,
	    unsigned int, const struct imsg_rule **, struct imsg_hdr *,
	    char *, size_t);

#endif /* IMSG_H */
