#ifndef MUSTER_TRAINER_SDK_NETWORK_SCRATCH_H_
#define MUSTER_TRAINER_SDK_NETWORK_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace muster {

// Memory for received data before it is reduced. Reused, because new pages cost
// more than a small operation.
class Scratch {
 public:
  // Returns at least `bytes` of uninitialised memory. Invalidates memory
  // returned before.
  char* Get(int64_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<std::max_align_t[]>(
          bytes / sizeof(std::max_align_t) + 1);
      bytes_ = bytes;
    }
    return reinterpret_cast<char*>(memory_.get());
  }

 private:
  std::unique_ptr<std::max_align_t[]> memory_;
  int64_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_SCRATCH_H_
