#include "agent/workers/worker_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Argv(const CommandRequest& request) {
  absl::StatusOr<std::vector<std::string>> argv = WorkerCommand(request);
  EXPECT_TRUE(argv.ok()) << argv.status();
  return argv.ok() ? *argv : std::vector<std::string>();
}

TEST(WorkerCommandTest, ScriptsRunUnderPythonUnbuffered) {
  EXPECT_THAT(Argv({.program = "train.py", .arguments = {"--lr", "1"}}),
              ElementsAre("python3", "-u", "train.py", "--lr", "1"));
  EXPECT_THAT(Argv({.program = "train.py", .python = "/opt/venv/bin/python"}),
              ElementsAre("/opt/venv/bin/python", "-u", "train.py"));
}

TEST(WorkerCommandTest, AScriptOfAnyName) {
  EXPECT_THAT(Argv({.program = "train", .arguments = {"x"}, .is_python = true}),
              ElementsAre("python3", "-u", "train", "x"));
}

TEST(WorkerCommandTest, ModulesRunUnderPython) {
  EXPECT_THAT(
      Argv({.program = "pkg.train", .arguments = {"x"}, .is_module = true}),
      ElementsAre("python3", "-u", "-m", "pkg.train", "x"));
}

TEST(WorkerCommandTest, AnythingElseIsExecuted) {
  EXPECT_THAT(Argv({.program = "/bin/true", .python = "/opt/python"}),
              ElementsAre("/bin/true"));
  EXPECT_THAT(Argv({.program = "train.py.sh"}), ElementsAre("train.py.sh"));
  EXPECT_THAT(Argv({.program = "./train.py", .no_python = true}),
              ElementsAre("./train.py"));
}

TEST(WorkerCommandTest, ContradictionsAreRefused) {
  struct {
    CommandRequest request;
    const char* message;
  } const kCases[] = {
      {{}, "nothing to run"},
      {{.is_module = true}, "nothing to run"},
      {{.program = "m", .is_module = true, .no_python = true},
       "--module and --no-python"},
      {{.program = "m", .no_python = true, .run_path = true},
       "--run-path and --no-python"},
      {{.program = "m", .is_module = true, .run_path = true},
       "--run-path and --module"},
  };
  for (const auto& c : kCases) {
    absl::Status status = WorkerCommand(c.request).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

// Runs `argv` and returns its exit code.
int ExitCodeOf(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  for (const std::string& arg : argv) {
    pointers.push_back(const_cast<char*>(arg.c_str()));
  }
  pointers.push_back(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(WorkerCommandTest, RunPathGivesTheScriptItsNameAndArguments) {
  // A path with quotes, which would end a string if the path were inserted into
  // Python's program text.
  std::string script = ::testing::TempDir() + "/it's a 'script'";
  std::ofstream(script) << "import sys\n"
                           "assert __name__ == '__main__'\n"
                           "assert sys.argv[0].endswith(\"'script'\")\n"
                           "assert sys.argv[1:] == ['-c', \"a'b\"]\n"
                           "sys.exit(42)\n";
  EXPECT_EQ(
      ExitCodeOf(Argv(
          {.program = script, .arguments = {"-c", "a'b"}, .run_path = true})),
      42);
  unlink(script.c_str());
}

TEST(WithFrameworkProcessTest, OnlyThoseThatMustMeet) {
  EXPECT_THAT(WithFrameworkProcess({}, {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(WithFrameworkProcess(
                  {FrameworkEnv::kMpi, FrameworkEnv::kDeepSpeed}, {"a"}),
              ElementsAre("a"));
  EXPECT_THAT(
      WithFrameworkProcess({FrameworkEnv::kJax}, {"a", "b"}),
      ElementsAre("/proc/self/exe", "--framework-process", "jax", "a", "b"));
  EXPECT_THAT(
      WithFrameworkProcess(
          {FrameworkEnv::kJax, FrameworkEnv::kMpi, FrameworkEnv::kTensorFlow},
          {"a"}),
      ElementsAre("/proc/self/exe", "--framework-process", "tf,jax", "a"));
}

}  // namespace
}  // namespace muster::agent
