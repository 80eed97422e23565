#ifndef MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_
#define MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_

namespace muster {

// What decides how many threads a process's matrix products should have.
struct MatrixThreadFacts {
  // OPENBLAS_NUM_THREADS and OMP_NUM_THREADS; 0: not set to a number.
  int openblas = 0;
  int omp = 0;
  // Cores that this process may run on, and those that the machine has.
  int allotted_cores = 1;
  int machine_cores = 1;
  // Cores' worth of time that the control group has; 0: any.
  int quota = 0;
  // Of this job on this host, this one included.
  int processes = 1;
};

// As many as the cores that are this process's: what was asked for, but
// OpenMP's number only up to the cores that there are (launch sets it to a
// rank's share); else the cores that the process is bound to, or where it is
// bound to none its share of all of them. At least 1. Pure.
int ChooseMatrixThreads(const MatrixThreadFacts& facts);

// Of this process, one of `processes` on this host.
MatrixThreadFacts ReadMatrixThreadFacts(int processes);

// The threads of each later product in this process. Their number does not
// change a product's bits: matrix_product.h splits the work, and OpenBLAS,
// which rounds otherwise on another number of its own threads, is left with one
// (openblas_set_num_threads). Any thread.
void UseMatrixThreads(int count);

// What UseMatrixThreads was called with last; before the first call, OpenBLAS's
// own number. Any thread.
int MatrixThreads();

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_MATRIX_THREADS_H_
