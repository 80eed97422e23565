#include "rendezvous/job/communication_error.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace muster::rendezvous {
namespace {

// In lower case. PyTorch: DistError and what derives from it; Gloo and the
// c10d store: the rest.
constexpr std::string_view kPhrases[] = {
    "connection closed",
    "connection reset",
    "connection refused",
    "connection aborted",
    "connection timed out",
    "closed its connection",
    "connectionerror",
    "connectionreseterror",
    "connectionrefusederror",
    "brokenpipeerror",
    "broken pipe",
    "connectionabortederror",
    "disterror",
    "distbackenderror",
    "distnetworkerror",
    "diststoreerror",
    "nccl",
    "gloo",
    "socket timeout",
    "watchdog caught",
    "remote process exited",
    "no route to host",
    "network is unreachable",
};

}  // namespace

bool IsCommunicationError(std::string_view message) {
  const std::string lower = absl::AsciiStrToLower(std::string(message));
  return std::any_of(std::begin(kPhrases), std::end(kPhrases),
                     [&](std::string_view phrase) {
                       return lower.find(phrase) != std::string::npos;
                     });
}

}  // namespace muster::rendezvous
