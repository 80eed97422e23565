#include "tests/integration/harness/cluster.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/testing/free_port.h"

namespace muster {
namespace {

// Environment variables for every `launch`, so that its output does not depend
// on the environment of the test.
const std::map<std::string, std::string>& Environment() {
  static const auto* const environment =
      new std::map<std::string, std::string>{{"NO_COLOR", "1"}};
  return *environment;
}

void Append(std::vector<std::string>& to, std::vector<std::string> words) {
  for (std::string& word : words) to.push_back(std::move(word));
}

}  // namespace

std::vector<std::string> WithMixedNodes(std::vector<std::string> flags) {
  constexpr char kConf[] = "--rdzv-conf=";
  const auto conf = std::find_if(
      flags.rbegin(), flags.rend(),
      [&](const std::string& flag) { return flag.rfind(kConf, 0) == 0; });
  if (conf == flags.rend()) {
    flags.push_back(std::string(kConf) + "mixed_nodes=1");
  } else {
    *conf += ",mixed_nodes=1";
  }
  return flags;
}

LocalCluster::LocalCluster(std::string worker,
                           std::vector<std::string> daemon_flags)
    : worker_(std::move(worker)), daemon_flags_(std::move(daemon_flags)) {
  StartDaemon("127.0.0.1:0");
  given_endpoints_ = endpoint_;
}

void LocalCluster::RestartDaemon() {
  KillDaemon();
  StartDaemon(endpoint_);
}

void LocalCluster::AddStandby() {
  standby_ = "127.0.0.1:" + std::to_string(FreePort());
  given_endpoints_ += "," + standby_;
}

void LocalCluster::FailOver() {
  MUSTER_CHECK(!standby_.empty()) << "AddStandby was not called";
  KillDaemon();
  StartDaemon(standby_);
}

void LocalCluster::KillDaemon() {
  daemon_->Signal(SIGKILL);
  MUSTER_CHECK(daemon_->ExitCode().has_value()) << daemon_->Output();
}

void LocalCluster::StartDaemon(const std::string& listen) {
  std::vector<std::string> argv = {kDaemon, "--listen", listen};
  Append(argv, daemon_flags_);
  daemon_ = std::make_unique<Subprocess>(argv);
  MUSTER_CHECK(daemon_->Printed("127.0.0.1:")) << daemon_->Output();
  const std::string output = daemon_->Output();
  const size_t at = output.find("127.0.0.1:");
  size_t end = at + sizeof("127.0.0.1:") - 1;
  while (end < output.size() && output[end] >= '0' && output[end] <= '9') ++end;
  endpoint_ = output.substr(at, end - at);
}

std::unique_ptr<Subprocess> LocalCluster::Node(std::vector<std::string> flags,
                                               std::vector<std::string> deed) {
  std::vector<std::string> argv = {kLaunch, "--rdzv-backend=c10d",
                                   "--rdzv-endpoint=" + given_endpoints_,
                                   "--rdzv-conf=is_host=0", "--rdzv-id=job"};
  Append(argv, std::move(flags));
  argv = WithMixedNodes(std::move(argv));
  argv.push_back(worker_);
  Append(argv, std::move(deed));
  return std::make_unique<Subprocess>(argv, Environment());
}

std::unique_ptr<Subprocess> LocalCluster::Command(
    std::vector<std::string> words) {
  std::vector<std::string> argv = {kLaunch};
  Append(argv, std::move(words));
  argv.push_back("--endpoint=" + given_endpoints_);
  return std::make_unique<Subprocess>(argv, Environment());
}

std::unique_ptr<Subprocess> Standalone(std::vector<std::string> flags,
                                       std::vector<std::string> deed) {
  std::vector<std::string> argv = {kLaunch, "--standalone"};
  Append(argv, std::move(flags));
  argv.push_back(kWorker);
  Append(argv, std::move(deed));
  return std::make_unique<Subprocess>(argv, Environment());
}

std::vector<pid_t> WorkerPids(Subprocess& node, int round) {
  std::vector<pid_t> pids;
  for (const std::string& line : node.Lines("up rank=")) {
    if (Field(line, "round") == std::to_string(round)) {
      pids.push_back(std::atoi(Field(line, "pid").c_str()));
    }
  }
  return pids;
}

}  // namespace muster
