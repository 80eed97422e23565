#include "launcher/voice.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"

namespace muster::launcher {
namespace {

// Ignores errors: a closed console is no reason to stop a job.
void WriteTo(int fd, const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
}

}  // namespace

// The place to which a Voice and its copies print.
struct Voice::Outlet {
  std::mutex mutex;  // guards `console`
  // the console that takes the lines; null: lines are written to stderr
  // directly
  std::shared_ptr<agent::Console> console;
};

Voice::Voice(const char* program, Talk talk, int verdict_fd)
    : program_(program),
      talk_(talk),
      verdict_fd_(verdict_fd),
      outlet_(std::make_shared<Outlet>()) {}

void Voice::SpeakThrough(std::shared_ptr<agent::Console> console) const {
  std::lock_guard<std::mutex> lock(outlet_->mutex);
  outlet_->console = std::move(console);
}

void Voice::Write(const std::string& text) const {
  std::lock_guard<std::mutex> lock(outlet_->mutex);
  if (outlet_->console == nullptr) {
    WriteTo(STDERR_FILENO, text);
  } else {
    outlet_->console->err()->Write(text);
  }
}

void Voice::Notice(const std::string& line) const {
  if (talk_ == Talk::kAll) Error(line);
}

void Voice::Error(const std::string& line) const {
  Write(absl::StrCat(program_, ": ", agent::ForTerminal(line), "\n"));
}

void Voice::Verdict(const std::string& text) const {
  if (verdict_fd_ == STDERR_FILENO) {
    Write(text);
  } else {
    WriteTo(verdict_fd_, text);
  }
}

int Voice::Refuse(const absl::Status& error,
                  const std::string& subcommand) const {
  const bool is_usage = absl::IsInvalidArgument(error);
  std::string line(error.message());
  if (is_usage) {
    absl::StrAppend(&line, " (see ", program_, subcommand.empty() ? "" : " ",
                    subcommand, " --help)");
  }
  Error(line);
  if (is_usage) return 2;
  if (absl::IsNotFound(error)) return 127;
  return absl::IsPermissionDenied(error) ? 126 : 1;
}

namespace {

std::atomic<bool> output_was_lost = false;

}  // namespace

int Print(const std::string& text, int exit_code) {
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (printed) return exit_code;
  // EPIPE is not reported: the reader, such as `head`, has closed the pipe
  // because it needs no more output.
  if (errno != EPIPE && !output_was_lost.exchange(true)) {
    std::fprintf(stderr, "launch: cannot write to stdout: %s\n",
                 std::strerror(errno));
  }
  return 1;
}

bool OutputWasLost() { return output_was_lost; }

}  // namespace muster::launcher
