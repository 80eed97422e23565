#include "rendezvous/etcd/etcd_access.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/bounded_file.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"

namespace muster::rendezvous {
namespace {

constexpr int kEtcdPort = 2379;
constexpr size_t kMaxMembers = 16;
constexpr size_t kMaxPrefix = 200;
constexpr size_t kMaxUserFileBytes = 4096;

// Whether `text`, a host with or without a port, has a port.
bool HasPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return false;
  if (text.front() == '[') return colon > text.rfind(']');
  return text.find(':') == colon;
}

// Whether too many users may read a file that holds a secret. `info` describes
// the file. Its owner may read the file. If root owns the file, its group may
// read it, too: Kubernetes gives a pod a secret as a file of root with the
// pod's group. False if `info` is not a regular file.
bool OthersMayRead(const struct stat& info) {
  const mode_t others = info.st_uid == 0 ? S_IROTH : S_IROTH | S_IRGRP;
  return S_ISREG(info.st_mode) && (info.st_mode & others) != 0;
}

}  // namespace

std::string EtcdAccess::ToString() const {
  return absl::StrCat(
      "etcd://",
      absl::StrJoin(members, ",",
                    [](std::string* out, const Endpoint& member) {
                      absl::StrAppend(out, member.ToString());
                    }),
      absl::StripSuffix(prefix, "/"));
}

std::string ClearTextPassword(const EtcdAccess& access) {
  if (access.user.empty() || access.tls.given()) return "";
  const auto remote = std::find_if(
      access.members.begin(), access.members.end(),
      [](const Endpoint& member) { return !IsLoopback(member.host); });
  if (remote == access.members.end()) return "";
  return absl::StrCat("the password of ", access.user,
                      " and the jobs' records go to etcd at ",
                      remote->ToString(), " in clear text; give --etcd-ca");
}

absl::StatusOr<EtcdAccess> ParseEtcdUrl(const std::string& url) {
  absl::string_view rest = url;
  if (!absl::ConsumePrefix(&rest, "etcd://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", url, "\" is not etcd://HOST:PORT,HOST:PORT/PREFIX"));
  }
  EtcdAccess access;
  if (const size_t slash = rest.find('/'); slash != rest.npos) {
    const absl::string_view path =
        absl::StripSuffix(rest.substr(slash + 1), "/");
    const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
             absl::StrContains("-_./", c);
    });
    if (!is_plain || path.size() > kMaxPrefix) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the prefix \"", path.substr(0, kMaxPrefix),
          "\" has other characters than letters, digits and \"-_./\", or more "
          "than ",
          kMaxPrefix));
    }
    if (!path.empty()) access.prefix = absl::StrCat("/", path, "/");
    rest = rest.substr(0, slash);
  }
  for (const absl::string_view text : absl::StrSplit(rest, ',')) {
    absl::StatusOr<Endpoint> member = ParseEndpoint(std::string(text));
    if (!member.ok()) return member.status();
    if (!HasPort(text)) member->port = kEtcdPort;
    access.members.push_back(*std::move(member));
  }
  if (access.members.size() > kMaxMembers) {
    return absl::InvalidArgumentError(absl::StrCat(access.members.size(),
                                                   " members of etcd; ",
                                                   kMaxMembers, " are enough"));
  }
  return access;
}

absl::Status ReadEtcdUser(const std::string& path, EtcdAccess& access) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  const bool is_open = file.open() && fstat(file.get(), &info) == 0;
  if (is_open && OthersMayRead(info)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--etcd-user-file: others on this machine can read the "
                     "password in ",
                     path, "; chmod 600 ", path));
  }
  const absl::StatusOr<std::string> text =
      is_open ? ReadAtMost(file.get(), kMaxUserFileBytes)
              : absl::InvalidArgumentError(std::strerror(errno));
  if (!text.ok() || text->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--etcd-user-file: cannot read a line of ", path, ": ",
        text.ok() ? "it is empty" : std::string(text.status().message())));
  }
  const std::string line = text->substr(0, text->find('\n'));
  const size_t colon = line.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == line.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--etcd-user-file: the first line of ", path, " is not NAME:PASSWORD"));
  }
  access.user = line.substr(0, colon);
  access.password = line.substr(colon + 1);
  return absl::OkStatus();
}

}  // namespace muster::rendezvous
