#include "trainer_sdk/files/folder_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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

// "host a, process 17". The owner may be writing it right now.
std::string OwnerIn(int fd) {
  std::string owner(kOwnerBytes, '\0');
  const ssize_t bytes = pread(fd, owner.data(), owner.size(), 0);
  owner.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  for (char& c : owner) c = absl::ascii_isprint(c) ? c : ' ';
  const absl::string_view text = absl::StripAsciiWhitespace(owner);
  return text.empty() ? "an unknown process" : std::string(text);
}

// The beginning of the text of all owners on this host.
std::string ThisHost() {
  char host[256] = "?";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("host ", host, ", process ");
}

// Whether the owner is known to be a process that runs on this host. If that
// process has ended, a later owner may have been unable to replace the text.
bool RunsHere(const std::string& owner) {
  absl::string_view number = owner;
  if (!absl::ConsumePrefix(&number, ThisHost())) return false;
  pid_t process = 0;
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, process);
  if (read.ec != std::errc() || read.ptr != end || process <= 0) return false;
  return kill(process, 0) == 0 || errno == EPERM;
}

void WriteOwner(int fd) {
  const std::string owner = absl::StrCat(ThisHost(), getpid(), "\n");
  // On a full disk the text may be missing; then the owner is unknown.
  if (ftruncate(fd, 0) != 0) return;
  if (pwrite(fd, owner.data(), owner.size(), 0) < 0) return;
  // Other hosts must be able to read it even if this host is lost.
  fdatasync(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> LockFolder(
    const std::string& folder, LockDeadlines deadlines) {
  const std::string path = folder + "/.lock";
  OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.open()) return PathStatus("cannot open", path, errno);
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    // For example, Lustre has locks only if it is mounted with them.
    if (errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) break;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return PathStatus("cannot lock", path, errno);
    }
    const Instant now = MonotonicNow();
    // The owner may have changed since the last iteration.
    const std::string owner = OwnerIn(fd.get());
    if (now >= (RunsHere(owner) ? deadlines.here : deadlines.elsewhere)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "another job writes in ", folder, ": ", owner, " has ", path,
          " locked; end it, or give each job a folder of its own"));
    }
    // The kernel sends no notification when a lock becomes free.
    std::this_thread::sleep_for(kPause);
  }
  WriteOwner(fd.get());
  return std::make_unique<HeldLock>(std::move(fd));
}

}  // namespace muster
