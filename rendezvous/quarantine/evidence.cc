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

std::optional<Evidence> EvidenceIn(const std::string& line) {
  const std::string lower = absl::AsciiStrToLower(line);
  for (const Phrase& phrase : kPhrases) {
    if (lower.find(phrase.text) != std::string::npos) {
      return Evidence{.signature = phrase.signature, .line = line};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Evidence> EvidenceIn(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kSignal:
      if (failure.signal == SIGBUS) return Evidence{.signature = "SIGBUS"};
      if (failure.signal == SIGILL) return Evidence{.signature = "SIGILL"};
      break;
    case FailureKind::kExitCode:
    case FailureKind::kHung:
      break;
    case FailureKind::kStartFailed:
    case FailureKind::kStoppedByUs:
    case FailureKind::kNodeLost:
      return std::nullopt;
  }
  if (auto found = EvidenceIn(failure.message)) return found;
  for (const std::string& line : failure.stderr_tail) {
    if (auto found = EvidenceIn(line)) return found;
  }
  return std::nullopt;
}

}  // namespace muster::rendezvous
