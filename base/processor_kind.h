#ifndef MUSTER_BASE_PROCESSOR_KIND_H_
#define MUSTER_BASE_PROCESSOR_KIND_H_

#include <string_view>
#include <vector>

namespace muster {

// What kernels are compiled for, the later the wider. kAvx2: AVX2, FMA and
// F16C. kAvx512: also AVX-512 F, BW, DQ and VL.
enum class ProcessorKind { kBaseline, kAvx2, kAvx512 };

std::string_view Name(ProcessorKind kind);

// The kinds that this processor is, kBaseline first.
std::vector<ProcessorKind> ProcessorKinds();

// The kind whose kernels run in this process: the widest that this processor
// is, or, for tests and measurements, the narrower one that the environment
// variable MUSTER_PROCESSOR names (baseline, avx2, avx512). The same in every
// call. Thread-safe.
ProcessorKind ChosenProcessorKind();

// The choice: the widest of `kinds` that is no wider than the one named. An
// unknown or empty name narrows nothing.
ProcessorKind ChooseProcessorKind(const std::vector<ProcessorKind>& kinds,
                                  std::string_view name);

}  // namespace muster

#endif  // MUSTER_BASE_PROCESSOR_KIND_H_
