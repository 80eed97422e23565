#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// One half of a row of the result table: the measurement of the out-of-place or
// of the in-place form of an operation.
struct BenchMeasurement {
  // mean duration of one operation: on rank 0 if the ranks use GPUs, otherwise
  // over all ranks
  double microseconds = 0;
  // number of wrong elements on all ranks; empty: results were not checked
  std::optional<int64_t> wrong;
};

struct BenchRow {
  OperationKind kind = OperationKind::kAllReduce;
  // size in bytes of the input or the output, whichever is longer
  int64_t bytes = 0;
  // number of elements of the input or the output, whichever is shorter
  int64_t count = 0;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int ranks = 1;
  BenchMeasurement out_of_place;
  // The in-place measurement. Empty if the operation has no in-place form.
  std::optional<BenchMeasurement> in_place;
};

// The factor by which nccl-tests multiplies an operation's algorithm bandwidth
// (algbw) to get its bus bandwidth (busbw).
double BusFactor(OperationKind kind, int ranks);

// The header and the rows of the result table. They have the format of
// nccl-tests, so that programs that parse this format work. Pure.
std::string BenchHead();
std::string BenchLine(const BenchRow& row);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
