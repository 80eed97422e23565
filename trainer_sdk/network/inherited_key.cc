#include "trainer_sdk/network/inherited_key.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/channel_key.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

absl::Status NotHandedOver(const std::string& value, const char* why) {
  return absl::FailedPreconditionError(absl::StrCat(
      kChannelKeyVariable, "=", value, ": ", why,
      "; a program between `launch` and this process must pass the pipe on "
      "(exec does), and one process alone can read it (--encrypt=workers)"));
}

}  // namespace

absl::StatusOr<std::string> TakeChannelKey(const std::string& value) {
  const std::vector<std::string> parts = absl::StrSplit(value, ':');
  int fd = -1;
  uint64_t inode = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &fd) || fd < 0 ||
      !absl::SimpleAtoi(parts[1], &inode)) {
    return NotHandedOver(value, "this is no FD:INODE");
  }
  struct stat file = {};
  if (fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode) ||
      file.st_ino != inode) {
    return NotHandedOver(value, "the pipe with the channel key was closed");
  }
  const OwnedFd pipe(fd);
  std::string key(kChannelKeyBytes, '\0');
  size_t have = 0;
  while (have < key.size()) {
    const ssize_t n = read(pipe.get(), key.data() + have, key.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return NotHandedOver(value, "another process has read the channel key");
    }
    have += static_cast<size_t>(n);
  }
  return key;
}

absl::StatusOr<std::string> InheritedChannelKey() {
  // The key object is never destroyed, because threads may still create groups
  // while the process exits.
  static const auto* const key =
      new absl::StatusOr<std::string>([]() -> absl::StatusOr<std::string> {
        const char* const value = std::getenv(kChannelKeyVariable);
        if (value == nullptr || *value == '\0') return std::string();
        return TakeChannelKey(value);
      }());
  return *key;
}

}  // namespace muster
