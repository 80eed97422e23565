#ifndef MUSTER_BASE_DESCRIPTOR_LIMIT_H_
#define MUSTER_BASE_DESCRIPTOR_LIMIT_H_

namespace muster {

// Raises this process's limit of open descriptors to what it may raise it to,
// and returns how many connections a server may then take, with enough left
// for `kept_for_others`: files, pipes, epoll sets. Where the limit is small,
// half of it at least.
//
// A gRPC listener that runs out of descriptors never accepts again, so the
// limit has to be known, and raised, before the first connection.
int RaiseDescriptorLimit(int kept_for_others);

}  // namespace muster

#endif  // MUSTER_BASE_DESCRIPTOR_LIMIT_H_
