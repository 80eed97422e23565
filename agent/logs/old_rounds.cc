#include "agent/logs/old_rounds.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace muster::agent {

std::string KeptRounds::Begin(const std::string& folder) {
  if (!std::exchange(has_first_, true)) return "";
  newest_.push_back(folder);
  if (newest_.size() <= kMaxKeptRounds) return "";
  std::string oldest = std::move(newest_.front());
  newest_.pop_front();
  return oldest;
}

struct FolderRemover::Work {
  std::function<void(const std::string& folder)> on_removed;
  std::mutex mutex;
  std::deque<std::string> folders;
  bool running = false;  // whether a thread that removes `folders` is running
};

FolderRemover::FolderRemover(
    std::function<void(const std::string& folder)> on_removed)
    : work_(std::make_shared<Work>()) {
  work_->on_removed = std::move(on_removed);
}

FolderRemover::~FolderRemover() = default;

void FolderRemover::Remove(const std::string& folder) {
  std::lock_guard<std::mutex> lock(work_->mutex);
  if (work_->folders.size() < kMaxWaiting) work_->folders.push_back(folder);
  if (work_->running) return;
  try {
    std::thread([work = work_] { Run(work); }).detach();
    work_->running = true;
  } catch (const std::system_error&) {
    // The system cannot create a thread now. The folder stays in the queue, and
    // the next call of Remove tries again to create a thread.
  }
}

void FolderRemover::Run(const std::shared_ptr<Work>& work) {
  std::unique_lock<std::mutex> lock(work->mutex);
  while (!work->folders.empty()) {
    const std::string folder = std::move(work->folders.front());
    work->folders.pop_front();
    lock.unlock();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (work->on_removed) work->on_removed(folder);
    lock.lock();
  }
  work->running = false;
}

}  // namespace muster::agent
