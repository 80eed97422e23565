#include "launcher/ssh/fan_out.h"

#include <stdlib.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/subprocess.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {

namespace {

std::string SshProgram() {
  const char* chosen = getenv("MUSTER_SSH");
  return chosen == nullptr || *chosen == 0 ? "ssh" : chosen;
}

// Returns the environment for ssh, without the job's token: ssh does not need
// the token, and ssh's option SendEnv could send it to the remote host.
std::vector<std::string> SshEnvironment() {
  return EnvironmentWith({}, {rendezvous::kTokenVariable});
}

}  // namespace

FanOut::FanOut(BeNode job, Instant now)
    : job_(std::move(job)),
      ssh_program_(SshProgram()),
      environment_(SshEnvironment()),
      next_word_(now + kStillThereEvery) {
  std::vector<RemoteHost> hosts = std::exchange(job_.hosts, {});
  const size_t fan_out = std::max<size_t>(1, job_.ssh.fan_out);
  for (std::vector<RemoteHost>& group : PartHosts(std::move(hosts), fan_out)) {
    Connect(std::move(group), now);
  }
}

void FanOut::Connect(std::vector<RemoteHost> hosts, Instant now) {
  if (hung_up_) return;
  BeNode job = job_;
  job.hosts = std::move(hosts);
  connections_.push_back(std::make_unique<HostConnection>(
      std::move(job), ssh_program_, environment_, now));
}

void FanOut::AppendPolls(Intake intake, std::vector<pollfd>& polls) const {
  for (const auto& connection : connections_) {
    connection->AppendPolls(intake, polls);
  }
}

std::vector<UpMessage> FanOut::Serve(Instant now, Intake intake) {
  if (now >= next_word_) {
    next_word_ = now + kStillThereEvery;
    Send(StillThere());
  }
  std::vector<UpMessage> came;
  for (size_t i = 0; i < connections_.size(); ++i) {
    for (UpMessage& message : connections_[i]->Serve(now, intake)) {
      came.push_back(std::move(message));
    }
    std::vector<RemoteHost> rest = connections_[i]->TakeUnreached();
    if (rest.empty()) continue;
    if (!hung_up_) {
      Connect(std::move(rest), now);
      continue;
    }
    for (const RemoteHost& host : rest) {
      came.push_back(HostFailed{host.index, "was not started", 1});
    }
  }
  std::erase_if(connections_, [](const auto& c) { return c->closed(); });
  return came;
}

void FanOut::Send(const DownMessage& message) {
  std::optional<uint32_t> host;
  if (const auto* start = std::get_if<StartAgent>(&message)) {
    host = start->host;
  } else if (const auto* signal = std::get_if<SignalAgents>(&message)) {
    host = signal->host;
  }
  for (const auto& connection : connections_) {
    if (!host || connection->Has(*host)) connection->Send(message);
  }
}

void FanOut::HangUp() {
  hung_up_ = true;
  for (const auto& connection : connections_) connection->HangUp();
}

bool FanOut::closed() const { return connections_.empty(); }

std::optional<Instant> FanOut::NextDeadline() const {
  if (connections_.empty()) return std::nullopt;
  Instant next = next_word_;
  for (const auto& connection : connections_) {
    next = std::min(next, connection->NextDeadline().value_or(next));
  }
  return next;
}

}  // namespace muster::launcher
