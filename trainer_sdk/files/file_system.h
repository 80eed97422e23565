#ifndef MUSTER_TRAINER_SDK_FILES_FILE_SYSTEM_H_
#define MUSTER_TRAINER_SDK_FILES_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// A new file, which is written sequentially.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Blocks until all appended data is on the disk. After an error the file's
  // content is undefined: the kernel may have dropped data.
  virtual absl::Status Sync() = 0;
};

// A file with random read access. Thread-safe.
class InputFile {
 public:
  virtual ~InputFile() = default;
  // The file's size in bytes when it was opened.
  virtual int64_t size() const = 0;
  // Reads exactly `bytes` bytes at `offset`. DataLoss: the file ends before
  // `offset + bytes`.
  virtual absl::Status ReadAt(int64_t offset, int64_t bytes,
                              void* out) const = 0;
};

// The deadlines for getting the lock of a folder while another process owns the
// lock.
struct LockDeadlines {
  // The deadline for getting the lock if its owner runs on this host.
  Instant here;
  // The deadline for getting the lock if its owner runs on another host or is
  // unknown. If that host is lost, a file server keeps the lock until the
  // server notices the loss, on NFS usually for 90 s.
  Instant elsewhere;
};

// Holds the lock of a folder until this object is destroyed or the process
// ends.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

// The file system operations that checkpoints need. The interface is small so
// that a test can make any operation fail. Thread-safe.
//
// A crash of the machine may undo changes that were not synced.
// OutputFile::Sync makes a file's content durable. The creation, renaming or
// removal of a file or folder becomes durable by SyncFolder of the folder that
// contains it. A crash of only the process loses nothing.
//
// Every error names the path and the system's error. NotFound: the path does
// not exist. ResourceExhausted: the disk is full, or a quota or limit is
// exceeded. PermissionDenied: the user lacks a permission.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Creates the folder `path` and its missing parents, and syncs them. OK if
  // the folder exists.
  virtual absl::Status CreateFolders(const std::string& path) = 0;
  // Creates the folder `path`. AlreadyExists: the path exists.
  virtual absl::Status CreateFolder(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<OutputFile>> CreateFile(
      const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<InputFile>> OpenFile(
      const std::string& path) = 0;
  // Returns the names in a folder, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) = 0;
  // Renames a file or a folder. An existing file at `to` is replaced; an
  // existing folder is an error. Both paths must be in the same folder.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  virtual absl::Status SyncFolder(const std::string& path) = 0;
  // Removes a file, or a folder with all its content. OK if the path does not
  // exist.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Takes the lock of a folder. Blocks while another process holds the lock.
  // FailedPrecondition: the other process still holds the lock at the deadline;
  // LockDeadlines has one deadline for each kind of lock owner. The message
  // names the process.
  virtual absl::StatusOr<std::unique_ptr<FolderLock>> Lock(
      const std::string& folder, LockDeadlines deadlines) = 0;
};

// The real file systems of this machine. The calling thread must block the
// signal SIGXFSZ. Otherwise this signal kills the process when a file exceeds
// the size limit; if it is blocked, only the write fails.
FileSystem& Disk();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_FILE_SYSTEM_H_
