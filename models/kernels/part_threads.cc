#include "models/kernels/part_threads.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace muster::models {
namespace {

// Never destroyed, because its threads wait in it until the process ends.
class Crew {
 public:
  void Run(int count, const std::function<void(int)>& part) {
    const std::lock_guard<std::mutex> turn(turn_);
    std::unique_lock<std::mutex> lock(mutex_);
    for (; threads_ < count - 1; ++threads_) {
      std::thread([this] { Work(); }).detach();
    }
    part_ = &part;
    next_ = 0;
    count_ = count;
    unfinished_ = count;
    work_.notify_all();
    while (next_ < count_) DoNext(lock);
    done_.wait(lock, [this] { return unfinished_ == 0; });
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return next_ < count_; });
      DoNext(lock);
    }
  }

  void DoNext(std::unique_lock<std::mutex>& lock) {
    const int mine = next_++;
    const std::function<void(int)>& part = *part_;
    lock.unlock();
    part(mine);
    lock.lock();
    if (--unfinished_ == 0) done_.notify_one();
  }

  std::mutex turn_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  int threads_ = 0;
  // The call whose turn it is.
  const std::function<void(int)>* part_ = nullptr;
  int next_ = 0;
  int count_ = 0;
  int unfinished_ = 0;
};

// The crew of this process: a forked child does not have its parent's threads.
Crew& OwnCrew() {
  static std::mutex mutex;
  static Crew* crew = nullptr;
  static pid_t owner = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  if (owner != getpid()) {
    crew = new Crew;
    owner = getpid();
  }
  return *crew;
}

}  // namespace

void RunParts(int count, const std::function<void(int)>& part) {
  if (count == 1) {
    part(0);
  } else if (count > 1) {
    OwnCrew().Run(count, part);
  }
}

}  // namespace muster::models
