#ifndef MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/scratch.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Performs `operation` over `mesh`, between its Begin and Finish. The result is
// bit-identical on every rank: each element is reduced in one order, by one
// rank or by all alike. The algorithm depends only on kind, size and bytes.
absl::Status RunOverMesh(const Operation& operation, Mesh& mesh,
                         Scratch& scratch);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_
