#ifndef MUSTER_MODELS_KERNELS_PART_THREADS_H_
#define MUSTER_MODELS_KERNELS_PART_THREADS_H_

#include <functional>

namespace muster {

// Calls part(0) to part(count - 1), some on the calling thread and each other
// on a thread that is kept for later calls, and returns after all of them.
// Thread-safe: concurrent calls take turns. A forked child has threads of its
// own.
void RunParts(int count, const std::function<void(int)>& part);

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_PART_THREADS_H_
