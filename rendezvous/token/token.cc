#include "rendezvous/token/token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr size_t kMostTokenBytes = 4096;

absl::Status CannotRead(const std::string& file, int error) {
  const std::string what = absl::StrCat("cannot read the token file ", file,
                                        ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(what)
                         : absl::PermissionDeniedError(what);
}

absl::StatusOr<std::string> Checked(std::string token,
                                    const std::string& where) {
  if (!token.empty() && token.back() == '\n') token.pop_back();
  if (!token.empty() && token.back() == '\r') token.pop_back();
  if (token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(where, " is empty"));
  }
  if (token.size() > kMostTokenBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, " is longer than ", kMostTokenBytes, " bytes: not a token"));
  }
  for (unsigned char c : token) {
    if (c > ' ' && c < 0x7f) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        where, " must be one line of printable ASCII without spaces"));
  }
  return token;
}

absl::StatusOr<std::string> ReadFile(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(file, errno);
  struct stat attributes = {};
  if (fstat(fd, &attributes) == 0 && S_ISREG(attributes.st_mode) &&
      (attributes.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    warn(absl::StrCat("others on this machine can read the token file ", file,
                      "; chmod 600 ", file));
  }
  std::string content(kMostTokenBytes + 3, '\0');  // room for "\r\n" and more
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(fd, &content[size], content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(fd);
      return CannotRead(file, error);
    }
    if (got == 0) break;
    size += got;
  }
  close(fd);
  content.resize(size);
  return Checked(std::move(content), absl::StrCat("the token file ", file));
}

}  // namespace

absl::StatusOr<std::string> ReadToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  if (!file.empty()) return ReadFile(file, warn);
  const char* variable = std::getenv(kTokenVariable);
  if (variable == nullptr || *variable == '\0') return std::string();
  return Checked(variable, kTokenVariable);
}

bool IsToken(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? 0 : expected[i % expected.size()];
    // volatile: the compiler must not leave the loop early.
    volatile unsigned step = static_cast<unsigned char>(given[i] ^ other);
    difference |= step;
  }
  return difference == 0;
}

}  // namespace muster
