#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_

#include <cstdint>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// One row's operation on one rank. Pure, apart from the given buffers.
struct BenchCase {
  OperationKind kind = OperationKind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int rank = 0;
  int size = 1;
  int64_t count = 0;  // number of elements of the shorter buffer

  // Number of elements of the longer buffer.
  int64_t longest() const;
};

// The case whose longer buffer has at most `bytes`.
BenchCase BenchCaseOf(OperationKind kind, DType dtype, ReduceOp op, int root,
                      int rank, int size, int64_t bytes);

// Whether the kind has an in-place form.
bool HasInPlace(OperationKind kind);

// Construct the operation; each buffer must have room for longest() elements.
Operation OutOfPlace(const BenchCase& test, void* first, void* second);
Operation InPlace(const BenchCase& test, void* buffer);

// Fills the output of `operation` with a value that no rank produces, and then
// its input with this rank's values.
void Prepare(const BenchCase& test, const Operation& operation);

// The number of wrong elements in the output.
int64_t CountWrong(const BenchCase& test, const Operation& operation);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_
