#include "agent/stacks/py_spy.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "agent/logs/terminal_text.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

constexpr char kName[] = "/py-spy";
constexpr Duration kPySpyTimeout = std::chrono::seconds(3);
// The number of attempts: py-spy may fail because a running process changes a
// frame while py-spy reads it.
constexpr int kAttempts = 3;
constexpr size_t kMaxReasonBytes = 200;

std::string SetUpFolder() {
  if (std::string folder = EnvironmentVariable("MUSTER_PY_SPY_DIR");
      !folder.empty()) {
    return folder;
  }
  std::string cache = EnvironmentVariable("XDG_CACHE_HOME");
  if (cache.empty()) {
    const std::string home = EnvironmentVariable("HOME");
    if (home.empty()) return "";
    cache = home + "/.cache";
  }
  return cache + "/muster/py-spy";
}

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  const std::string path = EnvironmentVariable("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    folders.emplace_back(folder);
  }
  const std::string own = OwnProgram();
  folders.push_back(own.substr(0, own.rfind('/') + 1));
  folders.push_back(SetUpFolder());
  return folders;
}

std::string LastLine(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  return BoundedLine(text.substr(text.rfind('\n') + 1), kMaxReasonBytes);
}

}  // namespace

std::string FindPySpy() {
  for (const std::string& folder : Folders()) {
    // Skips a relative folder of PATH, because its meaning depends on the
    // working directory.
    if (folder.empty() || folder[0] != '/') continue;
    std::string path = folder + kName;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

PythonStacks ReadPythonStacks(int64_t pid, Instant deadline, int cancel_fd,
                              size_t max_bytes) {
  using End = ToolOutcome::End;
  const std::string program = FindPySpy();
  if (program.empty()) {
    return {.why_not =
                "no Python frames: py-spy is not installed on this node "
                "(pip install py-spy; it must be in the PATH of launch or "
                "beside it)"};
  }
  deadline = std::min(deadline, MonotonicNow() + kPySpyTimeout);
  ToolOutcome outcome;
  for (int i = 0; i < kAttempts && MonotonicNow() < deadline; ++i) {
    outcome = RunTool(
        {.argv = {program, "dump", "--nonblocking", "--pid", absl::StrCat(pid)},
         .deadline = deadline,
         .cancel_fd = cancel_fd,
         .max_bytes = max_bytes});
    if (outcome.end != End::kFailed) break;
  }
  switch (outcome.end) {
    case End::kSucceeded:
      return {.dump = std::move(outcome.output)};
    case End::kFailed:
      return {.why_not = absl::StrCat("no Python frames: py-spy failed: ",
                                      LastLine(outcome.output))};
    case End::kNotStarted:
      return {.why_not = absl::StrCat("no Python frames: ", program,
                                      " cannot be started")};
    case End::kCutOff:
      break;
  }
  return {.why_not = "no Python frames: py-spy did not end in time"};
}

}  // namespace muster::agent
