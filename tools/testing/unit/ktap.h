/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A test program: a table of functions, one KTAP line for each. */
#ifndef UNIT_KTAP_H
#define UNIT_KTAP_H

#include <stdio.h>
#include <stdlib.h>
#include <linux/types.h>

/**
 * struct ktap_test - one group of checks
 * @name:	what holds if it passes
 * @run:	stops at the first CHECK() that fails and returns false
 */
struct ktap_test {
	const char *name;
	bool (*run)(void);
};

/* In a function of struct ktap_test or one below it: @cond, else fail with the message. */
#define CHECK(cond, fmt, ...)							\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: %s: " fmt "\n", __FILE__, __LINE__,	\
			       #cond, ##__VA_ARGS__);				\
			return false;						\
		}								\
	} while (0)

static inline int ktap_run(const struct ktap_test *tests, unsigned int n)
{
	int status = EXIT_SUCCESS;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", n);
	for (unsigned int i = 0; i < n; i++) {
		bool ok = tests[i].run();

		printf("%s %u %s\n", ok ? "ok" : "not ok", i + 1, tests[i].name);
		if (!ok)
			status = EXIT_FAILURE;
	}
	return status;
}

#define KTAP_MAIN(tests)				\
	int main(void)					\
	{						\
		return ktap_run(tests, ARRAY_SIZE(tests));	\
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
