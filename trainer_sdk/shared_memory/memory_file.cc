#include "trainer_sdk/shared_memory/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster {
namespace {

std::optional<std::string> Contents(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The number that the file at `path` contains; nullopt if it contains the text
// "max" (no limit) or cannot be read.
std::optional<int64_t> NumberIn(const std::string& path) {
  const std::optional<std::string> text = Contents(path);
  int64_t number = 0;
  if (!text || !absl::SimpleAtoi(*text, &number)) return std::nullopt;
  return number;
}

// Checks `bytes` against the limits of the control group `group` and of all
// groups above it; the limits of all these groups apply to `group`. `root`: the
// folder of the topmost group.
absl::Status CheckGroups(const std::string& root, std::string group,
                         const char* limit_file, const char* usage_file,
                         int64_t bytes) {
  while (true) {
    const std::string folder = absl::StrCat(root, group == "/" ? "" : group);
    const std::optional<int64_t> limit =
        NumberIn(absl::StrCat(folder, "/", limit_file));
    const std::optional<int64_t> usage =
        NumberIn(absl::StrCat(folder, "/", usage_file));
    // Compare `bytes` with the control group's limit alone, and do not subtract
    // the group's current usage: the usage includes the page cache, which the
    // kernel can reclaim.
    if (limit && bytes > *limit) {
      return absl::ResourceExhaustedError(absl::StrCat(
          bytes, " bytes of shared memory are wanted, but control group ",
          group, " is limited to ", *limit, " (", limit_file, "), of which ",
          usage.value_or(0), " are used"));
    }
    if (group.empty() || group == "/") return absl::OkStatus();
    const size_t slash = group.rfind('/');
    group = slash == 0 ? "/" : group.substr(0, slash);
  }
}

}  // namespace

std::optional<int64_t> AvailableIn(const std::string& meminfo) {
  std::optional<int64_t> available;
  int64_t swap = 0;
  for (const auto line : absl::StrSplit(meminfo, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kibibytes = 0;
    if (words.size() < 2 || !absl::SimpleAtoi(words[1], &kibibytes)) continue;
    if (words[0] == "MemAvailable:") available = kibibytes * 1024;
    if (words[0] == "SwapFree:") swap = kibibytes * 1024;
  }
  if (available) *available += swap;
  return available;
}

std::optional<std::string> GroupIn(const std::string& cgroups,
                                   const std::string& controller) {
  for (const auto line : absl::StrSplit(cgroups, '\n')) {
    // A line of /proc/self/cgroup is hierarchy:controllers:path; the path may
    // contain colons.
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3 || parts[2].empty() || parts[2][0] != '/') continue;
    for (const auto name : absl::StrSplit(parts[1], ',')) {
      if (std::string(name) == controller) return parts[2];
    }
  }
  return std::nullopt;
}

absl::Status CheckMemoryRoom(int64_t bytes) {
  if (const auto meminfo = Contents("/proc/meminfo")) {
    const std::optional<int64_t> available = AvailableIn(*meminfo);
    if (available && bytes > *available) {
      return absl::ResourceExhaustedError(absl::StrCat(
          bytes, " bytes of shared memory are wanted, but the host has ",
          *available, " left (MemAvailable and SwapFree)"));
    }
  }
  const auto cgroups = Contents("/proc/self/cgroup");
  if (!cgroups) return absl::OkStatus();
  if (const auto group = GroupIn(*cgroups, "")) {
    absl::Status room = CheckGroups("/sys/fs/cgroup", *group, "memory.max",
                                    "memory.current", bytes);
    if (!room.ok()) return room;
  }
  if (const auto group = GroupIn(*cgroups, "memory")) {
    return CheckGroups("/sys/fs/cgroup/memory", *group, "memory.limit_in_bytes",
                       "memory.usage_in_bytes", bytes);
  }
  return absl::OkStatus();
}

namespace {

absl::Status Exhausted(const char* what, int64_t bytes, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot ", what, " ", bytes,
                   " bytes of shared memory: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<OwnedFd> CreateMemoryFile(int64_t bytes) {
  // The size is checked against RLIMIT_FSIZE first: if a file grows beyond this
  // limit, the kernel sends SIGXFSZ, which kills the process by default.
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
  // The available memory is checked first: fallocate does not fail before the
  // kernel has used up all memory and invoked the OOM killer.
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
