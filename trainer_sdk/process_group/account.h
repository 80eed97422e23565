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

// What the ranks of a group that gave up tell each other through the store,
// whatever the transport: each one its last operation.

// Why they do not get on, by what each called last: who called something else,
// who is behind, of whom nothing is known, unless `told`, the failure that this
// is to explain, names them already ("rank 3"). `accounts` by rank; one line;
// empty where all called the same. Pure.
std::string CompareAccounts(
    const std::vector<std::optional<OperationSignature>>& accounts,
    const std::string& told);

// Leaves this rank's account in the store.
absl::Status PublishAccount(const GroupPlace& place,
                            const OperationSignature& last);

// Waits until `deadline` for everybody's accounts. By rank; those of a group's
// first 128 only.
std::vector<std::optional<OperationSignature>> ReadAccounts(
    const GroupPlace& place, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_H_
