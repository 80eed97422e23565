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

// A file system in memory that can be stopped after any byte, and that knows
// what would be left of it: after the end of a process everything; after the
// end of the machine what was forced to the disk, and of the rest whatever the
// test wants. Thread-safe.
class MemoryDisk : public FileSystem {
 public:
  MemoryDisk();

  // What changes something counts: each byte of an Append, each Sync, each
  // name. Reading does not.
  int64_t operations() const;
  // The process ends before operation `operation` (0 is the first ever): it and
  // all later ones fail and change nothing.
  void StopAt(int64_t operation);
  // From operation `first` on, for `count` operations, the disk is full: names
  // and bytes do not fit, the rest goes on.
  void FillUp(int64_t first, int64_t count);

  // From now on `path` cannot be removed; of several, none of them can. Empty:
  // all can again.
  void KeepBusy(const std::string& path);

  // What the next process finds after this one has ended.
  std::unique_ptr<MemoryDisk> AfterProcess() const;
  // And after the machine has: of every folder the names that were forced to
  // the disk or those it had at last, of every file the same, or something in
  // between, as the seed draws. Seed 0: only what was forced; seed 1: all names
  // and no content that was not forced.
  std::unique_ptr<MemoryDisk> AfterPowerLoss(uint64_t seed) const;

  // For damage. Every file, by its path.
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
  // A file or folder, now and as it is on the disk.
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

  // Whether the next operation happens.
  enum class Room { kNeeded, kNotNeeded };
  absl::Status Begin(const std::string& doing, const std::string& path,
                     Room room);
  absl::StatusOr<std::shared_ptr<Node>> Find(const std::string& path) const;
  // The folder that has `path`'s name, and that name.
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
