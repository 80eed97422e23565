#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// A nameless file in memory (memfd) of this many zeros, which nobody can
// shrink any more. It has a size but no pages yet: see ReservePages. It is gone
// with the last process that has it open or mapped: nothing can be left
// behind, and no limit of /dev/shm applies.
// Errors: ResourceExhausted.
absl::StatusOr<OwnedFd> CreateMemoryFile(int64_t bytes);

// Gives the range its pages now, near the calling thread's processor, so that
// touching it later can neither fail nor raise SIGBUS. Whole pages.
// Errors: ResourceExhausted, which says how much there is and was wanted.
absl::Status ReservePages(int fd, int64_t offset, int64_t bytes);

// A file mapped into this process, to read and write. Movable only.
class Mapping {
 public:
  // Errors: ResourceExhausted.
  static absl::StatusOr<Mapping> Of(int fd, int64_t bytes);

  Mapping() = default;
  ~Mapping() { Unmap(); }
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    if (this != &other) {
      Unmap();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }

  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  // Asks for huge pages, where the machine's settings leave it to us.
  void AdviseHugePages() const;

 private:
  Mapping(char* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  void Unmap();

  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_
