#include "agent/stacks/stack_taker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>

#include "absl/strings/str_join.h"
#include "agent/stacks/py_spy.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A Python program that blocks in libc's pause. Unlike Python's own functions,
// this call returns when a signal interrupts it; the program then prints the
// error.
constexpr char kProgram[] =
    "import ctypes\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "def load_the_batch():\n"
    "  print('up', flush=True)\n"
    "  libc.pause()\n"
    "  print('error %d' % ctypes.get_errno(), flush=True)\n"
    "  while True: libc.pause()\n"
    "def train():\n"
    "  load_the_batch()\n"
    "train()\n";

// A Python process that waits in the function load_the_batch.
class Worker {
 public:
  explicit Worker(const std::string& python = "python3") {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execlp(python.c_str(), python.c_str(), "-c", kProgram, nullptr);
      _exit(127);
    }
    close(ends[1]);
    char bytes[16];
    EXPECT_GT(read(ends[0], bytes, sizeof(bytes)), 0);
    output_ = ends[0];
  }
  ~Worker() { End(); }
  pid_t pid() const { return pid_; }
  // Kills this worker's process. Returns the text that the process has printed
  // since it was ready: the error of an interrupted system call, or nothing.
  std::string End() {
    if (pid_ == 0) return "";
    EXPECT_EQ(waitpid(pid_, nullptr, WNOHANG), 0) << "it has ended by itself";
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
    char bytes[256];
    const ssize_t got = read(output_, bytes, sizeof(bytes));
    close(output_);
    return {bytes, got > 0 ? static_cast<size_t>(got) : 0};
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

class StackTakerTest : public ::testing::Test {
 protected:
  StackTakerTest() : folder_(::testing::TempDir() + "/stacks-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    tools_ = folder_ + "/tools";
    mkdir(tools_.c_str(), 0700);
    path_ = std::getenv("PATH");
  }
  ~StackTakerTest() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("MUSTER_PY_SPY_DIR");
  }

  // Sets PATH to the folder of the test's own tools, so that no other tool is
  // found.
  void UseTools() {
    setenv("PATH", (tools_ + ":/no/bin").c_str(), 1);
    setenv("MUSTER_PY_SPY_DIR", "/no/folder", 1);
  }
  void MakeTool(const std::string& name, const std::string& script) {
    const std::string path = tools_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), 0700);
  }
  std::string Take(std::vector<StackTaker::Subject> subjects) {
    std::promise<std::vector<std::string>> lines;
    StackTaker taker;
    taker.Take(std::move(subjects), [&](std::vector<std::string> told) {
      lines.set_value(std::move(told));
    });
    return absl::StrJoin(lines.get_future().get(), "\n");
  }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool HasTool(const std::string& name) const {
    return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
  }

  std::string folder_;
  std::string tools_;
  std::string path_;
};

TEST_F(StackTakerTest, WithoutAnyToolTheKernelIsAsked) {
  const Worker worker;
  UseTools();
  EXPECT_THAT(Take({{worker.pid(), folder_}}),
              HasSubstr("thread " + std::to_string(worker.pid()) + " (python"));
  EXPECT_THAT(Contents(folder_ + "/stack.txt"), HasSubstr("=== kernel\n"));
}

TEST_F(StackTakerTest, PySpyGivesPythonsFrames) {
  const Worker worker;
  UseTools();
  MakeTool("py-spy",
           "[ \"$1 $2 $3\" = 'dump --nonblocking --pid' ] || exit 1\n"
           "echo \"Thread $4 (idle): \\\"MainThread\\\"\"\n"
           "echo '    spied (a.py:1)'");
  EXPECT_THAT(Take({{worker.pid(), folder_}}), HasSubstr("  spied (a.py:1)"));
}

TEST_F(StackTakerTest, PySpyIsFoundInTheSetUpsFolder) {
  const Worker worker;
  UseTools();
  MakeTool("py-spy", "echo 'Thread 1 (idle)'; echo '    spied (a.py:1)'");
  setenv("PATH", "/usr/bin:/bin", 1);
  setenv("MUSTER_PY_SPY_DIR", tools_.c_str(), 1);
  EXPECT_THAT(Take({{worker.pid(), folder_}}), HasSubstr("  spied (a.py:1)"));
}

TEST_F(StackTakerTest, APySpyThatFailsIsQuotedInOneLine) {
  const Worker worker;
  UseTools();
  MakeTool("py-spy",
           "echo '  (a.py:1)'; echo 'Error: Permission denied'; exit 1");
  const std::string told = Take({{worker.pid(), folder_}});
  EXPECT_THAT(told, HasSubstr("no Python frames: py-spy failed: Error: "
                              "Permission denied\nthread "));
  EXPECT_THAT(told, Not(HasSubstr("a.py")));
}

TEST_F(StackTakerTest, APythonProcessThatChangesWhileItIsReadIsReadAgain) {
  const Worker worker;
  UseTools();
  const std::string tried = folder_ + "/tried";
  MakeTool("py-spy", "[ -e " + tried + " ] || { : > " + tried +
                         "; exit 1; }\n"
                         "echo 'Thread 1 (active)'; echo '    spied (a.py:1)'");
  EXPECT_THAT(Take({{worker.pid(), folder_}}), HasSubstr("  spied (a.py:1)"));
}

TEST_F(StackTakerTest, WithoutPySpyOneLineSaysWhatToInstall) {
  const Worker worker;
  UseTools();
  EXPECT_THAT(Take({{worker.pid(), folder_}}),
              StartsWith("no Python frames: py-spy is not installed on this "
                         "node (pip install py-spy;"));
  EXPECT_THAT(Contents(folder_ + "/stack.txt"),
              HasSubstr("=== Python\nno Python frames: py-spy is not "));
}

