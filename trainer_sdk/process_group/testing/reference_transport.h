#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Transports among the threads of one process, as plain as can be: one mutex,
// and the last rank to come computes for all, element by element. For tests of
// what stands on transports, and of the conformance suite. Groups are told
// apart by their store and name.
TransportFactory ReferenceTransports();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_
