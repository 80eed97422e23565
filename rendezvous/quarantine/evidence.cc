#include "rendezvous/quarantine/evidence.h"

#include <csignal>
#include <string_view>

#include "absl/strings/ascii.h"

namespace muster::rendezvous {
namespace {

// Lower-case texts of the NVIDIA driver, CUDA, NCCL and the kernel about
// defects of hardware, and the class of each.
struct Phrase {
  std::string_view text;
  const char* signature;
};
constexpr Phrase kPhrases[] = {
    {"uncorrectable ecc", "uncorrectable ECC error"},
    {"fallen off the bus", "GPU fallen off the bus"},
    {"gpu is lost", "GPU is lost"},
    {"uncorrectable nvlink", "NVLink error"},
    {"no cuda-capable device", "no CUDA device"},
    {"cuda-capable device(s) is/are busy or unavailable",
     "CUDA device unavailable"},
    {"nvml: unknown error", "NVML error"},
    {"input/output error", "input/output error"},
    {"read-only file system", "read-only file system"},
    {"structure needs cleaning", "damaged file system"},
};

std::optional<std::string> SignatureOf(std::string_view text) {
  const std::string lower = absl::AsciiStrToLower(std::string(text));
  for (const Phrase& phrase : kPhrases) {
    if (lower.find(phrase.text) != std::string::npos) return phrase.signature;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> EvidenceIn(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kSignal:
      if (failure.signal == SIGBUS) return "SIGBUS";
      if (failure.signal == SIGILL) return "SIGILL";
      break;
    case FailureKind::kExitCode:
    case FailureKind::kHung:
      break;
    case FailureKind::kStartFailed:
    case FailureKind::kStoppedByUs:
    case FailureKind::kNodeLost:
      return std::nullopt;
  }
  if (auto found = SignatureOf(failure.message)) return found;
  for (const std::string& line : failure.stderr_tail) {
    if (auto found = SignatureOf(line)) return found;
  }
  return std::nullopt;
}

}  // namespace muster::rendezvous
