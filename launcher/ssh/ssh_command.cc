#include "launcher/ssh/ssh_command.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"
#include "base/word_split.h"

namespace muster::launcher {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr int kSshFailed = 255;

// Returns the command line for the login shell of the remote host. The command
// line must work in every shell, so it only starts sh with a script. In the
// script, $0 is the path of the program.
std::string RemoteCommand(const std::string& launch) {
  const std::string script =
      absl::StrCat("if [ -x \"$0\" ]; then exec \"$0\" ", kSshNodeArgument,
                   "; fi; if command -v launch >/dev/null; then exec launch ",
                   kSshNodeArgument, "; fi; exit ", kNotFound);
  return absl::StrCat("exec sh -c ", ShellWord(script), " ", ShellWord(launch));
}

uint64_t Seconds(uint64_t milliseconds) {
  return std::max<uint64_t>(1, (milliseconds + 999) / 1000);
}

std::string WithWords(std::string sentence, const std::string& words) {
  if (!words.empty()) absl::StrAppend(&sentence, ": ", words);
  return sentence;
}

}  // namespace

std::vector<std::string> SshCommand(const std::string& ssh_program,
                                    const SshSettings& settings,
                                    const std::string& destination) {
  std::vector<std::string> argv = {ssh_program};
  argv.insert(argv.end(), settings.arguments.begin(), settings.arguments.end());
  for (const std::string& option : std::vector<std::string>{
           "BatchMode=yes",
           absl::StrCat("ConnectTimeout=", Seconds(settings.timeout_ms)),
           // With these two options a lost connection is detected within a
           // minute.
           "ServerAliveInterval=15", "ServerAliveCountMax=3",
           // Do not share the connection of another ssh process, because ssh
           // would not detect the loss of a shared connection.
           "ControlMaster=no", "ControlPath=none", "ForwardX11=no",
           "ClearAllForwardings=yes"}) {
    argv.insert(argv.end(), {"-o", option});
  }
  argv.insert(argv.end(),
              {"-T", "--", destination, RemoteCommand(settings.launch)});
  return argv;
}

std::string LastWords(std::string_view said) {
  constexpr size_t kMaxLines = 3;
  constexpr size_t kMaxBytes = 400;
  std::vector<std::string> lines;
  size_t start = 0;
  while (start < said.size()) {
    const size_t end = std::min(said.find('\n', start), said.size());
    std::string line = agent::ValidUtf8(agent::WithoutControls(
        said.substr(start, end - start), agent::Colours::kDrop));
    start = end + 1;
    const bool is_noise = line.find_first_not_of(" \t@") == std::string::npos ||
                          line.rfind("Warning: Permanently added", 0) == 0;
    if (line.ends_with('.') && !line.ends_with("..")) line.pop_back();
    if (!is_noise) lines.push_back(std::move(line));
  }
  if (lines.size() > kMaxLines) {
    lines.erase(lines.begin(), lines.end() - kMaxLines);
  }
  std::string words;
  for (const std::string& line : lines) {
    absl::StrAppend(&words, words.empty() ? "" : "; ", line);
  }
  if (words.size() > kMaxBytes) {
    words =
        std::string(agent::WholeCharacters(words.substr(0, kMaxBytes))) + "...";
  }
  return words;
}

std::string WhyNotReached(const SshEnd& end, const SshSettings& settings) {
  const std::string words = LastWords(end.said);
  switch (end.cause) {
    case SshEnd::Cause::kTimedOut:
      return WithWords(
          absl::StrCat("did not answer within ", Seconds(settings.timeout_ms),
                       " s (--ssh-timeout)"),
          words);
    case SshEnd::Cause::kForeignAnswer:
      return WithWords(end.answer, words);
    case SshEnd::Cause::kExited:
      break;
  }
  if (end.exit_code == kNotFound) {
    return absl::StrCat("no launch at ", settings.launch,
                        " and none in the PATH; install it there or make its "
                        "folder reachable");
  }
  if (end.exit_code == kNotExecutable) {
    return WithWords(absl::StrCat(settings.launch, " cannot be executed there"),
                     words);
  }
  if (end.exit_code == kSshFailed && !words.empty()) return words;
  const std::string printed = LastWords(end.printed);
  return WithWords(absl::StrCat("ssh ended with status ", end.exit_code,
                                " before launch answered"),
                   words.empty() ? printed : words);
}

}  // namespace muster::launcher
