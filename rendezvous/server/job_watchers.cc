#include "rendezvous/server/job_watchers.h"

#include <iterator>
#include <utility>

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxWatchers = 100;

}  // namespace

bool JobWatchers::Add(uint64_t id, Told told) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (watchers_.size() >= kMaxWatchers) return false;
  watchers_.emplace(id, std::make_shared<Watcher>(std::move(told)));
  return true;
}

void JobWatchers::Remove(uint64_t id) {
  std::shared_ptr<Watcher> watcher;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = watchers_.find(id);
    if (found == watchers_.end()) return;
    watcher = std::move(found->second);
    watchers_.erase(found);
  }
  // Tell may hold a copy of the pointer; once emptied, it calls nothing.
  std::lock_guard<std::mutex> lock(watcher->mutex);
  watcher->told = nullptr;
}

void JobWatchers::Note(std::vector<Decision> decisions) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (noted_.empty()) {
    noted_ = std::move(decisions);
  } else {
    std::move(decisions.begin(), decisions.end(), std::back_inserter(noted_));
  }
}

void JobWatchers::Tell() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!noted_.empty()) {
    const std::vector<Decision> batch = std::exchange(noted_, {});
    std::vector<std::shared_ptr<Watcher>> watchers;
    for (const auto& [id, watcher] : watchers_) watchers.push_back(watcher);
    lock.unlock();
    for (const Decision& decision : batch) {
      if (always_) always_(decision);
      for (const auto& watcher : watchers) {
        std::lock_guard<std::mutex> hold(watcher->mutex);
        if (watcher->told) watcher->told(decision);
      }
    }
    lock.lock();
  }
  telling_ = false;
}

}  // namespace muster::rendezvous
