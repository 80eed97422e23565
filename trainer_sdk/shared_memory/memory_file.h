#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// Checks that this host and the control groups of this process have `bytes` of
// memory left. ResourceExhausted: the message names the limit and the amount
// left. Files that cannot be read are ignored.
absl::Status CheckMemoryRoom(int64_t bytes);

// Available bytes, parsed from /proc/meminfo: MemAvailable plus SwapFree.
std::optional<int64_t> AvailableIn(const std::string& meminfo);

// The path, with a leading slash, of this process's control group for
// `controller` ("" for version 2), parsed from /proc/self/cgroup.
std::optional<std::string> GroupIn(const std::string& cgroups,
                                   const std::string& controller);

// Creates a file in memory (memfd) of `bytes` zeros that cannot be shrunk. The
// file has no pages yet: see ReservePages. It disappears with the last process
// that has it open or mapped, so nothing is left behind, and the limits of
// /dev/shm do not apply. Errors: ResourceExhausted.
absl::StatusOr<OwnedFd> CreateMemoryFile(int64_t bytes);

// Allocates the pages of a range now, near the calling thread's processor, so
// that later accesses can neither fail nor raise SIGBUS. The range must be
// whole pages. ResourceExhausted: the message gives the requested and the
// available amount.
absl::Status ReservePages(int fd, int64_t offset, int64_t bytes);

// A file mapped into this process for reading and writing. Movable, not
// copyable.
class Mapping {
 public:
  // Maps a file. ResourceExhausted: the mapping failed.
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

  // Requests huge pages, if the system allows that per mapping.
  void AdviseHugePages() const;

 private:
  Mapping(char* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  void Unmap();

  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_
