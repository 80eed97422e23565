#ifndef MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_
#define MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_

#include <functional>

namespace muster::models {

// Calls part(0) to part(count - 1), some on the calling thread and the others
// on a pool of threads that is kept between calls. Returns when all these calls
// have returned. Thread-safe: concurrent calls take turns. A forked child
// starts its own pool.
void RunParts(int count, const std::function<void(int)>& part);

// The facts that determine the number of threads for a process's matrix
// products.
struct MatrixThreadFacts {
  // openblas, omp: the values of the environment variables OPENBLAS_NUM_THREADS
  // and OMP_NUM_THREADS; 0: not set, or not a number.
  int openblas = 0;
  int omp = 0;
  // allotted_cores: number of cores on which this process may run.
  // machine_cores: number of cores of the whole machine.
  int allotted_cores = 1;
  int machine_cores = 1;
  // CPU quota of this process's control group, in cores; 0: unlimited.
  int quota = 0;
  // Number of processes of this job on this host, including this one.
  int processes = 1;
};

// Chooses the number of threads for matrix products, at least 1. Pure. The
// first of these cases that applies decides:
//   1. OPENBLAS_NUM_THREADS is set: this number.
//   2. OMP_NUM_THREADS is set: this number, but at most the number of cores on
//      which the process may run.
//   3. The process is bound to some of the machine's cores: their number.
//   4. Otherwise: an equal share of the machine's cores.
// In cases 3 and 4, the process's share of its control group's CPU quota is the
// upper limit.
int ChooseMatrixThreads(const MatrixThreadFacts& facts);

// Returns the facts about this process from which ChooseMatrixThreads chooses
// the number of threads. `processes`: the number of the job's processes on this
// host, this process included.
MatrixThreadFacts ReadMatrixThreadFacts(int processes);

// Sets the number of threads of all later matrix products in this process. The
// number does not change the results: matrix_product.h divides the work itself.
// OpenBLAS's rounding depends on its number of threads, so OpenBLAS is limited
// to one thread (openblas_set_num_threads). Any thread.
void UseMatrixThreads(int count);

// The current number of threads: that of the last call of UseMatrixThreads or,
// before the first call, OpenBLAS's own number of threads. Any thread.
int MatrixThreads();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_
