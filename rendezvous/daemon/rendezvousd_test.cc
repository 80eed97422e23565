// Tests of rendezvousd as a process: its output, its files and its exit code.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/client/grpc_link.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kReadyTimeoutMs = 30'000;

class Daemon {
 public:
  explicit Daemon(const std::vector<std::string>& arguments) {
    int out[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(out[1], STDERR_FILENO);
      std::vector<char*> argv = {const_cast<char*>(kBinary)};
      for (const std::string& one : arguments) {
        argv.push_back(const_cast<char*>(one.c_str()));
      }
      argv.push_back(nullptr);
      execv(kBinary, argv.data());
      _exit(127);
    }
    close(out[1]);
    out_ = out[0];
  }
  ~Daemon() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (out_ >= 0) close(out_);
  }

  // Reads from the daemon's stdout once, and appends the output to `text_`.
  // Appends nothing if the daemon has ended, has closed its stdout, or writes
  // nothing within kReadyTimeoutMs.
  void ReadMore() {
    if (out_ < 0) return;
    pollfd ready = {.fd = out_, .events = POLLIN, .revents = 0};
    char buffer[1024];
    if (poll(&ready, 1, kReadyTimeoutMs) <= 0) return;
    const ssize_t got = read(out_, buffer, sizeof(buffer));
    if (got > 0) text_.append(buffer, static_cast<size_t>(got));
  }
  // Reads the daemon's output until it contains `end`, the daemon has ended, or
  // nothing arrives within kReadyTimeoutMs. Returns all output so far.
  std::string ReadUntil(const std::string& end) {
    while (text_.find(end) == std::string::npos) {
      const size_t before = text_.size();
      ReadMore();
      if (text_.size() == before) break;
    }
    return text_;
  }
  std::string ReadLines(int count) {
    while (std::count(text_.begin(), text_.end(), '\n') < count) {
      const size_t before = text_.size();
      ReadMore();
      if (text_.size() == before) break;
    }
    return text_;
  }
  std::string ReadAll() { return ReadUntil(std::string(1, '\0')); }
  void StopReading() { close(std::exchange(out_, -1)); }
  void Signal(int signal) { kill(pid_, signal); }
  // Waits for the daemon to end. Returns its exit code, or minus the number of
  // the signal that ended it.
  int Wait() {
    int status = 0;
    ReadAll();
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Returns the port in "rendezvousd: listening on 127.0.0.1:PORT, …".
  int Port() {
    const std::string line = ReadUntil("\n");
    const std::string before = "127.0.0.1:";
    const size_t at = line.find(before);
    return at == std::string::npos
               ? 0
               : std::atoi(line.c_str() + at + before.size());
  }

 private:
  static constexpr char kBinary[] = "rendezvous/daemon/rendezvousd";
  pid_t pid_ = 0;
  int out_ = -1;
  std::string text_;
};

std::string Content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RendezvousdTest, SaysWhereItListensAndEndsOnSignals) {
  for (int signal : {SIGTERM, SIGINT}) {
    const std::string port_file = ::testing::TempDir() + "port";
    Daemon daemon({"--listen", "127.0.0.1:0", "--port-file", port_file});
    const int port = daemon.Port();
    EXPECT_GT(port, 0);
    EXPECT_EQ(Content(port_file), std::to_string(port) + "\n");
    daemon.Signal(signal);
    EXPECT_EQ(daemon.Wait(), 0);
    EXPECT_THAT(daemon.ReadAll(), HasSubstr("ending on SIG"));
  }
}

TEST(RendezvousdTest, RunsAJobAndLogsItsDecisions) {
  const std::string log = ::testing::TempDir() + "events";
  const std::string token_file = ::testing::TempDir() + "token";
  std::ofstream(token_file) << "s3cret-0123456789\n";
  chmod(token_file.c_str(), 0600);
  Daemon daemon(
      {"--listen=127.0.0.1:0", "--event-log", log, "--token-file", token_file});
  GrpcLink::Options options;
  options.endpoints = {{"127.0.0.1", daemon.Port()}};
  options.token = "s3cret-0123456789";
  ScriptedNode node(std::make_unique<GrpcLink>(std::move(options)),
                    FirstReport("job", "node-a", 1));
  node.WaitFor(DirectiveKind::kRun);
  node.Close();
  // After SIGHUP the daemon reopens its log and continues.
  daemon.Signal(SIGHUP);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0);
  EXPECT_THAT(Content(log), HasSubstr("\"kind\":\"join\",\"node\":\"node-a\""));
  EXPECT_THAT(daemon.ReadAll(), HasSubstr("job token asked for"));
}

// Returns the first line of the HTTP response for `path`.
std::string Probe(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\n\r\n";
    (void)!write(fd, request.data(), request.size());
    char buffer[1024];
    ssize_t got = 0;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  close(fd);
  return answer.substr(0, answer.find('\r'));
}

TEST(RendezvousdTest, AnswersProbes) {
  Daemon daemon({"--listen=127.0.0.1:0", "--probe-listen=127.0.0.1:0"});
  const std::string line = "answering probes on 127.0.0.1:";
  const std::string text = daemon.ReadLines(2);
  const size_t at = text.find(line);
  ASSERT_NE(at, std::string::npos) << text;
  const int port = std::atoi(text.c_str() + at + line.size());
  for (const char* path : {"/livez", "/startupz", "/readyz"}) {
    EXPECT_EQ(Probe(port, path), "HTTP/1.1 200 OK") << path;
  }
  EXPECT_EQ(Probe(port, "/metrics"), "HTTP/1.1 404 Not Found");
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0);
}

TEST(RendezvousdTest, SurvivesTheLossOfWhoeverReadItsOutput) {
  auto daemon = std::make_unique<Daemon>(
      std::vector<std::string>{"--listen", "127.0.0.1:0"});
  EXPECT_GT(daemon->Port(), 0);
  daemon->StopReading();
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
}

TEST(RendezvousdTest, BadInputIsOneLineAndAnExitCode) {
  Daemon first({"--listen", "127.0.0.1:0"});
  const std::string taken = "127.0.0.1:" + std::to_string(first.Port());
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* why;
  } cases[] = {
      {{"--listen", taken}, 1, "port in use"},
      {{"--listen", "192.0.2.1:0"}, 1, "no such address"},
      {{"--listen", "no-such-host.invalid:0"}, 1, "does not resolve"},
      {{"--listen", "127.0.0.1:http"}, 2, "--listen"},
      {{"--nonsense"}, 2, "--nonsense"},
      {{"--token-file", "/no/such/token"}, 2, "/no/such/token"},
      {{"--event-log", "/no/such/folder/log"}, 2, "/no/such/folder/log"},
      {{"--listen", "127.0.0.1:0", "--port-file", "/no/such/folder/port"},
       2,
       "/no/such/folder/port"},
  };
  for (const auto& c : cases) {
    Daemon daemon(c.arguments);
    EXPECT_EQ(daemon.Wait(), c.code) << c.why;
    const std::string text = daemon.ReadAll();
    EXPECT_THAT(text, StartsWith("rendezvousd: "));
    EXPECT_THAT(text, HasSubstr(c.why));
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  }
}

}  // namespace
}  // namespace muster::rendezvous
