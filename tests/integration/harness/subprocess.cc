#include "tests/integration/harness/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"

extern char** environ;

namespace muster {
namespace {

int OpenPidfd(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

int PatienceMs() {
  return static_cast<int>(std::chrono::milliseconds(kPatience).count());
}

}  // namespace

Subprocess::Subprocess(std::vector<std::string> argv,
                       std::map<std::string, std::string> environment) {
  int fds[2];
  MUSTER_CHECK(pipe2(fds, O_CLOEXEC) == 0) << std::strerror(errno);
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (!environment.contains(variable.substr(0, variable.find('=')))) {
      variables.push_back(variable);
    }
  }
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  std::vector<char*> arguments;
  for (std::string& word : argv) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment_block;
  for (std::string& entry : variables)
    environment_block.push_back(entry.data());
  environment_block.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A process group of its own, so that the test can signal it like a terminal.
  // It ignores no signal, even where the tests run under nohup.
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&pid_, argv[0].c_str(), &actions, &attributes,
                                 arguments.data(), environment_block.data());
  MUSTER_CHECK(error == 0) << argv[0] << ": " << std::strerror(error);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(fds[1]);
  reader_ = std::thread([this, fd = fds[0]] { Read(fd); });
}

Subprocess::~Subprocess() {
  if (!exit_code_.has_value()) {
    kill(pid_, SIGCONT);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
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
    // Count whole lines only: the rest of an incomplete line may be the text
    // that a test looks for next.
    const size_t whole = closed_ ? output_.size() : output_.rfind('\n') + 1;
    int count = 0;
    for (size_t at = output_.find(text); at < whole;
         at = output_.find(text, at + 1)) {
      ++count;
    }
    return count >= times;
  };
  grown_.wait_for(lock, kPatience, [&] { return closed_ || seen(); });
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
  const int pidfd = OpenPidfd(pid_);
  MUSTER_CHECK(pidfd >= 0) << std::strerror(errno);
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  const int ready = poll(&ended, 1, PatienceMs());
  close(pidfd);
  if (ready != 1) {
    std::fprintf(stderr, "still running; the output:\n%s\n", Output().c_str());
    return std::nullopt;
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // The last output may still be in the pipe, which stays open if a descendant
  // holds it.
  std::unique_lock<std::mutex> lock(mutex_);
  grown_.wait_for(lock, kPatience, [this] { return closed_; });
  return exit_code_;
}

bool IsGone(pid_t pid) {
  const int pidfd = OpenPidfd(pid);
  if (pidfd < 0) return errno == ESRCH;
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  const int ready = poll(&ended, 1, PatienceMs());
  close(pidfd);
  return ready == 1;
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
