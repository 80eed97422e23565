#include "trainer_sdk/files/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log_folder.h"
#include "base/owned_fd.h"
#include "trainer_sdk/files/folder_lock.h"

namespace muster {
namespace {

constexpr mode_t kFolderMode = 0777;  // restricted by the umask
constexpr mode_t kFileMode = 0666;

absl::Status Failure(const std::string& doing, const std::string& path,
                     int error) {
  absl::Status status = PathStatus(doing, path, error);
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(status.message());
    case EEXIST:
      return absl::AlreadyExistsError(status.message());
    case EFBIG:
      return absl::ResourceExhaustedError(status.message());
    default:
      return status;
  }
}

// The parent folder of `path`.
std::string FolderOf(const std::string& path) {
  const std::filesystem::path above =
      std::filesystem::path(path.substr(0, path.find_last_not_of('/') + 1))
          .parent_path();
  return above.empty() ? "." : above.string();
}

// open(2), repeated after EINTR.
OwnedFd Open(const std::string& path, int flags) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, kFileMode);
  } while (fd < 0 && errno == EINTR);
  return OwnedFd(fd);
}

class DiskOutput : public OutputFile {
 public:
  DiskOutput(std::string path, OwnedFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<size_t>(written));
      } else if (errno != EINTR) {
        return Failure("cannot write", path_, errno);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (fsync(fd_.get()) == 0) return absl::OkStatus();
    return Failure("cannot force to the disk", path_, errno);
  }

 private:
  const std::string path_;
  const OwnedFd fd_;
};

class DiskInput : public InputFile {
 public:
  DiskInput(std::string path, OwnedFd fd, int64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  int64_t size() const override { return size_; }

  absl::Status ReadAt(int64_t offset, int64_t bytes, void* out) const override {
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t read =
          pread(fd_.get(), to, static_cast<size_t>(bytes), offset);
      if (read == 0) {
        return absl::DataLossError(
            absl::StrCat("cannot read ", path_, ": it ends at byte ", offset));
      }
      if (read > 0) {
        to += read;
        offset += read;
        bytes -= read;
      } else if (errno != EINTR) {
        return Failure("cannot read", path_, errno);
      }
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const OwnedFd fd_;
  const int64_t size_;
};

class DiskFileSystem : public FileSystem {
 public:
  absl::Status CreateFolders(const std::string& path) override {
    struct stat status;
    if (stat(path.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) return absl::OkStatus();
      return Failure("cannot create folder", path, ENOTDIR);
    }
    if (errno != ENOENT) return Failure("cannot create folder", path, errno);
    const std::string above = FolderOf(path);
    if (absl::Status made = CreateFolders(above); !made.ok()) return made;
    absl::Status made = CreateFolder(path);
    // Another process may have created it meanwhile.
    if (!made.ok() && made.code() != absl::StatusCode::kAlreadyExists) {
      return made;
    }
    return SyncFolder(above);
  }

  absl::Status CreateFolder(const std::string& path) override {
    if (mkdir(path.c_str(), kFolderMode) == 0) return absl::OkStatus();
    return Failure("cannot create folder", path, errno);
  }

  absl::StatusOr<std::unique_ptr<OutputFile>> CreateFile(
      const std::string& path) override {
    OwnedFd fd = Open(path, O_WRONLY | O_CREAT | O_EXCL);
    if (!fd.open()) return Failure("cannot create", path, errno);
    return std::make_unique<DiskOutput>(path, std::move(fd));
  }

  absl::StatusOr<std::unique_ptr<InputFile>> OpenFile(
      const std::string& path) override {
    // O_NONBLOCK, because opening a pipe would block.
    OwnedFd fd = Open(path, O_RDONLY | O_NONBLOCK);
    struct stat status;
    if (!fd.open() || fstat(fd.get(), &status) != 0) {
      return Failure("cannot open", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot open ", path, ": it is no file"));
    }
    return std::make_unique<DiskInput>(path, std::move(fd), status.st_size);
  }

  absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) override {
    DIR* const stream = opendir(folder.c_str());
    if (stream == nullptr) return Failure("cannot list", folder, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    const int error = errno;
    closedir(stream);
    if (error != 0) return Failure("cannot list", folder, error);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return Failure(absl::StrCat("cannot rename ", from, " to"), to, errno);
  }

  absl::Status SyncFolder(const std::string& path) override {
    const OwnedFd fd = Open(path, O_RDONLY | O_DIRECTORY);
    if (!fd.open()) return Failure("cannot open", path, errno);
    // Some network file systems do not support fsync on folders.
    if (fsync(fd.get()) == 0 || errno == EINVAL) return absl::OkStatus();
    return Failure("cannot force to the disk", path, errno);
  }

  absl::Status Remove(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (!error) return absl::OkStatus();
    return Failure("cannot remove", path, error.value());
  }

  absl::StatusOr<std::unique_ptr<FolderLock>> Lock(
      const std::string& folder, LockDeadlines deadlines) override {
    return LockFolder(folder, deadlines);
  }
};

}  // namespace

FileSystem& Disk() {
  static DiskFileSystem disk;
  return disk;
}

}  // namespace muster
