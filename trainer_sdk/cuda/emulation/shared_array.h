#ifndef MUSTER_TRAINER_SDK_CUDA_EMULATION_SHARED_ARRAY_H_
#define MUSTER_TRAINER_SDK_CUDA_EMULATION_SHARED_ARRAY_H_

#include <cstddef>
#include <cstring>

#include "base/check.h"

namespace muster {
namespace emulation {

// An emulated array in GPU shared memory, used by the kernels that the calling
// thread runs.
class SharedMemory {
 public:
  // Fills all of the thread's shared arrays with NaNs, so that a kernel that
  // wrongly reads values of an earlier block gets NaNs.
  static void Spoil();

 protected:
  SharedMemory(void* data, size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

 private:
  void* const data_;
  const size_t bytes_;
  SharedMemory* const next_;
};

}  // namespace emulation

// The emulation of SharedArray in trainer_sdk/cuda/execution.h. It checks every
// index.
template <typename T, int size>
class SharedArray : private emulation::SharedMemory {
 public:
  SharedArray() : SharedMemory(values_, sizeof(values_)) {}

  T& operator[](int i) {
    MUSTER_CHECK(i >= 0 && i < size)
        << "element " << i << " of " << size << " in shared memory";
    return values_[i];
  }

 private:
  T values_[size];
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_EMULATION_SHARED_ARRAY_H_
