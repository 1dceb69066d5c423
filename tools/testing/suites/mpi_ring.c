// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Messages of all sizes round a ring of MPI processes, compared; then collectives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE	(1 << 20)

static void die(const char *what, int size)
{
	fprintf(stderr, "%s, %d\n", what, size);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static unsigned char byte(int rank, int size, int i)
{
	return rank * 31 + size * 7 + i * 13 + (i >> 8);
}

int main(int argc, char **argv)
{
	unsigned char *out = malloc(MAX_SIZE), *in = malloc(MAX_SIZE);
	int rank, ranks, size, i, from, to, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2)
		die("one process only", ranks);
	to = (rank + 1) % ranks;
	from = (rank + ranks - 1) % ranks;
	for (size = 0; size <= MAX_SIZE; size = size ? size * 4 : 1) {
		for (i = 0; i < size; i++)
			out[i] = byte(rank, size, i);
		memset(in, 0, size);
		MPI_Sendrecv(out, size, MPI_BYTE, to, size, in, size, MPI_BYTE, from, size,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (i = 0; i < size; i++)
			if (in[i] != byte(from, size, i))
				die("other data", size);
	}
	for (i = 0; i < 100; i++) {
		MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (sum != i * ranks)
			die("wrong sum", sum);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%d processes, all data right\n", ranks);
	MPI_Finalize();
	return 0;
}
