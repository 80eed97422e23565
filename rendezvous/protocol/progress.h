#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster {

// What one worker has said of itself in its node's current round, over the
// agent's datagram socket. For people, save `silent_for` and `deadline`.
struct WorkerProgress {
  int local_rank = 0;
  std::optional<int64_t> step;
  std::optional<double> loss;  // as told: may be NaN or infinite
  std::optional<double> tokens_per_s;
  std::string status;  // one line
  // Since it last said anything, when the message that holds this was made.
  Duration silent_for = Duration::zero();
  // A silence of this length is a hang. Zero: it may be silent for ever.
  Duration deadline = Duration::zero();
};

inline constexpr int kMostProgressPerReport = 4096;  // as many as slots can be
inline constexpr size_t kMostStatusBytes = 64;

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
