#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Tells the peers, through the group's store, that this rank has failed with
// `failure` in `last`, and what that was; then waits for `wait` for theirs, and
// says why the ranks do not get on (CompareAccounts). Empty where that is not
// known, and without a wait. Takes a second longer at most, whatever has become
// of the store.
std::string ExchangeAccounts(const GroupPlace& place,
                             const OperationSignature& last,
                             const absl::Status& failure, Duration wait);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ACCOUNT_EXCHANGE_H_
