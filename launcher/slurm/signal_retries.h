#ifndef MUSTER_LAUNCHER_SLURM_SIGNAL_RETRIES_H_
#define MUSTER_LAUNCHER_SLURM_SIGNAL_RETRIES_H_

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/time.h"

namespace muster::launcher {

// Decides when a signal that could not be sent to a Slurm step is sent again:
// once, after a pause. Pure.
class SignalRetries {
 public:
  static constexpr Duration kPause = std::chrono::seconds(2);

  struct Retry {
    int signal = 0;
    Instant at;  // time at which `signal` is sent again
  };
  // Returns the retry that is due first; nullopt: none is pending. O(n).
  std::optional<Retry> Next() const {
    const auto first = std::ranges::min_element(
        failed_, {}, [](const auto& one) { return one.second; });
    if (first == failed_.end()) return std::nullopt;
    return Retry{.signal = first->first, .at = first->second};
  }

  // Records that the signal was sent. Its pending retry is dropped.
  void Sent(int signal) { failed_.erase(signal); }

  enum class Failure {
    kFirst,  // a retry is pending: the signal is sent again after the pause
    kFinal,  // the retry has failed, and there is no further retry
  };
  // Records that an attempt to send the signal, which lasted from `began` to
  // `ended`, has failed. A failed attempt that began during the pause before
  // the retry (kPause) does not postpone the retry.
  Failure Failed(int signal, Instant began, Instant ended) {
    const auto [failed, is_first] = failed_.try_emplace(signal, ended + kPause);
    if (is_first || began < failed->second) return Failure::kFirst;
    failed_.erase(failed);
    return Failure::kFinal;
  }

 private:
  // Key: a signal that could not be sent. Value: the end of the pause before it
  // is sent again.
  std::map<int, Instant> failed_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SIGNAL_RETRIES_H_
