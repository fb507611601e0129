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
#include <sys/queue.h>

#include <netinet/in.h>
#include <arpa/inet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "log.h"
#include "parent.h"

/*
 * The API token.  The parent keeps its digest only; the text lives from
 * the parser to here.
 */

#define TOKEN_GENERATED_LEN	40

static const char *const token_variables[] = {
	"SANDBOX_SECRET", "INTERNAL_API_TOKEN"
};

static int
token_wanted(const struct config *cf)
{
	const struct config_listen	*li;

	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		if (!li->li_proxy && li->li_auth == AUTH_TOKEN)
			return (1);
	}
	return (0);
}

/* In quotes of the shell, in which only the quote itself is special. */
static void
token_print_quoted(const char *s)
{
	putchar('\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			printf("'\\''");
		else
			putchar(*s);
	}
	putchar('\'');
}

/* Where a client on this machine would connect. */
static void
token_print_curl(const struct config *cf)
{
	const struct config_listen	*li;
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	char				 host[INET6_ADDRSTRLEN];

	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		if (li->li_proxy || li->li_auth != AUTH_TOKEN)
			continue;
		sin = (const struct sockaddr_in *)&li->li_ss;
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		printf("try:   curl -H 'Authorization: Bearer %s' ",
		    cf->cf_token);
		if (li->li_ss.ss_family == AF_INET) {
			(void)inet_ntop(AF_INET, &sin->sin_addr, host,
			    sizeof(host));
			printf("http://%s:%u/metrics\n",
			    sin->sin_addr.s_addr == INADDR_ANY ?
			    "127.0.0.1" : host, ntohs(sin->sin_port));
		} else if (li->li_ss.ss_family == AF_INET6) {
			(void)inet_ntop(AF_INET6, &sin6->sin6_addr, host,
			    sizeof(host));
			printf("'http://[%s]:%u/metrics'\n",
			    IN6_IS_ADDR_UNSPECIFIED(&sin6->sin6_addr) ?
			    "::1" : host, ntohs(sin6->sin6_port));
		} else {
			printf("--unix-socket ");
			token_print_quoted(((const struct sockaddr_un *)
			    &li->li_ss)->sun_path);
			printf(" http://localhost/metrics\n");
		}
		return;
	}
}

/*
 * The one time that a token is shown: it was made a moment ago and nobody
 * else knows it.  Not where the standard output is a system's journal.
 */
void
token_print(const struct config *cf)
{
	printf("token: %s\n", cf->cf_token);
	token_print_curl(cf);
	(void)fflush(stdout);
}

/* Whether it came from that variable, not from the file. */
static int
token_from(const char *variable, const char *token)
{
	const char	*value;

	return ((value = getenv(variable)) != NULL &&
	    strcmp(value, token) == 0);
}

/* At start: a digest in any case, and a token if there is none. */
void
token_prepare(struct parent *pa)
{
	struct config	*cf = pa->pa_config;
	char		 text[TOKEN_GENERATED_LEN + 1];
	int		 generated = 0;

	if (cf->cf_token[0] == '\0') {
		/* Not shown if no listener asks for it: then nobody has
		 * it, and a reload must name one before it is wanted. */
		random_hex(text, sizeof(text));
		(void)strlcpy(cf->cf_token, text, sizeof(cf->cf_token));
		explicit_bzero(text, sizeof(text));
		generated = token_wanted(cf);
		if (generated && getenv("JOURNAL_STREAM") != NULL &&
		    !isatty(STDOUT_FILENO))
			fatalx("no token is configured, and a generated one "
			    "would end up in the journal: add 'token file "
			    "\"/path\"' to the configuration");
		pa->pa_digest_kept = generated;
	} else
		pa->pa_digest_kept = token_from(token_variables[0],
		    cf->cf_token);
	pa->pa_cp_token_kept = token_from(token_variables[1],
	    cf->cf_cp_token);
	sha256_digest(cf->cf_token, strlen(cf->cf_token), pa->pa_digest);
	if (generated)
		token_print(cf);
}

/*
 * In a new configuration, a token that was generated or came from the
 * environment stays where the file names none; one that stood in the file
 * and is gone is a mistake.
 */
int
token_missing(const struct parent *pa, const struct config *cf)
{
	return (cf->cf_token[0] == '\0' && !pa->pa_digest_kept &&
	    token_wanted(cf));
}

void
token_reload(struct parent *pa, struct config *cf)
{
	cf->cf_cp_token_known = pa->pa_cp_token_kept;
	if (cf->cf_token[0] == '\0') {
		cf->cf_token_known = 1;
		return;
	}
	sha256_digest(cf->cf_token, strlen(cf->cf_token), pa->pa_digest);
	pa->pa_digest_kept = 0;
}

/* /proc/pid/environ shows the memory that the variables lie in. */
void
token_forget_environment(void)
{
	char	*value;
	size_t	 i;

	for (i = 0; i < nitems(token_variables); i++) {
		if ((value = getenv(token_variables[i])) == NULL)
			continue;
		explicit_bzero(value, strlen(value));
		(void)unsetenv(token_variables[i]);
	}
}
