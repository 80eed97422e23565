#include "trainer_sdk/files/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/folder.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(50);
constexpr size_t kOwnerBytes = 300;

class HeldLock : public FolderLock {
 public:
  explicit HeldLock(OwnedFd fd) : fd_(std::move(fd)) {}

 private:
  const OwnedFd fd_;
};

// Returns the owner of the lock as written in the lock file `fd`, such as "host
// a, process 17". Returns "an unknown process" if the file is empty: a new
// owner empties the file before it writes its own name.
std::string OwnerIn(int fd) {
  std::string owner(kOwnerBytes, '\0');
  const ssize_t bytes = pread(fd, owner.data(), owner.size(), 0);
  owner.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  for (char& c : owner) c = absl::ascii_isprint(c) ? c : ' ';
  const absl::string_view text = absl::StripAsciiWhitespace(owner);
  return text.empty() ? "an unknown process" : std::string(text);
}

// The text with which the names of all lock owners on this host begin.
std::string ThisHost() {
  char host[256] = "?";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("host ", host, ", process ");
}

// Whether the owner of a lock is a running process of this host. `owner`: the
// text in the lock file, which names the owner. If the named process has
// exited, returns false: the lock may have a new owner that was unable to write
// its own name.
bool RunsHere(const std::string& owner) {
  absl::string_view number = owner;
  if (!absl::ConsumePrefix(&number, ThisHost())) return false;
  pid_t process = 0;
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, process);
  if (read.ec != std::errc() || read.ptr != end || process <= 0) return false;
  return kill(process, 0) == 0 || errno == EPERM;
}

void WriteOwner(int fd) {
  const std::string owner = absl::StrCat(ThisHost(), getpid(), "\n");
  // Ignore errors, such as a full disk: this process owns the lock even if its
  // name cannot be written to the lock file.
  if (ftruncate(fd, 0) != 0) return;
  if (pwrite(fd, owner.data(), owner.size(), 0) < 0) return;
  // The owner's name must reach the disk, so that other hosts can read it in
  // the lock file even if this host is lost.
  fdatasync(fd);
}

// Implements FileSystem::Lock on a disk, by a kernel lock on FOLDER/.lock. The
// kernel releases the lock when the owner's process ends, however it ends; an
// NFS server releases the lock of a lost host once it notices the loss. The
// lock file contains the owner's host and process, and is never removed. On a
// file system without locks (Lustre, unless mounted with locks) every process
// gets the lock.
absl::StatusOr<std::unique_ptr<FolderLock>> LockFolder(
    const std::string& folder, LockDeadlines deadlines) {
  const std::string path = folder + "/.lock";
  OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.open()) return PathStatus("cannot open", path, errno);
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    // With these errors, the file system has no locks (Lustre, unless it is
    // mounted with locks): continue without a lock.
    if (errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) break;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return PathStatus("cannot lock", path, errno);
    }
    const Instant now = MonotonicNow();
    // Read the name of the lock's owner in each iteration, because another
    // process may have got the lock meanwhile.
    const std::string owner = OwnerIn(fd.get());
    if (now >= (RunsHere(owner) ? deadlines.here : deadlines.elsewhere)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "another job writes in ", folder, ": ", owner, " has ", path,
          " locked; end it, or give each job a folder of its own"));
    }
    // Poll: the kernel sends no notification when a file lock becomes free.
    std::this_thread::sleep_for(kPause);
  }
  WriteOwner(fd.get());
  return std::make_unique<HeldLock>(std::move(fd));
}

// permissions of new folders, before the umask is applied
constexpr mode_t kFolderMode = 0777;
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

// Calls open(2), and calls it again if a signal has interrupted it (EINTR).
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
    // AlreadyExists is not an error: another process may have created the
    // folder at the same time.
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
    // O_NONBLOCK, so that opening a FIFO by mistake does not block.
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
    // EINVAL is not an error: some network file systems do not support fsync on
    // folders.
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
