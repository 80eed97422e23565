/* OpenMPI's MPI_Allreduce, measured as worker.cc measures the others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int Ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long bytes = 4L << 10; bytes <= 128L << 20; bytes *= 2) {
    const int count = (int)(bytes / (long)sizeof(float));
    float* const data = calloc((size_t)count, sizeof(float));
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < 2; ++i) {
      MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    }
    double rounds = 0.15 / ((MPI_Wtime() - begin) / 2);
    if (rounds < 5) rounds = 5;
    if (rounds > 3000) rounds = 3000;
    MPI_Bcast(&rounds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const int n = (int)rounds;
    double* const times = malloc((size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
      const double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
      times[i] = (MPI_Wtime() - start) * 1e6;
    }
    qsort(times, (size_t)n, sizeof(double), Ascending);
    if (rank == 0) printf("%ld %.3f\n", bytes, times[n / 2]);
    fflush(stdout);
    free(times);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
