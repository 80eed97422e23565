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

// Checks that `bytes` bytes exceed neither the available memory of this host
// nor the memory limits of this process's control groups. ResourceExhausted:
// the message names the exceeded limit. A limit whose file in /proc or
// /sys/fs/cgroup cannot be read is not checked.
absl::Status CheckMemoryRoom(int64_t bytes);

// The number of available bytes according to `meminfo`, the text of
// /proc/meminfo: MemAvailable plus SwapFree. nullopt if there is no
// MemAvailable.
std::optional<int64_t> AvailableIn(const std::string& meminfo);

// The path, with a leading slash, of this process's control group for
// `controller`; for version 2 of control groups, `controller` is "". `cgroups`
// is the text of /proc/self/cgroup. nullopt: this text lists no control group
// for `controller`.
std::optional<std::string> GroupIn(const std::string& cgroups,
                                   const std::string& controller);

// Creates a file in memory (memfd) with `bytes` zero bytes, which cannot be
// shrunk. The file's pages are not allocated yet: see ReservePages. The file
// disappears with the last process that has it open or mapped, so nothing is
// left behind. The limits of /dev/shm do not apply to the file. Errors:
// ResourceExhausted.
absl::StatusOr<OwnedFd> CreateMemoryFile(int64_t bytes);

// Allocates the memory pages of a range of the file now, near the calling
// thread's processor. Later accesses can then neither fail nor raise SIGBUS.
// The range must be whole pages. ResourceExhausted: the message gives the
// requested amount and the reason.
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

  // Asks the kernel for huge pages in this mapping, if the system allows that.
  void AdviseHugePages() const;

 private:
  Mapping(char* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  void Unmap();

  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_FILE_H_
