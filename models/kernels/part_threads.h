#ifndef MUSTER_MODELS_KERNELS_PART_THREADS_H_
#define MUSTER_MODELS_KERNELS_PART_THREADS_H_

#include <functional>

namespace muster::models {

// Calls part(0) to part(count - 1), some on the calling thread and the others
// on threads that are kept for later calls. Returns after all of them.
// Thread-safe: concurrent calls take turns. A forked child starts its own
// threads.
void RunParts(int count, const std::function<void(int)>& part);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_PART_THREADS_H_
