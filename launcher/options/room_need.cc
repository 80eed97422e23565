#include "launcher/options/room_need.h"

#include <algorithm>

#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Measured with a coordinator in the process: 14 threads and 32 descriptors
// with one worker, and 5 descriptors for each further one.
constexpr int kThreads = 16;
constexpr int kDescriptors = 40;
constexpr int kDescriptorsOfAWorker = 6;

// "gpu" and "auto" are counted later; whatever then is too little is said by
// what runs out of it.
int AskedWorkers(const RunOptions& options) {
  constexpr int kMaxTried = 64;
  const absl::StatusOr<int64_t> number =
      ReadNumber(options.workers_per_node, 1, 4096);
  return static_cast<int>(std::min<int64_t>(number.value_or(1), kMaxTried));
}

}  // namespace

ResourceNeed RoomNeededFor(const RunOptions& options) {
  const int workers = AskedWorkers(options);
  return {.threads = kThreads + 1 + workers,
          .descriptors = kDescriptors + kDescriptorsOfAWorker * workers};
}

}  // namespace muster::launcher
