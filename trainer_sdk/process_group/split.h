#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The arguments that one rank passed to Split.
struct SplitChoice {
  int color = 0;
  int key = 0;

  friend bool operator==(const SplitChoice&, const SplitChoice&) = default;
};

// The ranks that chose the same color as `rank`, ordered by key, then by rank.
// Empty if the color of `rank` is negative. Pure.
std::vector<int> MembersOf(const std::vector<SplitChoice>& choices, int rank);

// Publishes in the store the color and key that this rank passed to Split, and
// returns the colors and keys of all ranks, indexed by rank. Errors are those
// of ExchangeThroughStore.
absl::StatusOr<std::vector<SplitChoice>> ExchangeChoices(Store& store, int rank,
                                                         int size,
                                                         SplitChoice choice,
                                                         Instant deadline);

// How one Split of a group is named: its number, its keys in the store, and the
// label for the names of the new groups.
struct SplitNaming {
  // Number of the Split among the group's splits, from 1.
  int number = 1;
  // Prefix of the Split's keys in the group's store.
  std::string prefix;
  // The label that the caller of Split gave; a part of the new groups' names.
  // Empty: the names contain `prefix` instead.
  std::string label;
};

// The place of this rank in its new group after a split: rank, name and keys.
// `members`: the ranks of the parent that form the new group, this rank
// included. Sets `global_ranks` to the members' world ranks, taken from
// `parent_global_ranks`. Pure.
GroupPlace PartOf(const GroupPlace& parent,
                  const std::vector<int>& parent_global_ranks,
                  const std::vector<int>& members, int color,
                  const SplitNaming& naming, std::vector<int>* global_ranks);

// The operation that ranks perform in the group's transport at the beginning of
// a Split.
Operation SplitOperation();

// The first step of a Split: all ranks perform SplitOperation in the group's
// own transport. If a rank calls another collective instead of Split, the
// transport detects the mismatch at once. Later steps wait for the ranks
// through the store. Errors are those of the transport. If any rank fails,
// `formation` is interrupted, and the transport is aborted.
absl::Status MeetToSplit(Transport& transport,
                         const std::shared_ptr<Formation>& formation,
                         const OperationContext& context);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_H_
