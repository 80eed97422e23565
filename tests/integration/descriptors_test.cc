// Tests of programs that start while some of their descriptors 0, 1 and 2 are
// closed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kAgent[] = "launcher/agent";

// Runs `command` in a shell that first closes the given descriptors, such as "1
// 2".
Subprocess Closed(const std::string& descriptors, const std::string& command) {
  std::string script;
  for (const char digit : descriptors) {
    if (digit != ' ') script += std::string("exec ") + digit + ">&-; ";
  }
  return Subprocess({"/bin/sh", "-c", script + "exec " + command},
                    {{"NO_COLOR", "1"}});
}

std::string Link(const std::string& path) {
  char target[4096];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  return std::string(target, size > 0 ? static_cast<size_t>(size) : 0);
}

// Waits until the shell `program` has replaced itself by its command (exec),
// and /dev/null is open as descriptor `fd`. Just after the exec, the dynamic
// linker may use this descriptor to read libraries. Waits for at most
// kEventTimeout. Returns the path that was last open as `fd`: "/dev/null" on
// success.
std::string OpenOn(const Subprocess& program, int fd) {
  const std::string process = "/proc/" + std::to_string(program.pid());
  const auto end = std::chrono::steady_clock::now() + kEventTimeout;
  std::string open_on;
  do {
    const bool is_shell = Link(process + "/exe").ends_with("sh");
    open_on = Link(process + "/fd/" + std::to_string(fd));
    if (!is_shell && open_on == "/dev/null") break;
    poll(nullptr, 0, 10);
  } while (std::chrono::steady_clock::now() < end);
  return open_on;
}

class ClosedDescriptors : public ::testing::TestWithParam<std::string> {};

TEST_P(ClosedDescriptors, LaunchRunsTheJobAndReportsItsEnd) {
  const bool has_stdout = GetParam().find('1') == std::string::npos;
  const bool has_stderr = GetParam().find('2') == std::string::npos;
  auto launch =
      Closed(GetParam(), std::string(kLaunch) +
                             " --standalone --nproc-per-node=2 --no-python "
                             "sh -c 'echo out; echo err >&2; exit 3'");
  EXPECT_EQ(launch.ExitCode(), 3) << launch.Output();
  if (has_stdout) {
    EXPECT_THAT(launch.Output(), HasSubstr("] out"));
  }
  if (has_stderr) {
    EXPECT_THAT(launch.Output(), HasSubstr("] err"));
    EXPECT_THAT(launch.Output(), HasSubstr("FAILED"));
    EXPECT_THAT(launch.Lines("guardian"), IsEmpty());
  }
}

TEST_P(ClosedDescriptors, LaunchOpensThemOnDevNull) {
  auto launch = Closed(GetParam(), std::string(kLaunch) +
                                       " --standalone --no-python "
                                       "tail -f /dev/null");
  for (const char digit : GetParam()) {
    if (digit == ' ') continue;
    EXPECT_EQ(OpenOn(launch, digit - '0'), "/dev/null");
  }
}

TEST_P(ClosedDescriptors, AnAgentRunsItsWorkers) {
  const LocalCluster cluster;
  auto agent = Closed(GetParam(), std::string(kAgent) +
                                      " --rdzv-endpoint=" + cluster.endpoint() +
                                      " --rdzv-id=job --no-python "
                                      "sh -c 'exit 3'");
  EXPECT_EQ(agent.ExitCode(), 3) << agent.Output();
}

TEST_P(ClosedDescriptors, TheDaemonOpensThemOnDevNull) {
  auto daemon =
      Closed(GetParam(), std::string(kDaemon) + " --listen=127.0.0.1:0");
  for (const char digit : GetParam()) {
    if (digit == ' ') continue;
    EXPECT_EQ(OpenOn(daemon, digit - '0'), "/dev/null");
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ClosedDescriptors,
                         ::testing::Values("0", "1", "2", "1 2", "0 1 2"),
                         [](const auto& descriptors) {
                           std::string name = "Descriptor";
                           for (const char c : descriptors.param) {
                             if (c != ' ') name += c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace muster
