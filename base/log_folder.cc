#include "base/log_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace muster
