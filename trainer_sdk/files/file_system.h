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

// A new file that is written from its beginning to its end.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Returns when everything appended is on the disk. After an error nothing is
  // known about the file's content: the kernel may have dropped it.
  virtual absl::Status Sync() = 0;
};

// A file that is read anywhere. Thread-safe.
class InputFile {
 public:
  virtual ~InputFile() = default;
  // As it was when the file was opened.
  virtual int64_t size() const = 0;
  // Fills `bytes` bytes. DataLoss: the file ends before that.
  virtual absl::Status ReadAt(int64_t offset, int64_t bytes,
                              void* out) const = 0;
};

// Until when to wait for somebody who has a folder locked.
struct LockDeadlines {
  // For a process that runs on this host.
  Instant here;
  // For any other: where its host is lost, a file server keeps its lock until
  // it finds out, on NFS for 90 s as a rule.
  Instant elsewhere;
};

// Somebody's right to a folder, until it is destroyed or its process dies.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

// What checkpoints need of a file system, and no more, so that a test can stop
// it at any operation. Thread-safe.
//
// What is not forced to the disk may be there or not after a crash of the
// machine: a file's content until OutputFile::Sync, its name (new, renamed,
// removed) until SyncFolder of the folder that it is in. A crash of the process
// alone loses nothing.
//
// Every error names the path and what the system said. NotFound: nothing there;
// ResourceExhausted: full, or beyond a quota or a limit; PermissionDenied.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Makes a folder and those above it, forced to the disk; nothing to do where
  // it is there.
  virtual absl::Status CreateFolders(const std::string& path) = 0;
  // AlreadyExists: something is there.
  virtual absl::Status CreateFolder(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<OutputFile>> CreateFile(
      const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<InputFile>> OpenFile(
      const std::string& path) = 0;
  // The names in a folder, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) = 0;
  // Of a file, which takes the place of one at `to`, or of a folder where
  // nothing is at `to`. Both are in one folder.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  virtual absl::Status SyncFolder(const std::string& path) = 0;
  // Of a folder with everything in it, or a file. Nothing there is no error.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Waits until nobody else has the folder. FailedPrecondition: somebody has it
  // still at their deadline, and who.
  virtual absl::StatusOr<std::unique_ptr<FolderLock>> Lock(
      const std::string& folder, LockDeadlines deadlines) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_FILE_SYSTEM_H_
