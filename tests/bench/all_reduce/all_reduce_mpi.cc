// Measures OpenMPI's all_reduce; started by mpirun.
//
//   all_reduce_mpi kept|written BYTES...
//
// kept: nothing writes the data between two calls. written: each rank writes
// its data before each call (`contents` of MeasureAllReduce, measure.h).

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/all_reduce/measure.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string contents = argc > 1 ? argv[1] : "";
  const std::vector<int64_t> sizes = muster::SizesOf(argc, argv, 2);
  void* data = nullptr;
  MPI_Alloc_mem(muster::Longest(sizes), MPI_INFO_NULL, &data);
  muster::MeasureAllReduce(
      rank, contents, static_cast<float*>(data), sizes, [&](int64_t bytes) {
        MPI_Allreduce(MPI_IN_PLACE, data,
                      static_cast<int>(bytes / sizeof(float)), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
      });
  MPI_Free_mem(data);
  MPI_Finalize();
  return 0;
}
