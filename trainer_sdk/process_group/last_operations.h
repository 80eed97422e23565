#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_LAST_OPERATIONS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_LAST_OPERATIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

// The functions of this file explain why a group broke, whatever its transport.
// Each rank publishes in the store the last operation that it called, and all
// ranks compare these operations.

namespace muster {

// Compares `operations`, the last call of each rank, indexed by rank; nullopt
// if the call is not known. `told` is the error message so far. Returns one
// line that tells how the last calls differ. The line names:
// - The latest collectives, each with the ranks that called it.
// - The ranks whose last call was an earlier collective.
// - The ranks whose last call was a send, a receive or a batch.
// - The ranks whose last call is not known, except those that `told` already
//   names (as in "rank 3").
// Returns an empty text if all ranks called the same collective. Pure.
std::string CompareLastOperations(
    const std::vector<std::optional<OperationSignature>>& operations,
    const std::string& told);

// Writes `last`, the operation that this rank called last, to the group's
// store, where all ranks can read it.
absl::Status PublishLastOperation(const GroupPlace& place,
                                  const OperationSignature& last);

// Blocks until every rank's last operation is in the store or `deadline`
// passes. Returns the operations that are in the store by then, indexed by
// rank; nullopt for a rank that has published none. In a group of more than 128
// ranks, only the operations of ranks 0 to 127 are awaited and read.
std::vector<std::optional<OperationSignature>> ReadLastOperations(
    const GroupPlace& place, Instant deadline);

// Called after this rank failed with `failure` during `last`. Writes `failure`
// and `last` to the group's store, and waits up to `wait` until the peers have
// written their last operations. Returns how the ranks' calls differ
// (CompareLastOperations). Empty if no difference is known or `wait` is zero.
// Blocks for at most `wait` plus one second, even if the store is unreachable.
std::string ExchangeLastOperations(const GroupPlace& place,
                                   const OperationSignature& last,
                                   const absl::Status& failure, Duration wait);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_LAST_OPERATIONS_H_
