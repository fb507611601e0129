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

#include <stdio.h>
#include <string.h>

#include "parser.h"

/*
 * The grammar is the tables: each row is a word that may stand there, what
 * it means if it is the last, and the table of what may follow it.  A word
 * may be cut to any prefix that only one row of its table has.
 */

enum token_type {
	TOKEN_END,		/* of the table */
	TOKEN_NONE,		/* the command may end here */
	TOKEN_KEYWORD
};

struct token {
	enum token_type		 t_type;
	const char		*t_keyword;
	enum action		 t_value;
	const struct token	*t_next;	/* NULL: nothing more */
};

static int	 token_matches(const struct token *, const char *);
static size_t	 token_count(const struct token *, const char *);
static const struct token *token_find(const struct token *, const char *);
static void	 token_list(const struct token *, const char *, char *,
		    size_t);
static int	 parse_end(const struct token *, const char *,
		    struct parse_result *, char *, size_t);
static void	 parse_error(const struct token *, const char *, const char *,
		    char *, size_t);

static const struct token table_log[] = {
	{ TOKEN_KEYWORD,	"brief",	ACTION_LOG_BRIEF,	NULL },
	{ TOKEN_KEYWORD,	"verbose",	ACTION_LOG_VERBOSE,	NULL },
	{ TOKEN_END,		NULL,		ACTION_NONE,		NULL }
};

static const struct token table_show[] = {
	{ TOKEN_NONE,		NULL,		ACTION_SHOW,		NULL },
	{ TOKEN_KEYWORD,	"config",	ACTION_SHOW_CONFIG,	NULL },
	{ TOKEN_KEYWORD,	"summary",	ACTION_SHOW,		NULL },
	{ TOKEN_END,		NULL,		ACTION_NONE,		NULL }
};

static const struct token table_main[] = {
	{ TOKEN_KEYWORD,	"log",		ACTION_NONE,	table_log },
	{ TOKEN_KEYWORD,	"reload",	ACTION_RELOAD,	NULL },
	{ TOKEN_KEYWORD,	"show",		ACTION_NONE,	table_show },
	{ TOKEN_KEYWORD,	"stop",		ACTION_STOP,	NULL },
	{ TOKEN_END,		NULL,		ACTION_NONE,	NULL }
};

static int
token_matches(const struct token *t, const char *word)
{
	return (t->t_type == TOKEN_KEYWORD &&
	    strncmp(word, t->t_keyword, strlen(word)) == 0);
}

static size_t
token_count(const struct token *table, const char *word)
{
	const struct token	*t;
	size_t			 n = 0;

	for (t = table; t->t_type != TOKEN_END; t++) {
		if (token_matches(t, word))
			n++;
	}
	return (n);
}

/* The one row that the word means, or NULL. */
static const struct token *
token_find(const struct token *table, const char *word)
{
	const struct token	*t, *found = NULL;

	/* An empty word is a mistake, not the prefix of all. */
	if (word[0] == '\0')
		return (NULL);
	for (t = table; t->t_type != TOKEN_END; t++) {
		if (!token_matches(t, word))
			continue;
		/* A whole word wins over a longer one that begins so. */
		if (strcmp(word, t->t_keyword) == 0)
			return (t);
		found = t;
	}
	return (token_count(table, word) == 1 ? found : NULL);
}

/* "a, b or c": every word of the table that begins so. */
static void
token_list(const struct token *table, const char *word, char *buf,
    size_t size)
{
	const struct token	*t;
	size_t			 left;

	left = token_count(table, word);
	buf[0] = '\0';
	for (t = table; t->t_type != TOKEN_END; t++) {
		if (!token_matches(t, word))
			continue;
		/* A list that is cut still helps. */
		(void)strlcat(buf, t->t_keyword, size);
		if (--left > 0)
			(void)strlcat(buf, left > 1 ? ", " : " or ", size);
	}
}

/* No word, or one that means nothing or too much. */
static void
parse_error(const struct token *table, const char *last, const char *word,
    char *error, size_t size)
{
	char	 list[256], after[96] = "";

	if (last != NULL)
		(void)snprintf(after, sizeof(after), " after \"%s\"", last);
	if (word == NULL) {
		token_list(table, "", list, sizeof(list));
		(void)snprintf(error, size, "missing word%s: expected %s",
		    after, list);
	} else if (word[0] == '\0' || token_count(table, word) == 0) {
		token_list(table, "", list, sizeof(list));
		(void)snprintf(error, size,
		    "unknown word \"%.64s\"%s: expected %s", word, after,
		    list);
	} else {
		token_list(table, word, list, sizeof(list));
		(void)snprintf(error, size,
		    "ambiguous word \"%.64s\"%s: could be %s", word, after,
		    list);
	}
}

/* The words are over in front of this table: may they be? */
static int
parse_end(const struct token *table, const char *last,
    struct parse_result *res, char *error, size_t size)
{
	const struct token	*t;

	for (t = table; t->t_type != TOKEN_END; t++) {
		if (t->t_type == TOKEN_NONE) {
			res->pr_action = t->t_value;
			return (0);
		}
	}
	parse_error(table, last, NULL, error, size);
	return (-1);
}

/* 0 and what is wanted, or -1 and what could have stood there. */
int
parse_command(int argc, char *argv[], struct parse_result *res, char *error,
    size_t size)
{
	const struct token	*t, *table = table_main;
	const char		*last = NULL;
	int			 i;

	res->pr_action = ACTION_NONE;
	for (i = 0; i < argc; i++) {
		if (table == NULL) {
			(void)snprintf(error, size,
			    "too many words after \"%s\": \"%.64s\"", last,
			    argv[i]);
			return (-1);
		}
		if ((t = token_find(table, argv[i])) == NULL) {
			parse_error(table, last, argv[i], error, size);
			return (-1);
		}
		last = t->t_keyword;
		res->pr_action = t->t_value;
		table = t->t_next;
	}
	if (table == NULL)
		return (0);
	return (parse_end(table, last, res, error, size));
}
