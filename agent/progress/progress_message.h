#ifndef MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_
#define MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::agent {

// What a worker says in a datagram, in the manner of sd_notify(3): lines
// KEY=VALUE, of which those that are not known here are ignored.
//
//   STEP=1200             the last step that was finished, 0 or more
//   LOSS=2.31             any number, nan and inf included
//   TOKENS_PER_S=51000    0 or more
//   STATUS=warming up     one line for people
//   WATCHDOG=1            "I live", and nothing else to say
//   WATCHDOG_S=30         from now on a silence of so many seconds is a hang;
//                         0: never, whatever the agent was told or has learned
//
// Each of these lines, if it is sound, is a sign of life.
struct ProgressMessage {
  bool alive = false;
  std::optional<int64_t> step;
  std::optional<double> loss;
  std::optional<double> tokens_per_s;
  std::optional<std::string> status;  // fit to be shown, kMaxStatusBytes
  std::optional<Duration> watchdog;   // zero: none
};

struct WorkerSaid {
  int local_rank = 0;
  ProgressMessage message;
};

// A datagram longer than this is read up to its last whole line within.
inline constexpr size_t kMaxProgressBytes = 4096;
// WATCHDOG_S below this is taken for this: less than the agent's own delays
// would name hangs that are none.
inline constexpr Duration kShortestWatchdog = std::chrono::milliseconds(100);

// Whatever the bytes are; a value that is none is left out. Pure.
ProgressMessage ParseProgress(std::string_view datagram);

// Makes `message` what both together said, `later` being the later one. Pure.
void Append(const ProgressMessage& later, ProgressMessage* message);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_
