#ifndef MUSTER_STORE_SERVER_DESCRIPTOR_LIMIT_H_
#define MUSTER_STORE_SERVER_DESCRIPTOR_LIMIT_H_

#include <cstddef>

namespace muster {

// Raises the process's soft limit of open descriptors to the hard one, and
// tells what it is then.
size_t RaiseDescriptorLimit();

// How many of `limit` descriptors connections may take, so that the rest of the
// process keeps enough for its files and pipes.
size_t ConnectionsWithin(size_t limit);

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_DESCRIPTOR_LIMIT_H_
