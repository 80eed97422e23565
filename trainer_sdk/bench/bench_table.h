#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// One half of a row: out of place or in place.
struct BenchMeasurement {
  double microseconds = 0;       // of one operation, the mean over all ranks
  std::optional<int64_t> wrong;  // elements, over all ranks; none: not checked
};

struct BenchRow {
  OperationKind kind = OperationKind::kAllReduce;
  int64_t bytes = 0;  // of the longer buffer
  int64_t count = 0;  // elements, of the shorter one
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int ranks = 1;
  BenchMeasurement out_of_place;
  std::optional<BenchMeasurement> in_place;  // none: the kind has none
};

// What algbw is multiplied by to give busbw.
double BusFactor(OperationKind kind, int ranks);

// nccl-tests' table, so that whatever reads theirs reads this. Pure.
std::string BenchHead();
std::string BenchLine(const BenchRow& row);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
