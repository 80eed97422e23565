#include "base/resource_room.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

constexpr size_t kSmallStackBytes = 1 << 20;

bool IsLimited(__rlimit_resource resource, rlimit* limit) {
  return getrlimit(resource, limit) == 0 && limit->rlim_cur != RLIM_INFINITY;
}

size_t StackBytes() {
  pthread_attr_t attributes;
  size_t bytes = kSmallStackBytes;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return bytes;
}

// Finds out why a thread could not be created: pthread_create returns EAGAIN
// for a lack of memory as well as for the limit on threads.
std::string WhyNoThread() {
  void* const stack = mmap(nullptr, StackBytes(), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  rlimit limit = {};
  if (stack == MAP_FAILED) {
    return IsLimited(RLIMIT_AS, &limit)
               ? absl::StrCat("the address space is limited to ",
                              limit.rlim_cur >> 10,
                              " KiB; raise it (ulimit -v)")
               : std::string("there is no memory for its stack");
  }
  munmap(stack, StackBytes());
  return IsLimited(RLIMIT_NPROC, &limit)
             ? absl::StrCat("this user may have ", limit.rlim_cur,
                            " processes and threads; raise that (ulimit -u) or "
                            "the container's pids limit")
             : std::string(
                   "the container's or the machine's limit of processes and "
                   "threads (pids.max, kernel.threads-max) is reached");
}

// Idle threads, which exit when this object is destroyed.
class IdleThreads {
 public:
  ~IdleThreads() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }

  bool Add() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, &Wait, this) != 0) return false;
    threads_.push_back(thread);
    return true;
  }

 private:
  static void* Wait(void* self) {
    auto* const idle = static_cast<IdleThreads*>(self);
    std::unique_lock<std::mutex> lock(idle->mutex_);
    idle->changed_.wait(lock, [idle] { return idle->done_; });
    return nullptr;
  }

  std::mutex mutex_;  // guards done_
  std::condition_variable changed_;
  bool done_ = false;
  std::vector<pthread_t> threads_;
};

// Whether the address space of this process is limited, or this user may have
// fewer than 4096 processes and threads. Even a program with few threads may
// reach such a limit.
bool AreThreadsLimited() {
  constexpr rlim_t kTight = 4096;
  rlimit limit = {};
  return IsLimited(RLIMIT_AS, &limit) ||
         (IsLimited(RLIMIT_NPROC, &limit) && limit.rlim_cur < kTight);
}

absl::Status CheckDescriptors(int needed) {
  // First raise the soft limit on descriptors as far as allowed, as servers do
  // when they start later. EMFILE then means that even the hard limit is too
  // low.
  RaiseDescriptorLimit(0);
  std::vector<OwnedFd> taken;
  for (int i = 0; i < needed; ++i) {
    taken.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (taken.back().open()) continue;
    const int error = errno;
    if (error == EMFILE) {
      rlimit limit = {};
      getrlimit(RLIMIT_NOFILE, &limit);
      return absl::ResourceExhaustedError(absl::StrCat(
          "too few file descriptors: this process may have ", limit.rlim_cur,
          ", and needs ", needed, " more than it has open; raise the limit ",
          "(ulimit -n)"));
    }
    // Only EMFILE, which is handled above, and ENFILE mean that descriptors ran
    // out. Any other error has another cause, such as a missing /dev/null, and
    // is ignored here.
    if (error != ENFILE) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        "too few file descriptors: the machine's limit (fs.file-max) is "
        "reached");
  }
  return absl::OkStatus();
}

const char* program_name = "";

void Tell(const char* what) {
  char line[512];
  const int size =
      std::snprintf(line, sizeof line, "%s: %s\n", program_name, what);
  if (size > 0) {
    (void)!write(STDERR_FILENO, line,
                 std::min(static_cast<size_t>(size), sizeof line - 1));
  }
  _exit(1);
}

[[noreturn]] void Terminate() {
  const std::exception_ptr thrown = std::current_exception();
  if (thrown != nullptr) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again) {
        const std::string why = WhyNoThread();
        Tell(("no more threads can be started: " + why).c_str());
      }
    } catch (const std::bad_alloc&) {
      Tell("out of memory (see ulimit -v and the container's memory limit)");
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

absl::Status CheckRoom(const ResourceNeed& need) {
  const absl::Status descriptors = CheckDescriptors(need.descriptors);
  if (!descriptors.ok()) return descriptors;
  if (!AreThreadsLimited()) return absl::OkStatus();
  IdleThreads threads;
  for (int i = 0; i < need.threads; ++i) {
    if (threads.Add()) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("no more than ", i, " of ", need.threads,
                     " threads can be started: ", WhyNoThread()));
  }
  return absl::OkStatus();
}

void ReduceThreadMemory() {
  rlimit limit = {};
  if (!IsLimited(RLIMIT_AS, &limit)) return;
  mallopt(M_ARENA_MAX, 2);
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, kSmallStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

void InstallOutOfResourceHandler(const char* program) {
  program_name = program;
  std::set_terminate(&Terminate);
}

int RaiseDescriptorLimit(int kept_for_others) {
  constexpr rlim_t kMax = 1'000'000;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const rlim_t kept =
      std::min(static_cast<rlim_t>(kept_for_others), limit.rlim_cur / 2);
  return static_cast<int>(std::min(limit.rlim_cur - kept, kMax));
}

}  // namespace muster
