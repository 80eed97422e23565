#include "rendezvous/etcd/etcd_access.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace muster::rendezvous {
namespace {

constexpr int kEtcdPort = 2379;
constexpr size_t kMaxMembers = 16;
constexpr size_t kMaxPrefix = 200;

// Whether `text`, a host with or without a port, has a port.
bool HasPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return false;
  if (text.front() == '[') return colon > text.rfind(']');
  return text.find(':') == colon;
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
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--etcd-user-file: cannot read a line of ", path));
  }
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
