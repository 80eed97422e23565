#ifndef MUSTER_RENDEZVOUS_SERVER_DESCRIPTOR_LIMIT_H_
#define MUSTER_RENDEZVOUS_SERVER_DESCRIPTOR_LIMIT_H_

namespace muster {

// Raises this process's limit of open files to what it may raise it to, and
// returns how many nodes a coordinator can then serve: one connection each,
// with some files left for the rest.
//
// A gRPC listener that runs out of files never accepts again, so the limit has
// to be known, and raised, before the first connection.
int RaiseDescriptorLimit();

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_DESCRIPTOR_LIMIT_H_
