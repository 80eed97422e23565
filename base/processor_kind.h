#ifndef MUSTER_BASE_PROCESSOR_KIND_H_
#define MUSTER_BASE_PROCESSOR_KIND_H_

#include <string_view>
#include <vector>

namespace muster {

// The instruction sets that kernels are compiled for, in ascending order.
// kAvx2: AVX2, FMA and F16C. kAvx512: in addition AVX-512 F, BW, DQ and VL.
enum class ProcessorKind { kBaseline, kAvx2, kAvx512 };

std::string_view Name(ProcessorKind kind);

// The kinds that this processor supports, kBaseline first.
std::vector<ProcessorKind> ProcessorKinds();

// The kind whose kernels run in this process. This is the widest kind that the
// processor supports. For tests and measurements, the environment variable
// MUSTER_PROCESSOR can name a narrower one (baseline, avx2, avx512). All calls
// return the same value. Thread-safe.
ProcessorKind ChosenProcessorKind();

// Returns the widest of `kinds` that is not wider than the kind named `name`.
// An unknown or empty name sets no limit.
ProcessorKind ChooseProcessorKind(const std::vector<ProcessorKind>& kinds,
                                  std::string_view name);

}  // namespace muster

#endif  // MUSTER_BASE_PROCESSOR_KIND_H_
