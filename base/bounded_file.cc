#include "base/bounded_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

constexpr int kPatienceMs = 10'000;

}  // namespace

absl::StatusOr<std::string> ReadBoundedFile(const std::string& path,
                                            size_t most_bytes) {
  // Opening a pipe without a writer must not wait for one.
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) {
    return errno == ENOENT ? absl::NotFoundError(std::strerror(errno))
                           : absl::InvalidArgumentError(std::strerror(errno));
  }
  std::string text;
  char buffer[4096];
  while (text.size() <= most_bytes) {
    const ssize_t n = read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd readable = {.fd = file.get(), .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, kPatienceMs) == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "is a pipe whose writer is silent for ", kPatienceMs / 1000, " s"));
      }
      continue;
    }
    if (n < 0) return absl::InvalidArgumentError(std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("is larger than ", most_bytes >> 10, " KiB"));
}

}  // namespace muster
