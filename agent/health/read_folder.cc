#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/read_host.h"
#include "agent/health/within.h"

namespace muster::agent {
namespace {

// The path itself, or its nearest existing parent.
std::string NearestThere(std::string path) {
  while (path.size() > 1 && access(path.c_str(), F_OK) != 0 &&
         (errno == ENOENT || errno == ENOTDIR)) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    path.resize(slash == 0 ? 1 : slash);
  }
  return path;
}

// Whether the file system of `path` is writable apart from the mount's own
// options: /proc shows both.
bool IsWritableFileSystem(const std::string& path) {
  struct statx status = {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0) {
    return false;
  }
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string start = absl::StrCat(status.stx_mnt_id, " ");
  for (std::string line; std::getline(mounts, line);) {
    if (!absl::StartsWith(line, start)) continue;
    return IsWritableByMountInfo(line);
  }
  return false;
}

FolderFacts Look(const std::string& path) {
  FolderFacts facts;
  const std::string there = NearestThere(path);
  if (there != path) facts.above = there;
  struct statvfs space = {};
  if (statvfs(there.c_str(), &space) != 0) {
    facts.error = std::strerror(errno);
    return facts;
  }
  struct stat status = {};
  if (stat(there.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    facts.error = there + " is no folder";
    return facts;
  }
  const auto block = static_cast<int64_t>(space.f_frsize);
  facts.total = static_cast<int64_t>(space.f_blocks) * block;
  facts.free = static_cast<int64_t>(space.f_bavail) * block;
  facts.files = static_cast<int64_t>(space.f_files);
  facts.files_free = static_cast<int64_t>(space.f_favail);
  facts.read_only = (space.f_flag & ST_RDONLY) != 0;
  facts.mounted_read_only = facts.read_only && IsWritableFileSystem(there);
  facts.writable = access(there.c_str(), W_OK | X_OK) == 0;
  return facts;
}

}  // namespace

bool IsWritableByMountInfo(const std::string& line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return false;
  // Fields after the dash: type, source, the file system's options.
  const std::vector<std::string> fields =
      absl::StrSplit(line.substr(dash + 3), ' ');
  if (fields.size() < 3) return false;
  const std::vector<std::string> options = absl::StrSplit(fields[2], ',');
  return std::find(options.begin(), options.end(), "rw") != options.end();
}

FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline) {
  const std::optional<FolderFacts> looked =
      Within<FolderFacts>(deadline, [path] { return Look(path); });
  FolderFacts facts;
  if (looked) {
    facts = *looked;
  } else {
    facts.error = "the file system does not answer";
  }
  facts.purpose = purpose;
  facts.path = path;
  return facts;
}

}  // namespace muster::agent
