#include "agent/guardian/start_retry.h"

#include <cerrno>
#include <chrono>

namespace muster::agent {
namespace {

constexpr Duration kFirstDelay = std::chrono::milliseconds(50);
constexpr int kMaxRetries = 7;

}  // namespace

bool IsPassing(const StartFailure& failure, SeenBefore seen) {
  switch (failure.error) {
    case EAGAIN:
    case ENOMEM:
    case ENFILE:
    case ETXTBSY:
    case ESTALE:
    case EIO:
    case ETIMEDOUT:
      return true;
    case ENOENT:
    case ENOTDIR:
      return seen == SeenBefore::kYes;
    default:
      return false;
  }
}

std::optional<Duration> DelayOfRetry(int failed) {
  if (failed < 1 || failed > kMaxRetries) return std::nullopt;
  return kFirstDelay * (1 << (failed - 1));
}

}  // namespace muster::agent
