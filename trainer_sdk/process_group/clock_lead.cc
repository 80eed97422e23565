#include "trainer_sdk/process_group/clock_lead.h"

#include <algorithm>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

absl::StatusOr<int64_t> ClockLead(ProcessGroup& group) {
  constexpr int kBarriers = 9;
  std::vector<int64_t> own;
  for (int i = 0; i < kBarriers; ++i) {
    if (absl::Status status = group.Run(Barrier()); !status.ok()) return status;
    own.push_back(MonotonicNow().time_since_epoch().count());
  }
  std::vector<int64_t> first = own;
  absl::Status status = group.Run(
      Broadcast(first.data(), first.data(), kBarriers, DType::kInt64, 0));
  if (!status.ok()) return status;
  for (int i = 0; i < kBarriers; ++i) own[i] -= first[i];
  std::nth_element(own.begin(), own.begin() + kBarriers / 2, own.end());
  return own[kBarriers / 2];
}

}  // namespace muster
