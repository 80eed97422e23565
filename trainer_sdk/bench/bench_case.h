#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_

#include <cstdint>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// One row's operation as one rank sees it. Pure, but for the buffers that it
// is given.
struct BenchCase {
  OperationKind kind = OperationKind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int rank = 0;
  int size = 1;
  int64_t count = 0;  // elements of the shorter buffer

  // Elements of the longer buffer.
  int64_t longest() const;
};

// The case whose longer buffer has at most `bytes`.
BenchCase BenchCaseOf(OperationKind kind, DType dtype, ReduceOp op, int root,
                      int rank, int size, int64_t bytes);

// Whether the kind can be done in place at all.
bool HasInPlace(OperationKind kind);

// Of buffers that both hold the longer one.
Operation OutOfPlace(const BenchCase& test, void* first, void* second);
Operation InPlace(const BenchCase& test, void* buffer);

// Fills the output of `operation` with what is nobody's number, then its input
// with this rank's.
void Prepare(const BenchCase& test, const Operation& operation);

// Elements of the output that are not what they must be.
int64_t CountWrong(const BenchCase& test, const Operation& operation);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_CASE_H_
