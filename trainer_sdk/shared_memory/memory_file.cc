#include "trainer_sdk/shared_memory/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/shared_memory/memory_room.h"

namespace muster {
namespace {

absl::Status Exhausted(const char* what, int64_t bytes, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot ", what, " ", bytes,
                   " bytes of shared memory: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<OwnedFd> CreateMemoryFile(int64_t bytes) {
  // Beyond this limit the kernel sends SIGXFSZ, which by default kills the
  // process.
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<uint64_t>(bytes) > limit.rlim_cur) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot create ", bytes,
                     " bytes of shared memory: the limit on file "
                     "sizes (ulimit -f) is ",
                     limit.rlim_cur, " bytes"));
  }
  OwnedFd fd(memfd_create("muster", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.open()) return Exhausted("create", bytes, errno);
  if (ftruncate(fd.get(), bytes) != 0) {
    return Exhausted("create", bytes, errno);
  }
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
      0) {
    return Exhausted("seal", bytes, errno);
  }
  return fd;
}

absl::Status ReservePages(int fd, int64_t offset, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  // Without this check the kernel would use up all memory and invoke the OOM
  // killer before fallocate fails.
  if (absl::Status room = CheckMemoryRoom(bytes); !room.ok()) return room;
  int result;
  do {
    result = fallocate(fd, 0, offset, bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return Exhausted("reserve", bytes, errno);
  return absl::OkStatus();
}

absl::StatusOr<Mapping> Mapping::Of(int fd, int64_t bytes) {
  void* const data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return Exhausted("map", bytes, errno);
  return Mapping(static_cast<char*>(data), bytes);
}

void Mapping::AdviseHugePages() const {
  if (data_ != nullptr) madvise(data_, bytes_, MADV_HUGEPAGE);
}

void Mapping::Unmap() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace muster
