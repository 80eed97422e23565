#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Reference transports between threads of one process, with a simple
// implementation: there is one mutex, and the last rank that arrives computes
// the results of all ranks, element by element. Used to test the conformance
// suite, and code that uses transports. Groups are distinguished by their store
// and name.
TransportFactory ReferenceTransports();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_REFERENCE_TRANSPORT_H_
