#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/hierarchical/tiers.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// Converts `message`, an error of a step in the host's own group, to the ranks
// of the whole group. `late`: text for a rank that has not reached the step.
std::string ToldByHost(const Tiers& tiers, const std::string& late,
                       const std::string& message);

// Performs `operation` with as little network traffic as possible. The ranks of
// a host combine their data in shared memory, one of them (or each with a part)
// exchanges it over the network, and the result returns the same way.
// Operations that do not benefit go from rank to rank. The result is
// bit-identical on every rank.
//
// First the ranks of a host compare their calls, because the steps that follow
// do not show them; hosts compare theirs along with the data.
absl::Status RunOverTiers(const Operation& operation,
                          const OperationSignature& signature, Instant deadline,
                          Tiers& tiers);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
