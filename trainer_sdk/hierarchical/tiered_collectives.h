#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/hierarchical/tiers.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// What this host's own group says in `message` of a step, told of the whole
// group's ranks; `late` is what a rank does that has not come to the step.
std::string ToldByHost(const Tiers& tiers, const std::string& late,
                       const std::string& message);

// Does `operation` with as little network as can be: a host's ranks come
// together in their shared memory, one of them (or each with a part) goes
// over the network, and the result comes back the same way. What has no use
// of that goes from rank to rank. Every rank gets the same bits.
//
// First the ranks of a host tell each other what they were asked for, since
// the steps below do not show it; hosts tell each other with the data.
absl::Status RunOverTiers(const Operation& operation,
                          const OperationSignature& signature, Instant deadline,
                          Tiers& tiers);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
