#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Called after this rank failed with `failure` during `last`. Writes both to
// the group's store, waits up to `wait` for the accounts of the peers, and
// returns how the ranks' calls differ (CompareAccounts). Empty if no difference
// is known or `wait` is zero. Blocks for at most `wait` plus one second, even
// if the store is unreachable.
std::string ExchangeAccounts(const GroupPlace& place,
                             const OperationSignature& last,
                             const absl::Status& failure, Duration wait);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_
