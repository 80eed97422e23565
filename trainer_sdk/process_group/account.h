#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Functions that explain why a group broke, for every transport. Each rank
// publishes its account, the last operation that it called, in the store, and
// all ranks compare the accounts.

// Compares the last calls of the ranks, indexed by rank, and returns one line
// that names the ranks that called another operation, the ranks that called
// fewer operations, and the ranks without an account. A rank without an account
// is left out if `told`, the failure to be explained, names it already ("rank
// 3"). Empty if all ranks called the same operation. Pure.
std::string CompareAccounts(
    const std::vector<std::optional<OperationSignature>>& accounts,
    const std::string& told);

// Writes this rank's last operation to the store.
absl::Status PublishAccount(const GroupPlace& place,
                            const OperationSignature& last);

// Blocks until every rank's account (last operation) is in the store or
// `deadline` passes, then returns the accounts that are there, indexed by rank.
// Only the first 128 ranks of a group are read.
std::vector<std::optional<OperationSignature>> ReadAccounts(
    const GroupPlace& place, Instant deadline);

// Called after this rank failed with `failure` during `last`. Writes `failure`
// and `last` to the group's store, waits up to `wait` for the accounts of the
// peers, and returns how the ranks' calls differ (CompareAccounts). Empty if no
// difference is known or `wait` is zero. Blocks for at most `wait` plus one
// second, even if the store is unreachable.
std::string ExchangeAccounts(const GroupPlace& place,
                             const OperationSignature& last,
                             const absl::Status& failure, Duration wait);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_H_
