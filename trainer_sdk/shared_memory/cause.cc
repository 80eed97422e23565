#include "trainer_sdk/shared_memory/cause.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster {

void SetCause(GroupPage& group, int rank, const absl::Status& cause) {
  uint32_t none = 0;
  const uint32_t mine = 1 + static_cast<uint32_t>(rank);
  if (!group.broken.compare_exchange_strong(none, mine)) return;
  const std::string text(cause.message());
  const size_t length = std::min(text.size(), sizeof(group.text) - 1);
  std::memcpy(group.text, text.data(), length);
  group.text[length] = '\0';
  group.code = static_cast<int32_t>(cause.code());
  group.broken.store(mine | kCauseComplete, std::memory_order_seq_cst);
}

absl::Status CauseOf(const GroupPage& group) {
  // The two stores of SetCause are microseconds apart, but the writer may be
  // killed between them.
  const Instant give_up = MonotonicNow() + std::chrono::seconds(1);
  uint32_t state;
  while (((state = group.broken.load(std::memory_order_acquire)) &
          kCauseComplete) == 0) {
    if (MonotonicNow() > give_up) {
      return absl::UnavailableError(absl::StrCat(
          "rank ", state - 1, " broke the group and died before it said why"));
    }
    sched_yield();
  }
  return absl::Status(
      static_cast<absl::StatusCode>(group.code),
      std::string(group.text, strnlen(group.text, sizeof(group.text))));
}

}  // namespace muster
