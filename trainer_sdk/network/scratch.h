#ifndef MUSTER_TRAINER_SDK_NETWORK_SCRATCH_H_
#define MUSTER_TRAINER_SDK_NETWORK_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace muster {

// Memory for what is received and not yet reduced; kept from operation to
// operation, because fresh pages cost more than a small operation.
class Scratch {
 public:
  // At least `bytes`, not initialised. Ends the life of what it gave before.
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
