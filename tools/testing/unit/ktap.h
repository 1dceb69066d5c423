/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A test program: a table of functions, one KTAP line for each. */
#ifndef UNIT_KTAP_H
#define UNIT_KTAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/types.h>

/**
 * struct ktap_test - one group of checks
 * @name:	what holds if it passes
 * @run:	it passes if no CHECK() fails
 */
struct ktap_test {
	const char *name;
	void (*run)(void);
};

static unsigned int ktap_failures;

/* The first few failures of a test are worth reading. */
static inline __printf(2, 3) bool ktap_check(bool ok, const char *fmt, ...)
{
	va_list args;

	if (ok || ktap_failures++ >= 10)
		return ok;
	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	return ok;
}

/* @cond holds, or the test fails with the message. Return: @cond. */
#define CHECK(cond, fmt, ...)							\
	ktap_check(cond, "%s:%d: %s: " fmt, __FILE__, __LINE__, #cond, ##__VA_ARGS__)

static inline int ktap_run(const struct ktap_test *tests, unsigned int n)
{
	int status = EXIT_SUCCESS;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", n);
	for (unsigned int i = 0; i < n; i++) {
		ktap_failures = 0;
		tests[i].run();
		printf("%s %u %s\n", ktap_failures ? "not ok" : "ok", i + 1, tests[i].name);
		if (ktap_failures)
			status = EXIT_FAILURE;
	}
	return status;
}

/* A buffer of exactly @len bytes: AddressSanitizer sees the byte before and behind it. */
static inline void *exact_alloc(size_t len)
{
	void *p = malloc(len);

	if (!p)
		abort();
	return p;
}

/* The same numbers in every run (splitmix64). */
static inline u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif /* UNIT_KTAP_H */
