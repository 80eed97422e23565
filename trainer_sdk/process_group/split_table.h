#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_TABLE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The arguments that one rank passed to Split.
struct SplitChoice {
  int color = 0;
  int key = 0;

  friend bool operator==(const SplitChoice&, const SplitChoice&) = default;
};

// The ranks that chose the same color as `rank`, ordered by key, then by rank.
// Empty for a negative color. Pure.
std::vector<int> MembersOf(const std::vector<SplitChoice>& choices, int rank);

// Exchanges the choices of all ranks through the store, and returns them
// indexed by rank; see ExchangeThroughStore.
absl::StatusOr<std::vector<SplitChoice>> ExchangeChoices(Store& store, int rank,
                                                         int size,
                                                         SplitChoice choice,
                                                         Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_TABLE_H_
