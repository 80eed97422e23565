#include "trainer_sdk/reduce/reduce.h"

#include <cstring>

#include "base/check.h"
#include "base/processor_kind.h"
#include "trainer_sdk/reduce/kernels.h"

namespace muster {
namespace {

const ReductionTable& Kernels() {
  static const ReductionTable& best =
      ChosenProcessorKind() != ProcessorKind::kBaseline ? *Avx2Reductions()
                                                        : BaselineReductions();
  return best;
}

ReductionTable::ReduceKernel Kernel(DType dtype, ReduceOp op) {
  return Kernels().reduce[static_cast<int>(dtype)][static_cast<int>(op)];
}

}  // namespace

void Reduce(DType dtype, ReduceOp op, const void* const* sources,
            int source_count, void* const* destinations, int destination_count,
            int64_t count) {
  MUSTER_CHECK(source_count >= 1) << "nothing to reduce";
  if (count <= 0 || destination_count == 0) return;
  // every reduction of a single source is the source itself, including NaNs
  if (source_count == 1) {
    for (int i = 0; i < destination_count; ++i) {
      if (destinations[i] == sources[0]) continue;
      std::memcpy(destinations[i], sources[0], count * SizeOf(dtype));
    }
    return;
  }
  Kernel(dtype, op)(sources, source_count, destinations, destination_count,
                    count, source_count);
}

void Accumulate(DType dtype, ReduceOp op, void* destination, const void* source,
                int64_t count) {
  if (count <= 0) return;
  const void* const sources[] = {destination, source};
  const ReduceOp without_division = op == ReduceOp::kAvg ? ReduceOp::kSum : op;
  Kernel(dtype, without_division)(sources, 2, &destination, 1, count, 1);
}

void Narrow(const float* from, DType type, void* to, int64_t count) {
  MUSTER_CHECK(type == DType::kBFloat16 || type == DType::kFloat16)
      << Name(type) << " is not narrower";
  const ReductionTable::NarrowKernel kernel = type == DType::kBFloat16
                                                  ? Kernels().narrow_bfloat16
                                                  : Kernels().narrow_float16;
  kernel(from, static_cast<uint16_t*>(to), count);
}

void Widen(DType type, const void* from, float* to, int64_t count) {
  MUSTER_CHECK(type == DType::kBFloat16 || type == DType::kFloat16)
      << Name(type) << " is not narrower";
  const ReductionTable::WidenKernel kernel = type == DType::kBFloat16
                                                 ? Kernels().widen_bfloat16
                                                 : Kernels().widen_float16;
  kernel(static_cast<const uint16_t*>(from), to, count);
}

void Divide(DType dtype, void* data, int64_t count, int64_t divisor) {
  MUSTER_CHECK(divisor >= 1) << "divided by " << divisor;
  if (count <= 0 || divisor == 1) return;
  const void* const source = data;
  Kernel(dtype, ReduceOp::kAvg)(&source, 1, &data, 1, count, divisor);
}

}  // namespace muster
