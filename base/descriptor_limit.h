#ifndef MUSTER_BASE_DESCRIPTOR_LIMIT_H_
#define MUSTER_BASE_DESCRIPTOR_LIMIT_H_

namespace muster {

// Raises this process's soft limit of open descriptors as far as allowed.
// Returns the number of connections that a server may accept if it keeps
// `kept_for_others` descriptors for files, pipes and epoll sets. The result is
// at least half of the limit, but at most 1,000,000.
//
// A gRPC listener that runs out of descriptors never accepts again, so the
// limit must be raised and known before the first connection.
int RaiseDescriptorLimit(int kept_for_others);

}  // namespace muster

#endif  // MUSTER_BASE_DESCRIPTOR_LIMIT_H_
