#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster::rendezvous {

// The progress of one worker in its node's current round, as sent to the
// agent's datagram socket. Only `silent_for` and `deadline` affect decisions;
// the rest is for people.
struct WorkerProgress {
  int local_rank = 0;
  std::optional<int64_t> step;
  // as the worker reported it; may be NaN or infinite
  std::optional<double> loss;
  std::optional<double> tokens_per_s;
  std::string status;  // one line, written by the worker
  // Time since the worker's last report, when this message was made.
  Duration silent_for = Duration::zero();
  // Length of silence that counts as a hang. 0: no limit.
  Duration deadline = Duration::zero();
};

// Limit of Report::progress; further workers are left out.
inline constexpr int kMaxProgressPerReport = 4096;
inline constexpr size_t kMaxStatusBytes = 64;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
