#include "agent/stacks/stack_taker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "agent/stacks/kernel_stacks.h"
#include "agent/stacks/stack_lines.h"
#include "agent/stacks/worker_state_reader.h"
#include "base/bounded_file.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster {
namespace {

constexpr size_t kMostToolBytes = 400 << 10;
constexpr size_t kMostMapsBytes = 8 << 20;
constexpr Duration kTimeForPySpy = std::chrono::seconds(3);
// How long one that was cancelled is waited for: tools are killed at once.
constexpr Duration kTimeToEnd = std::chrono::seconds(2);
constexpr char kFileName[] = "/stack.txt";
constexpr char kPythonFileName[] = "/python_stack.txt";

std::string ReadUpTo(const std::string& path, size_t most_bytes) {
  const OwnedFd file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return ReadBeginning(file.get(), most_bytes).value_or("");
}

void WriteFile(const std::string& path, const std::string& text) {
  // What a worker may have put there under this name is not followed.
  unlink(path.c_str());
  const OwnedFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  // A full disk must not keep a job from its restart.
  if (file.open()) WriteAll(file.get(), text);
}

bool RunsPython(int64_t pid) {
  char program[4096];
  const ssize_t length = readlink(absl::StrCat("/proc/", pid, "/exe").c_str(),
                                  program, sizeof(program));
  const std::string path(program, length > 0 ? static_cast<size_t>(length) : 0);
  if (path.find("/python", path.rfind('/')) != std::string::npos) return true;
  return ReadUpTo(absl::StrCat("/proc/", pid, "/maps"), kMostMapsBytes)
             .find("/libpython") != std::string::npos;
}

std::vector<std::string> GdbCommand(int64_t pid,
                                    const std::string& python_file) {
  std::vector<std::string> argv = {
      // No init files, no questions, no downloads of symbols.
      "gdb",
      "-nx",
      "-batch",
      "-iex",
      "set debuginfod enabled off",
      "-iex",
      "set auto-load off",
      "-iex",
      "set width 0",
      "-p",
      absl::StrCat(pid),
      "-ex",
      "thread apply all -ascending bt 32"};
  if (python_file.empty()) return argv;
  // Its own function for crashes takes no lock and allocates nothing.
  for (const std::string& command :
       {std::string("thread 1"), std::string("set scheduler-locking on"),
        std::string("set unwindonsignal on"),
        absl::StrCat("set $file = (int)creat(\"", python_file, "\", 0600)"),
        std::string("call (void)_Py_DumpTracebackThreads($file, 0, 0)"),
        std::string("call (int)close($file)")}) {
    argv.emplace_back("-ex");
    argv.push_back(command);
  }
  return argv;
}

// For a string in a gdb command. Paths with what would have to be quoted there
// are not worth the risk.
bool IsPlain(const std::string& path) {
  return std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '$';
  });
}

// Whether gdb may let a process call its own functions. A debugger that is cut
// off in the middle of such a call may end the process by it: that is risked
// with the one that is blamed, and not with one that would then be taken for
// the cause.
enum class Calls { kAllowed, kForbidden };

StackTexts Look(const StackTaker::Subject& subject, Calls calls,
                Instant deadline, int cancel) {
  StackTexts texts;
  const int64_t pid = subject.pid;
  // First: a tool stops the process.
  texts.kernel = KernelStacks(pid);
  if (texts.kernel.empty()) return texts;  // it is gone
  const bool stopped = ReadWorkerState(pid) == WorkerState::kStopped;
  const bool python = RunsPython(pid);
  if (python) {
    ToolOutcome spied =
        RunTool({.argv = {"py-spy", "dump", "--pid", absl::StrCat(pid)},
                 .deadline = std::min(deadline, MonotonicNow() + kTimeForPySpy),
                 .cancel_fd = cancel,
                 .most_bytes = kMostToolBytes});
    if (spied.end == ToolOutcome::End::kSucceeded) {
      texts.python = std::move(spied.output);
    }
  }
  const bool ask_python = calls == Calls::kAllowed && python &&
                          texts.python.empty() && !subject.folder.empty() &&
                          IsPlain(subject.folder);
  const std::string python_file =
      ask_python ? subject.folder + kPythonFileName : "";
  ToolOutcome debugged = RunTool({.argv = GdbCommand(pid, python_file),
                                  .deadline = deadline,
                                  .cancel_fd = cancel,
                                  .most_bytes = kMostToolBytes});
  texts.native = std::move(debugged.output);
  if (debugged.end == ToolOutcome::End::kCutOff && !stopped) {
    // A debugger that dies in the middle may leave it stopped. One that was
    // before stays so: it would seem well again, and be stopped no more.
    kill(static_cast<pid_t>(pid), SIGCONT);
  }
  if (ask_python) {
    texts.python = ReadUpTo(python_file, kMostToolBytes);
    unlink(python_file.c_str());
  }
  return texts;
}

}  // namespace

// What the thread shares with who started it; whoever goes last ends it.
struct StackTaker::Work {
  std::vector<Subject> subjects;
  Done done;
  OwnedFd cancel{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable ending;
  bool wanted = true;  // guarded by mutex, as is:
  bool ended = false;

  void Run();
};

void StackTaker::Work::Run() {
  const Instant began = MonotonicNow();
  std::vector<std::string> lines;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Instant deadline = began + (i == 0 ? kTimeForFirst : kTimeForAll);
    if (MonotonicNow() >= deadline) break;
    const StackTexts texts =
        Look(subjects[i], i == 0 ? Calls::kAllowed : Calls::kForbidden,
             deadline, cancel.get());
    if (i == 0) lines = TellingLines(texts);
    const std::string whole = WholeText(texts);
    if (!subjects[i].folder.empty() && !whole.empty()) {
      WriteFile(subjects[i].folder + kFileName, whole);
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

}  // namespace muster
