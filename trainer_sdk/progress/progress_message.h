#ifndef MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_
#define MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster {

// What a worker tells its agent at one time: only what is set is sent.
struct ProgressUpdate {
  std::optional<int64_t> step = {};
  std::optional<double> loss = {};
  std::optional<double> tokens_per_second = {};
  // From now on a silence longer than this is a hang; 0 turns that off.
  std::optional<Duration> watchdog = {};
  // One line of free text; what is beyond 256 bytes is cut off.
  std::optional<std::string> status = {};
};

// The datagram that says so, in the manner of sd_notify: lines KEY=VALUE, of
// STEP, LOSS, TOKENS_PER_S, WATCHDOG_S and STATUS. An empty update is
// "WATCHDOG=1": still alive. Line ends in the status become spaces, so that
// they cannot be taken for further keys. Pure.
std::string ProgressMessage(const ProgressUpdate& update);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_
