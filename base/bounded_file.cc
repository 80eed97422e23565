#include "base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kWriterTimeout(10);

// Opens the file with O_NONBLOCK, so that a pipe without a writer does not
// block.
OwnedFd Open(const std::string& path) {
  return OwnedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Appends to `text` until it has `max_bytes` or the file ends. Returns 0, or
// the errno of a failed read.
int ReadInto(std::string& text, int fd, size_t max_bytes) {
  char buffer[16 << 10];
  while (text.size() < max_bytes) {
    const size_t wanted = std::min(sizeof(buffer), max_bytes - text.size());
    const ssize_t n = read(fd, buffer, wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return 0;
    text.append(buffer, static_cast<size_t>(n));
  }
  return 0;
}

// Checks that no user except this one and root can have written the contents of
// the file.
absl::Status CheckTrusted(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) {
    return absl::InvalidArgumentError(std::strerror(errno));
  }
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("user ", info.st_uid, " owns it"));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError("other users can write it");
  }
  return absl::OkStatus();
}

enum class Trust { kAnyFile, kOwnFile };

absl::StatusOr<std::string> ReadWhole(const std::string& path, size_t max_bytes,
                                      Trust trust) {
  const OwnedFd file = Open(path);
  if (!file.open()) {
    return errno == ENOENT ? absl::NotFoundError(std::strerror(errno))
                           : absl::InvalidArgumentError(std::strerror(errno));
  }
  if (trust == Trust::kOwnFile) {
    const absl::Status trusted = CheckTrusted(file.get());
    if (!trusted.ok()) return trusted;
  }
  absl::StatusOr<std::string> text = ReadAtMost(file.get(), max_bytes + 1);
  if (!text.ok() || text->size() <= max_bytes) return text;
  const bool in_mib = max_bytes % (1 << 20) == 0;
  return absl::InvalidArgumentError(
      absl::StrCat("is larger than ", max_bytes >> (in_mib ? 20 : 10),
                   in_mib ? " MiB" : " KiB"));
}

}  // namespace

absl::StatusOr<std::string> ReadBoundedFile(const std::string& path,
                                            size_t max_bytes) {
  return ReadWhole(path, max_bytes, Trust::kAnyFile);
}

absl::StatusOr<std::string> ReadTrustedFile(const std::string& path,
                                            size_t max_bytes) {
  return ReadWhole(path, max_bytes, Trust::kOwnFile);
}

absl::StatusOr<std::string> ReadAtMost(int fd, size_t max_bytes) {
  std::string text;
  while (true) {
    const int error = ReadInto(text, fd, max_bytes);
    if (error == 0) return text;
    if (error != EAGAIN) {
      return absl::InvalidArgumentError(std::strerror(error));
    }
    if (!PollUntil(fd, POLLIN, MonotonicNow() + kWriterTimeout)) {
      return absl::InvalidArgumentError(
          absl::StrCat("is a pipe whose writer is silent for ",
                       kWriterTimeout.count(), " s"));
    }
  }
}

std::optional<std::string> ReadBeginning(const std::string& path,
                                         size_t max_bytes) {
  return ReadBeginning(Open(path).get(), max_bytes);
}

std::optional<std::string> ReadBeginning(int fd, size_t max_bytes) {
  std::string text;
  const int error = ReadInto(text, fd, max_bytes);
  if (error != 0 && text.empty()) return std::nullopt;
  return text;
}

}  // namespace muster
