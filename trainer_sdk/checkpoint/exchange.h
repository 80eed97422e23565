#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// A message of one rank to the others: whether it succeeded, and some bytes.
struct Word {
  absl::Status status;
  std::string bytes;
};

// Collective and blocking. Returns every rank's message, by rank. Errors are
// the group's.
absl::StatusOr<std::vector<Word>> Exchange(ProcessGroup& group,
                                           const Word& mine,
                                           CallOptions options = {});

// The first failure among the messages, prefixed with its rank; OK if there is
// none.
absl::Status FirstFailureOf(const std::vector<Word>& words);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_
