#ifndef MUSTER_AGENT_LOGS_OLD_ROUNDS_H_
#define MUSTER_AGENT_LOGS_OLD_ROUNDS_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace muster::agent {

// The number of newest rounds whose log folders an agent keeps, besides the
// first round's.
inline constexpr int kMaxKeptRounds = 100;

// Decides which rounds' log folders go, so that a job that restarts for weeks
// does not fill the disk. Keeps the first round's, which shows how it all
// began, and those of the newest kMaxKeptRounds rounds. Knows only the folders
// that this agent has begun. Pure.
class KeptRounds {
 public:
  // A round begins that logs to `folder`. Returns the folder to remove now;
  // empty: none.
  std::string Begin(const std::string& folder);

 private:
  bool has_first_ = false;
  std::deque<std::string> newest_;  // without the first round's
};

// Removes folders on a thread of its own, since a file system may hang.
// Thread-safe.
class FolderRemover {
 public:
  // The number of folders that wait to be removed; later ones are left alone.
  static constexpr size_t kMaxWaiting = 16;

  // `on_removed`: called on the remover's thread for each folder; may be empty.
  explicit FolderRemover(
      std::function<void(const std::string& folder)> on_removed = nullptr);
  // Does not wait: a removal in progress goes on while the process lives.
  ~FolderRemover();

  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  // Removes `folder` and all that is in it, later; follows no link. Errors are
  // ignored.
  void Remove(const std::string& folder);

 private:
  struct Work;
  static void Run(const std::shared_ptr<Work>& work);

  const std::shared_ptr<Work> work_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_OLD_ROUNDS_H_
