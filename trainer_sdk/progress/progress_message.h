#ifndef MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_
#define MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster {

// A worker's report to its agent. Only fields that are set are sent.
struct ProgressUpdate {
  std::optional<int64_t> step = {};
  std::optional<double> loss = {};
  std::optional<double> tokens_per_second = {};
  // From now on a silence longer than this counts as a hang; 0 disables that.
  std::optional<Duration> watchdog = {};
  // One line of free text, truncated to 256 bytes.
  std::optional<std::string> status = {};
};

// The datagram for `update`, in the style of sd_notify: lines KEY=VALUE with
// the keys STEP, LOSS, TOKENS_PER_S, WATCHDOG_S and STATUS. An empty update is
// "WATCHDOG=1": still alive. Line breaks in the status become spaces, so that
// they cannot start further keys. Pure.
std::string ProgressMessage(const ProgressUpdate& update);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_MESSAGE_H_
