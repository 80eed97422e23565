#include "models/kernels/matrix_threads.h"

#include <cblas.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

namespace muster::models {
namespace {

// The pool of threads that run the parts given to RunParts. The pool is never
// destroyed, because its threads use it until the process ends.
class PartThreads {
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
  // The function `part` of the current call of Run. It still has to be called
  // with the indices from next_ to count_ - 1.
  const std::function<void(int)>* part_ = nullptr;
  int next_ = 0;
  int count_ = 0;
  int unfinished_ = 0;
};

// The threads of this process. A forked child does not have its parent's
// threads, so it gets a set of its own.
PartThreads& OwnPartThreads() {
  static std::mutex mutex;
  static PartThreads* threads = nullptr;
  static pid_t owner = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  if (owner != getpid()) {
    threads = new PartThreads;
    owner = getpid();
  }
  return *threads;
}

}  // namespace

void RunParts(int count, const std::function<void(int)>& part) {
  if (count == 1) {
    part(0);
  } else if (count > 1) {
    OwnPartThreads().Run(count, part);
  }
}

namespace {

constexpr int kMax = 1 << 16;

// The value of the environment variable `variable` as a number; 0: not set, or
// not a number. If the value is a list, which OpenMP allows, the first number
// counts.
int NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return 0;
  return static_cast<int>(
      std::clamp<long>(std::strtol(text, nullptr, 10), 0, kMax));
}

int AllottedCores(int machine_cores) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return machine_cores;
  return CPU_COUNT(&set);
}

// Returns the CPU quota of this process's control group (cgroup), in cores; 0:
// unlimited. Without a limit, cpu.max begins with "max", so no number can be
// read.
int Quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double microseconds = 0;
  double period = 0;
  if (!(file >> microseconds >> period) || !(period > 0)) return 0;
  const double cores = std::ceil(microseconds / period);
  return cores < kMax ? static_cast<int>(cores) : 0;
}

std::atomic<int>& Count() {
  static std::atomic<int> count = [] {
    const int own = openblas_get_num_threads();
    openblas_set_num_threads(1);
    return own;
  }();
  return count;
}

}  // namespace

int ChooseMatrixThreads(const MatrixThreadFacts& facts) {
  if (facts.openblas > 0) return facts.openblas;
  const int processes = std::max(1, facts.processes);
  if (facts.omp > 0) {
    return std::max(1, std::min(facts.omp, facts.allotted_cores));
  }
  // A process that is bound to some of the machine's cores uses all cores that
  // it is bound to. Otherwise the job's processes on this machine share the
  // machine's cores equally.
  int cores = facts.allotted_cores < facts.machine_cores
                  ? facts.allotted_cores
                  : facts.allotted_cores / processes;
  if (facts.quota > 0) cores = std::min(cores, facts.quota / processes);
  return std::max(1, cores);
}

MatrixThreadFacts ReadMatrixThreadFacts(int processes) {
  const int machine_cores =
      std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  return {.openblas = NumberIn("OPENBLAS_NUM_THREADS"),
          .omp = NumberIn("OMP_NUM_THREADS"),
          .allotted_cores = AllottedCores(machine_cores),
          .machine_cores = machine_cores,
          .quota = Quota(),
          .processes = processes};
}

void UseMatrixThreads(int count) { Count() = std::max(1, count); }

int MatrixThreads() { return Count(); }

}  // namespace muster::models
