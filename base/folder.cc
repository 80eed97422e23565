#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace muster {
namespace {

// mode of new folders; the umask removes bits
constexpr mode_t kFolderMode = 0777;
constexpr size_t kProbeBytes = 4096;

bool IsFolder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

constexpr char kPattern[] = "_XXXXXX";

std::string FirstName() { return "muster_" + std::to_string(geteuid()); }

bool IsOwn(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Returns the sorted paths of this user's folders in `parent` whose names end
// with random characters.
std::vector<std::string> RandomlyNamed(const std::string& parent) {
  const std::string prefix = FirstName() + "_";
  const size_t size = FirstName().size() + sizeof(kPattern) - 1;
  std::vector<std::string> folders;
  DIR* const listing = opendir(parent.c_str());
  if (listing == nullptr) return folders;
  while (const dirent* const entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.size() != size || name.rfind(prefix, 0) != 0) continue;
    const std::string path = parent + "/" + name;
    if (IsOwn(path)) folders.push_back(path);
  }
  closedir(listing);
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

absl::Status PathStatus(const std::string& doing, const std::string& path,
                        int error) {
  std::string message = doing + " " + path + ": " + std::strerror(error);
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::Status CreateFolder(const std::string& path) {
  // Try the common case first: all parent folders exist.
  if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return IsFolder(path) ? absl::OkStatus()
                          : PathStatus("cannot create folder", path, ENOTDIR);
  }
  if (errno != ENOENT) return PathStatus("cannot create folder", path, errno);
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) {
    return PathStatus("cannot create folder", path, ENOENT);
  }
  absl::Status above = CreateFolder(path.substr(0, slash));
  if (!above.ok()) return above;
  if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return PathStatus("cannot create folder", path, errno);
}

absl::Status CheckFolderWritable(const std::string& path) {
  absl::Status created = CreateFolder(path);
  if (!created.ok()) return created;
  std::string probe = path + "/.writable-XXXXXX";
  int fd = mkostemp(probe.data(), O_CLOEXEC);
  if (fd < 0) return PathStatus("cannot create a file in", path, errno);
  std::vector<char> bytes(kProbeBytes);
  ssize_t written = write(fd, bytes.data(), bytes.size());
  int error = written < 0 ? errno : ENOSPC;
  unlink(probe.c_str());
  close(fd);
  if (written == static_cast<ssize_t>(bytes.size())) return absl::OkStatus();
  return PathStatus("cannot write a file in", path, error);
}

absl::StatusOr<std::string> MakeUserFolder(const std::string& parent) {
  const std::string first = parent + "/" + FirstName();
  if (mkdir(first.c_str(), 0700) == 0) return first;
  if (errno != EEXIST) return PathStatus("cannot create folder", first, errno);
  if (IsOwn(first)) return first;
  const std::vector<std::string> others = RandomlyNamed(parent);
  if (!others.empty()) return others.front();
  std::string made = first + kPattern;
  if (mkdtemp(made.data()) != nullptr) return made;
  return PathStatus("cannot create folder", first + kPattern, errno);
}

std::vector<std::string> UserFolders(const std::string& parent) {
  std::vector<std::string> folders = RandomlyNamed(parent);
  const std::string first = parent + "/" + FirstName();
  if (IsOwn(first)) folders.insert(folders.begin(), first);
  return folders;
}

}  // namespace muster
