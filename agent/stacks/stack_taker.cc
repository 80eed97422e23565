#include "agent/stacks/stack_taker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "agent/health/within.h"
#include "agent/stacks/kernel_stacks.h"
#include "agent/stacks/py_spy.h"
#include "agent/stacks/stack_lines.h"
#include "base/bounded_file.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxToolBytes = 400 << 10;
constexpr size_t kMaxMapsBytes = 8 << 20;
// The longest time for which Cancel waits for the thread of a Take. Cancel
// kills the tools at once, so the thread normally ends earlier.
constexpr Duration kTimeToEnd = std::chrono::seconds(2);
constexpr Duration kTimeToWrite = std::chrono::seconds(1);
constexpr char kFileName[] = "/stack.txt";

std::string ReadUpTo(const std::string& path, size_t max_bytes) {
  const OwnedFd file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return ReadBeginning(file.get(), max_bytes).value_or("");
}

void WriteFile(const std::string& path, const std::string& text) {
  // Removes a symbolic link that a worker may have created at `path`, so that
  // the link is not followed.
  unlink(path.c_str());
  const OwnedFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  // A failed write, for instance to a full disk, is ignored, because it must
  // not prevent the restart of the job.
  if (file.open()) WriteAll(file.get(), text);
}

// Writes `text` to the file `path`, but waits for the file system for at most
// kTimeToWrite.
void WriteInTime(const std::string& path, const std::string& text) {
  Within<std::monostate>(MonotonicNow() + kTimeToWrite, [path, text] {
    WriteFile(path, text);
    return std::monostate();
  });
}

bool RunsPython(int64_t pid) {
  char program[4096];
  const ssize_t length = readlink(absl::StrCat("/proc/", pid, "/exe").c_str(),
                                  program, sizeof(program));
  const std::string path(program, length > 0 ? static_cast<size_t>(length) : 0);
  if (path.find("/python", path.rfind('/')) != std::string::npos) return true;
  return ReadUpTo(absl::StrCat("/proc/", pid, "/maps"), kMaxMapsBytes)
             .find("/libpython") != std::string::npos;
}

// A gdb command line that prints native frames only. For Python's own
// traceback, gdb would have to call a function in the process. The command line
// forbids such calls, because they execute code in the user's program. On
// processors with AMX, such a call by gdb 13 also breaks the system call that
// gdb has interrupted.
std::vector<std::string> GdbCommand(int64_t pid) {
  return {// No init files, no questions, no downloads of symbols.
          "gdb",
          "-nx",
          "-batch",
          "-iex",
          "set debuginfod enabled off",
          "-iex",
          "set auto-load off",
          "-iex",
          "set may-call-functions off",
          "-iex",
          "set may-write-registers off",
          "-iex",
          "set may-write-memory off",
          "-iex",
          "set width 0",
          "-p",
          absl::StrCat(pid),
          "-ex",
          "thread apply all -ascending bt 32"};
}

}  // namespace

StackTexts ReadStacks(int64_t pid, NativeFrames native, Instant deadline,
                      int cancel) {
  StackTexts texts;
  // Reads /proc before gdb runs, because gdb stops the process.
  texts.kernel = KernelStacks(pid);
  // the process has ended, so there is no stack to read
  if (texts.kernel.empty()) return texts;
  const bool stopped = ReadWorkerState(pid) == WorkerState::kStopped;
  if (RunsPython(pid)) {
    PythonStacks python =
        ReadPythonStacks(pid, deadline, cancel, kMaxToolBytes);
    texts.python = std::move(python.dump);
    texts.why_no_python = std::move(python.why_not);
  }
  if (native == NativeFrames::kOmit) return texts;
  ToolOutcome debugged = RunTool({.argv = GdbCommand(pid),
                                  .deadline = deadline,
                                  .cancel_fd = cancel,
                                  .max_bytes = kMaxToolBytes});
  texts.native = std::move(debugged.output);
  if (debugged.end == ToolOutcome::End::kCutOff && !stopped) {
    // RunTool has killed gdb at the time limit, and gdb may have left the
    // process stopped. So make the process continue. (A process that was
    // stopped already before gdb ran gets no SIGCONT: it would then seem
    // healthy.)
    kill(static_cast<pid_t>(pid), SIGCONT);
  }
  return texts;
}

// The state of one call of Take. The thread of this call and the StackTaker
// share the object, and the last owner frees it.
struct StackTaker::Work {
  std::vector<Subject> subjects;
  Done done;
  OwnedFd cancel{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable ending;
  // whether the result is still needed; `mutex` guards this field and the
  // fields below
  bool wanted = true;
  bool ended = false;

  void Run();
};

void StackTaker::Work::Run() {
  const Instant began = MonotonicNow();
  std::vector<std::string> lines;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Instant deadline = began + (i == 0 ? kTimeForFirst : kTimeForAll);
    if (MonotonicNow() >= deadline) break;
    const StackTexts texts = ReadStacks(subjects[i].pid, NativeFrames::kRead,
                                        deadline, cancel.get());
    if (i == 0) lines = MostInformativeLines(texts);
    const std::string whole = WholeText(texts);
    if (!subjects[i].folder.empty() && !whole.empty()) {
      WriteInTime(subjects[i].folder + kFileName, whole);
    }
  }
  const std::lock_guard<std::mutex> lock(mutex);
  if (wanted) done(std::move(lines));
  ended = true;
  ending.notify_all();
}

StackTaker::StackTaker() = default;

StackTaker::~StackTaker() { Cancel(); }

void StackTaker::Cancel() {
  if (work_ == nullptr) return;
  eventfd_write(work_->cancel.get(), 1);
  std::unique_lock<std::mutex> lock(work_->mutex);
  work_->wanted = false;
  work_->ending.wait_for(lock, kTimeToEnd, [this] { return work_->ended; });
}

void StackTaker::Take(std::vector<Subject> subjects, Done done) {
  MUSTER_CHECK(!subjects.empty());
  Cancel();
  work_ = std::make_shared<Work>();
  work_->subjects = std::move(subjects);
  work_->done = std::move(done);
  std::thread([work = work_] { work->Run(); }).detach();
}

}  // namespace muster::agent
