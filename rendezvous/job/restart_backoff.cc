#include "rendezvous/job/restart_backoff.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// The FNV-1a hash of `text`, mixed so that each bit of the result depends on
// all bits of the hash.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace

void RestartBackoff::RoundEnded(End end, Duration ran) {
  if (ran >= kHealthyRound) failures_ = 0;
  if (end == End::kFailure) ++failures_;
}

Duration RestartBackoff::Delay(const std::string& run_tag, int round) const {
  if (failures_ <= kFreeFailures) return Duration::zero();
  Duration whole = kFirstDelay;
  for (int i = kFreeFailures + 1; i < failures_ && whole < kMaxDelay; ++i) {
    whole = std::min(2 * whole, kMaxDelay);
  }
  const auto half = static_cast<uint64_t>((whole / 2).count());
  const uint64_t jitter =
      HashOf(absl::StrCat(run_tag, "/", round)) % (half + 1);
  return Duration(static_cast<int64_t>(half + jitter));
}

}  // namespace muster::rendezvous
