#include "trainer_sdk/files/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/log_folder.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(50);
constexpr size_t kOwnerBytes = 300;

class HeldLock : public FolderLock {
 public:
  explicit HeldLock(OwnedFd fd) : fd_(std::move(fd)) {}

 private:
  const OwnedFd fd_;
};

// "host a, process 17"; who wrote it may be half-way.
std::string OwnerIn(int fd) {
  std::string owner(kOwnerBytes, '\0');
  const ssize_t bytes = pread(fd, owner.data(), owner.size(), 0);
  owner.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  for (char& c : owner) c = absl::ascii_isprint(c) ? c : ' ';
  const absl::string_view text = absl::StripAsciiWhitespace(owner);
  return text.empty() ? "an unknown process" : std::string(text);
}

void WriteOwner(int fd) {
  char host[256] = "?";
  gethostname(host, sizeof(host) - 1);
  const std::string owner =
      absl::StrCat("host ", host, ", process ", getpid(), "\n");
  // For people only: a full disk may keep it from being there.
  if (ftruncate(fd, 0) != 0) return;
  if (pwrite(fd, owner.data(), owner.size(), 0) < 0) return;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> LockFolder(
    const std::string& folder, Instant deadline) {
  const std::string path = folder + "/.lock";
  OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.open()) return PathStatus("cannot open", path, errno);
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    // Lustre, for one, has locks only where it is mounted with them.
    if (errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) break;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return PathStatus("cannot lock", path, errno);
    }
    if (MonotonicNow() >= deadline) {
      return absl::FailedPreconditionError(
          absl::StrCat("another job writes in ", folder, ": ",
                       OwnerIn(fd.get()), " has ", path, " locked"));
    }
    // The kernel tells nobody when a lock is free.
    std::this_thread::sleep_for(kPause);
  }
  WriteOwner(fd.get());
  return std::make_unique<HeldLock>(std::move(fd));
}

}  // namespace muster
