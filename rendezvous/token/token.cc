#include "rendezvous/token/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/bounded_file.h"
#include "base/owned_fd.h"
#include "base/secrets.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxTokenBytes = 4096;
constexpr size_t kMaxTokens = 2;

std::string& Taken() {
  static std::string& taken = *new std::string();
  return taken;
}

std::string CannotRead(const std::string& file, const std::string& why) {
  return absl::StrCat("cannot read the token file ", file, ": ", why);
}

// A token with fewer bytes than this may be guessed. An attacker who has
// connected to the coordinator once can test guesses without further
// connections.
constexpr size_t kShort = 16;

absl::Status Check(const std::string& token, const std::string& where) {
  if (token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(where, " is empty"));
  }
  if (token.size() > kMaxTokenBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, " is longer than ", kMaxTokenBytes, " bytes: not a token"));
  }
  for (unsigned char c : token) {
    if (c > ' ' && c < 0x7f) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        where, " must be printable ASCII without spaces, a line for a token"));
  }
  return absl::OkStatus();
}

// Returns the job tokens (secrets) in `content`, one from each line. `where`:
// the source of `content`, for messages.
absl::StatusOr<std::vector<std::string>> Parse(
    absl::string_view content, const std::string& where,
    const std::function<void(const std::string&)>& warn) {
  absl::ConsumeSuffix(&content, "\n");
  std::vector<std::string> tokens = absl::StrSplit(content, '\n');
  if (tokens.size() > kMaxTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, " has ", tokens.size(),
                     " lines; it may have two: the token, and the one that it "
                     "replaces"));
  }
  bool is_short = false;
  for (std::string& token : tokens) {
    if (!token.empty() && token.back() == '\r') token.pop_back();
    const absl::Status status = Check(token, where);
    if (!status.ok()) return status;
    is_short = is_short || token.size() < kShort;
  }
  if (is_short) {
    warn(absl::StrCat(where,
                      " is short and may be guessed; `launch token` "
                      "makes one that cannot be"));
  }
  return tokens;
}

absl::StatusOr<std::vector<std::string>> ReadFile(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  const OwnedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) {
    return errno == ENOENT
               ? absl::NotFoundError(CannotRead(file, std::strerror(errno)))
               : absl::PermissionDeniedError(
                     CannotRead(file, std::strerror(errno)));
  }
  struct stat attributes = {};
  if (fstat(fd.get(), &attributes) == 0 && S_ISREG(attributes.st_mode) &&
      (attributes.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    warn(absl::StrCat("others on this machine can read the token file ", file,
                      "; chmod 600 ", file));
  }
  // Read at most one byte more than the largest valid token file has. If that
  // byte exists, a token in the file is too long.
  absl::StatusOr<std::string> content =
      ReadAtMost(fd.get(), kMaxTokens * (kMaxTokenBytes + 2) + 1);
  if (!content.ok()) {
    return absl::PermissionDeniedError(
        CannotRead(file, std::string(content.status().message())));
  }
  return Parse(*content, absl::StrCat("the token file ", file), warn);
}

}  // namespace

void TakeTokenVariable() {
  std::optional<std::string> value = TakeSecretVariable(kTokenVariable);
  if (value) Taken() = *std::move(value);
}

const std::string& TakenToken() { return Taken(); }

std::string FreshToken() {
  std::string bytes(32, 0);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
  }
  return absl::BytesToHexString(bytes);
}

absl::StatusOr<std::vector<std::string>> ReadTokens(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  if (!file.empty()) return ReadFile(file, warn);
  TakeTokenVariable();
  if (Taken().empty()) return std::vector<std::string>();
  return Parse(Taken(), kTokenVariable, warn);
}

absl::StatusOr<std::string> ReadToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  absl::StatusOr<std::vector<std::string>> tokens = ReadTokens(file, warn);
  if (!tokens.ok()) return tokens.status();
  return tokens->empty() ? std::string() : std::move(tokens->front());
}

bool IsToken(std::string_view given, std::string_view expected) {
  return IsSameSecret(given, expected);
}

}  // namespace muster::rendezvous
