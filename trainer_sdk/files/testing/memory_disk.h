#ifndef MUSTER_TRAINER_SDK_FILES_TESTING_MEMORY_DISK_H_
#define MUSTER_TRAINER_SDK_FILES_TESTING_MEMORY_DISK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trainer_sdk/files/file_system.h"

namespace muster {

// A file system in memory, for tests. A test can stop the file system after any
// written byte, and then get a copy with the data that survives. A copy for the
// end of a process has all written data. A copy for a power loss has all synced
// data and a random part of the unsynced data. Thread-safe.
class MemoryDisk : public FileSystem {
 public:
  MemoryDisk();

  // The number of changes so far. Each byte of an Append, each Sync and each
  // change of a name counts as one; reading does not count.
  int64_t operations() const;
  // Simulates that the process ends before the change with number `operation`
  // (from 0): this change and all later operations fail and change nothing.
  void StopAt(int64_t operation);
  // Simulates a full disk from change number `first` on, for `count` changes:
  // no name and no byte can be added; all other operations work.
  void FillUp(int64_t first, int64_t count);

  // Makes each removal of `path` fail from now on. May be called for several
  // paths. An empty path makes all paths removable again.
  void KeepBusy(const std::string& path);

  // Returns a copy of the file system as a new process finds it after the old
  // process has ended: with all written data.
  std::unique_ptr<MemoryDisk> AfterProcess() const;
  // Returns the file system after a power loss. Each folder has its synced or
  // its latest names; each file has its synced content, its latest content or
  // something between. `seed` determines the random choice. Seed 0: only synced
  // state. Seed 1: all names, but no unsynced content.
  std::unique_ptr<MemoryDisk> AfterPowerLoss(uint64_t seed) const;

  // The contents of all files, by path; for tests that damage files.
  std::map<std::string, std::string> Contents() const;
  void Overwrite(const std::string& path, std::string content);

  absl::Status CreateFolders(const std::string& path) override;
  absl::Status CreateFolder(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<OutputFile>> CreateFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<InputFile>> OpenFile(
      const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status SyncFolder(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<FolderLock>> Lock(
      const std::string& folder, LockDeadlines deadlines) override;

 private:
  // A file or a folder, with its current state and its last synced state.
  struct Node {
    bool folder = false;
    std::string content;
    std::string synced_content;
    std::map<std::string, std::shared_ptr<Node>> names;
    std::map<std::string, std::shared_ptr<Node>> synced_names;
  };
  class Output;
  class Input;
  class Held;

  // Whether an operation needs free space, and so fails on a full disk.
  enum class Room { kNeeded, kNotNeeded };
  absl::Status Begin(const std::string& doing, const std::string& path,
                     Room room);
  absl::StatusOr<std::shared_ptr<Node>> Find(const std::string& path) const;
  // Finds the folder that contains `path`, and sets `*name` to the last
  // component of `path`.
  absl::StatusOr<std::shared_ptr<Node>> Above(const std::string& path,
                                              std::string* name) const;
  absl::Status RemoveNode(const std::string& path,
                          const std::shared_ptr<Node>& above,
                          const std::string& name);
  absl::Status Make(const std::string& path, const std::shared_ptr<Node>& node);

  mutable std::mutex mutex_;
  std::shared_ptr<Node> root_;
  std::set<std::string> locked_;
  std::set<std::string> busy_;
  int64_t operations_ = 0;
  int64_t stop_at_ = -1;
  int64_t full_from_ = -1;
  int64_t full_until_ = -1;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_TESTING_MEMORY_DISK_H_
