#ifndef MUSTER_AGENT_LOGS_OLD_ROUNDS_H_
#define MUSTER_AGENT_LOGS_OLD_ROUNDS_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace muster::agent {

// The number of newest rounds whose log folders an agent keeps, in addition to
// the folder of the first round.
inline constexpr int kMaxKeptRounds = 100;

// Decides which rounds' log folders are deleted, so that a job that restarts
// for weeks does not fill the disk. Keeps the folder of the first round, which
// shows how the job began. Also keeps the folders of the newest kMaxKeptRounds
// rounds. Considers only folders that this agent has begun. Pure.
class KeptRounds {
 public:
  // Records that a round begins whose logs are in `folder`. Returns the folder
  // to remove now; empty: none.
  std::string Begin(const std::string& folder);

 private:
  bool has_first_ = false;
  // folders of the newest rounds, without the first round's
  std::deque<std::string> newest_;
};

// Removes folders in a thread of its own, because a file system may hang.
// Thread-safe.
class FolderRemover {
 public:
  // The maximum number of folders that are queued for removal; further folders
  // are not removed.
  static constexpr size_t kMaxWaiting = 16;

  // `on_removed` is called for each removed folder, in the remover's thread;
  // may be empty.
  explicit FolderRemover(
      std::function<void(const std::string& folder)> on_removed = nullptr);
  // Does not wait: a removal in progress continues while the process lives.
  ~FolderRemover();

  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  // Removes `folder` and its contents later, in the remover's thread. Does not
  // follow links. Errors are ignored.
  void Remove(const std::string& folder);

 private:
  struct Work;
  static void Run(const std::shared_ptr<Work>& work);

  const std::shared_ptr<Work> work_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_OLD_ROUNDS_H_
