#include "tests/integration/harness/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "base/subprocess.h"

namespace muster {

Subprocess::Subprocess(std::vector<std::string> argv,
                       std::map<std::string, std::string> environment) {
  int fds[2];
  MUSTER_CHECK(pipe2(fds, O_CLOEXEC) == 0) << std::strerror(errno);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  SubprocessPlan plan;
  plan.argv = std::move(argv);
  plan.environment = EnvironmentWith(std::move(variables));
  plan.descriptors = {SubprocessPlan::kInherit, fds[1], fds[1]};
  // Start the program in a new process group, so that a test can signal the
  // whole group as a terminal does. The program ignores no signal, even if the
  // tests run under nohup.
  plan.group = SubprocessPlan::Group::kOwnGroup;
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  MUSTER_CHECK(pid.ok()) << pid.status();
  pid_ = *pid;
  close(fds[1]);
  reader_ = std::thread([this, fd = fds[0]] { Read(fd); });
}

Subprocess::~Subprocess() {
  if (!exit_code_.has_value()) {
    kill(pid_, SIGCONT);
    kill(pid_, SIGKILL);
    ReapSubprocess(pid_);
  }
  reader_.join();
}

void Subprocess::Read(int fd) {
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    std::lock_guard<std::mutex> lock(mutex_);
    if (got <= 0) {
      closed_ = true;
      grown_.notify_all();
      break;
    }
    output_.append(buffer, got);
    grown_.notify_all();
  }
  close(fd);
}

void Subprocess::Signal(int signal) const {
  MUSTER_CHECK(kill(pid_, signal) == 0) << std::strerror(errno);
}

bool Subprocess::Printed(const std::string& text, int times) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto seen = [&] {
    // Count `text` only in lines that have arrived completely, because a test
    // may read the rest of such a line next.
    const size_t whole = closed_ ? output_.size() : output_.rfind('\n') + 1;
    int count = 0;
    for (size_t at = output_.find(text); at < whole;
         at = output_.find(text, at + 1)) {
      ++count;
    }
    return count >= times;
  };
  grown_.wait_for(lock, kEventTimeout, [&] { return closed_ || seen(); });
  if (seen()) return true;
  std::fprintf(stderr, "'%s' was not printed %d times; the output:\n%s\n",
               text.c_str(), times, output_.c_str());
  return false;
}

std::vector<std::string> Subprocess::Lines(const std::string& text) {
  const std::string output = Output();
  std::vector<std::string> lines;
  for (size_t from = 0; from < output.size();) {
    size_t end = output.find('\n', from);
    if (end == std::string::npos) break;
    std::string line = output.substr(from, end - from);
    if (line.find(text) != std::string::npos) lines.push_back(std::move(line));
    from = end + 1;
  }
  return lines;
}

std::string Subprocess::Output() {
  std::lock_guard<std::mutex> lock(mutex_);
  return output_;
}

std::optional<int> Subprocess::ExitCode() {
  if (exit_code_.has_value()) return exit_code_;
  if (!AwaitSubprocess(pid_, MonotonicNow() + kEventTimeout)) {
    std::fprintf(stderr, "still running; the output:\n%s\n", Output().c_str());
    return std::nullopt;
  }
  exit_code_ = ExitCodeOf(ReapSubprocess(pid_).value());
  // Wait until the output has been read to its end. Wait for at most
  // kEventTimeout, because a descendant may keep the pipe open.
  std::unique_lock<std::mutex> lock(mutex_);
  grown_.wait_for(lock, kEventTimeout, [this] { return closed_; });
  return exit_code_;
}

bool IsGone(pid_t pid) {
  const OwnedFd pidfd = OpenPidFd(pid);
  if (!pidfd.open()) return errno == ESRCH;
  return PollUntil(pidfd.get(), POLLIN, MonotonicNow() + kEventTimeout);
}

std::string Field(const std::string& line, const std::string& key) {
  const std::string prefix = key + "=";
  size_t at = line.find(prefix);
  while (at != std::string::npos && at > 0 && line[at - 1] != ' ') {
    at = line.find(prefix, at + 1);
  }
  if (at == std::string::npos) return "";
  at += prefix.size();
  return line.substr(at, line.find(' ', at) - at);
}

}  // namespace muster
