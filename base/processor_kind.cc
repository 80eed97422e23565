#include "base/processor_kind.h"

#include <cstdlib>

namespace muster {
namespace {

constexpr ProcessorKind kKinds[] = {
    ProcessorKind::kBaseline, ProcessorKind::kAvx2, ProcessorKind::kAvx512};

bool IsAvx2() {
#if defined(__x86_64__)
#if !defined(__clang__)
  // This check is omitted under clang: clang 14, which builds the fuzzers, does
  // not accept the name "f16c".
  if (!__builtin_cpu_supports("f16c")) return false;
#endif
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool IsAvx512() {
#if defined(__x86_64__)
  return IsAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace

std::string_view Name(ProcessorKind kind) {
  switch (kind) {
    case ProcessorKind::kBaseline:
      return "baseline";
    case ProcessorKind::kAvx2:
      return "avx2";
    case ProcessorKind::kAvx512:
      return "avx512";
  }
  return "";
}

std::vector<ProcessorKind> ProcessorKinds() {
  std::vector<ProcessorKind> kinds = {ProcessorKind::kBaseline};
  if (IsAvx2()) kinds.push_back(ProcessorKind::kAvx2);
  if (IsAvx512()) kinds.push_back(ProcessorKind::kAvx512);
  return kinds;
}

ProcessorKind ChooseProcessorKind(const std::vector<ProcessorKind>& kinds,
                                  std::string_view name) {
  ProcessorKind widest = kinds.back();
  for (const ProcessorKind kind : kKinds) {
    if (Name(kind) == name && kind < widest) widest = kind;
  }
  return widest;
}

ProcessorKind ChosenProcessorKind() {
  static const ProcessorKind chosen = [] {
    const char* const name = std::getenv("MUSTER_PROCESSOR");
    return ChooseProcessorKind(ProcessorKinds(), name == nullptr ? "" : name);
  }();
  return chosen;
}

}  // namespace muster