// The Python interpreters on this machine with which the tests of py-spy run.
std::vector<std::string> Pythons() {
  std::vector<std::string> pythons = {"/usr/bin/python3"};
  const char* const torch2 = std::getenv("MUSTER_TORCH2_PYTHON");
  if (torch2 != nullptr && *torch2 != 0) pythons.emplace_back(torch2);
  return pythons;
}

TEST_F(StackTakerTest, TheRealPySpyShowsPythonsFrames) {
  if (FindPySpy().empty()) {
    GTEST_SKIP() << "py-spy is not installed (tools/setup_py_spy installs it)";
  }
  for (const std::string& python : Pythons()) {
    Worker worker(python);
    const PythonStacks stacks = ReadPythonStacks(
        worker.pid(), MonotonicNow() + std::chrono::seconds(10), -1, 1 << 16);
    EXPECT_THAT(stacks.dump, HasSubstr("load_the_batch (<string>:5)"))
        << python << ": " << stacks.why_not;
    EXPECT_THAT(stacks.dump, HasSubstr("train (<string>:9)"));
    EXPECT_EQ(worker.End(), "") << "its system call was interrupted";
  }
}

TEST_F(StackTakerTest, GdbShowsNativeFramesAndDisturbsNoSystemCall) {
  if (!HasTool("gdb")) GTEST_SKIP() << "gdb is not installed";
  Worker worker;
  const auto began = std::chrono::steady_clock::now();
  const std::string told = Take({{worker.pid(), folder_}});
  const auto took = std::chrono::steady_clock::now() - began;
  if (Contents(folder_ + "/stack.txt").find("ptrace: ") != std::string::npos) {
    GTEST_SKIP() << "gdb may not trace other processes here";
  }
  EXPECT_EQ(worker.End(), "") << "its system call was interrupted";
  if (told.find("native, main thread:") == std::string::npos &&
      took > StackTaker::kTimeForFirst - std::chrono::seconds(1)) {
    GTEST_SKIP() << "gdb was cut off: this machine is too busy for it";
  }
  EXPECT_THAT(told, HasSubstr("native, main thread:"));
  EXPECT_THAT(told, HasSubstr("pause"));
}

TEST_F(StackTakerTest, ToolsExecuteNothingInAWorker) {
  const Worker one, two;
  const std::string other = folder_ + "/other";
  mkdir(other.c_str(), 0700);
  UseTools();
  MakeTool("gdb", "echo \"#0 asked for $*\"");
  Take({{one.pid(), folder_}, {two.pid(), other}});
  for (const std::string& folder : {folder_, other}) {
    EXPECT_THAT(Contents(folder + "/stack.txt"),
                AllOf(HasSubstr("set may-call-functions off"),
                      Not(HasSubstr("-ex call ")), Not(HasSubstr("creat"))));
  }
}

TEST_F(StackTakerTest, EachSubjectHasAFileAndTheFirstIsReturned) {
  const Worker one, two;
  const std::string other = folder_ + "/other";
  mkdir(other.c_str(), 0700);
  UseTools();
  const std::string told = Take({{one.pid(), folder_}, {two.pid(), other}});
  EXPECT_THAT(told, HasSubstr("thread " + std::to_string(one.pid())));
  EXPECT_THAT(told, Not(HasSubstr("thread " + std::to_string(two.pid()))));
  EXPECT_THAT(Contents(other + "/stack.txt"),
              HasSubstr("thread " + std::to_string(two.pid())));
}

TEST_F(StackTakerTest, GoneWorkerHasNoStack) {
  pid_t pid = 0;
  {
    const Worker worker;
    pid = worker.pid();
  }
  EXPECT_EQ(Take({{pid, folder_}}), "");
  EXPECT_NE(access((folder_ + "/stack.txt").c_str(), F_OK), 0);
}

TEST_F(StackTakerTest, AnotherNameInThePlaceOfTheFileIsNotFollowed) {
  const Worker worker;
  UseTools();
  const std::string precious = folder_ + "/precious";
  std::ofstream(precious) << "kept";
  ASSERT_EQ(symlink(precious.c_str(), (folder_ + "/stack.txt").c_str()), 0);
  Take({{worker.pid(), folder_}});
  EXPECT_EQ(Contents(precious), "kept");
  EXPECT_THAT(Contents(folder_ + "/stack.txt"), HasSubstr("=== kernel"));
}

// The destructor kills the running tool. Otherwise the tool would run until its
// deadline, kTimeForFirst.
TEST_F(StackTakerTest, DestructorKillsARunningTool) {
  const Worker worker;
  UseTools();
  MakeTool("gdb", "exec /usr/bin/tail -f /dev/null");
  const auto began = std::chrono::steady_clock::now();
  {
    StackTaker taker;
    taker.Take({{worker.pid(), ""}}, [](const auto&) {});
    taker.Take({{worker.pid(), ""}}, [](const auto&) {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began,
            StackTaker::kTimeForFirst);
}

TEST_F(StackTakerTest, StoppedWorkerStaysStoppedAfterACancelledTool) {
  const Worker worker;
  int status = 0;
  ASSERT_EQ(kill(worker.pid(), SIGSTOP), 0);
  ASSERT_EQ(waitpid(worker.pid(), &status, WUNTRACED), worker.pid());
  UseTools();
  MakeTool("gdb", "exec /usr/bin/tail -f /dev/null");
  {
    StackTaker taker;
    taker.Take({{worker.pid(), ""}}, [](const auto&) {});
  }
  EXPECT_EQ(waitpid(worker.pid(), &status, WCONTINUED | WNOHANG), 0);
}

}  // namespace
}  // namespace muster::agent
