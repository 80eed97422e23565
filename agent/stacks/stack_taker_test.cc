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

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] =
    "import signal\n"
    "def load_the_batch():\n"
    "  print('up', flush=True)\n"
    "  while True: signal.pause()\n"
    "def train():\n"
    "  load_the_batch()\n"
    "train()\n";

// A Python process that waits in load_the_batch.
class Worker {
 public:
  Worker() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execlp("python3", "python3", "-c", kProgram, nullptr);
      _exit(127);
    }
    close(ends[1]);
    char bytes[16];
    EXPECT_GT(read(ends[0], bytes, sizeof(bytes)), 0);
    close(ends[0]);
  }
  ~Worker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

class StackTakerTest : public ::testing::Test {
 protected:
  StackTakerTest() : folder_(::testing::TempDir() + "/stacks-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    tools_ = folder_ + "/tools";
    mkdir(tools_.c_str(), 0700);
    path_ = std::getenv("PATH");
  }
  ~StackTakerTest() override { setenv("PATH", path_.c_str(), 1); }

  // Only these are found from now on.
  void UseTools() { setenv("PATH", (tools_ + ":/no/bin").c_str(), 1); }
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

TEST_F(StackTakerTest, PySpyIsAskedFirst) {
  const Worker worker;
  UseTools();
  MakeTool("py-spy",
           "[ \"$1 $2\" = 'dump --pid' ] || exit 1\n"
           "echo \"Thread $3 (idle): \\\"MainThread\\\"\"\n"
           "echo '    spied (a.py:1)'");
  EXPECT_THAT(Take({{worker.pid(), folder_}}), HasSubstr("  spied (a.py:1)"));
}

TEST_F(StackTakerTest, AToolThatFailsTellsNothing) {
  const Worker worker;
  UseTools();
  MakeTool("py-spy", "echo '  Permission denied'; exit 1");
  EXPECT_THAT(Take({{worker.pid(), folder_}}), Not(HasSubstr("denied")));
}

TEST_F(StackTakerTest, PythonShowsItselfThroughGdb) {
  if (!HasTool("gdb")) GTEST_SKIP() << "gdb is not installed";
  const Worker worker;
  const auto began = std::chrono::steady_clock::now();
  const std::string told = Take({{worker.pid(), folder_}});
  const auto took = std::chrono::steady_clock::now() - began;
  if (Contents(folder_ + "/stack.txt").find("ptrace: ") != std::string::npos) {
    GTEST_SKIP() << "gdb may not trace other processes here";
  }
  if (told.find("in load_the_batch") == std::string::npos &&
      took > StackTaker::kTimeForFirst - std::chrono::seconds(1)) {
    GTEST_SKIP() << "gdb was cut off: this machine is too busy for it";
  }
  EXPECT_THAT(told, HasSubstr("in load_the_batch"));
  EXPECT_THAT(told, HasSubstr("native, main thread:"));
  EXPECT_NE(access((folder_ + "/python_stack.txt").c_str(), F_OK), 0);
  // It lives on.
  EXPECT_EQ(waitpid(worker.pid(), nullptr, WNOHANG), 0);
}

TEST_F(StackTakerTest, EachSubjectHasItsFileAndTheFirstIsTold) {
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

TEST_F(StackTakerTest, OnlyTheFirstIsMadeToCallItsOwnFunctions) {
  const Worker one, two;
  const std::string other = folder_ + "/other";
  mkdir(other.c_str(), 0700);
  UseTools();
  MakeTool("gdb", "echo \"#0 asked for $*\"");
  Take({{one.pid(), folder_}, {two.pid(), other}});
  EXPECT_THAT(Contents(folder_ + "/stack.txt"), HasSubstr("-ex call "));
  EXPECT_THAT(Contents(other + "/stack.txt"),
              AllOf(HasSubstr("asked for"), Not(HasSubstr("-ex call "))));
}

TEST_F(StackTakerTest, OneThatIsGoneHasNone) {
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

TEST_F(StackTakerTest, APipeInThePlaceOfTheFileIsNotWaitedFor) {
  const Worker worker;
  UseTools();
  MakeTool("gdb", "echo '#0 looked'");
  ASSERT_EQ(mkfifo((folder_ + "/python_stack.txt").c_str(), 0600), 0);
  EXPECT_THAT(Take({{worker.pid(), folder_}}),
              HasSubstr("thread " + std::to_string(worker.pid())));
}

// Its thread is joined: a tool that went on would hold the test up for seconds.
TEST_F(StackTakerTest, ItsEndEndsATool) {
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

TEST_F(StackTakerTest, OneThatWasStoppedBeforeStaysSoWhenAToolIsCutOff) {
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
}  // namespace muster
