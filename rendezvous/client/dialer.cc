#include "rendezvous/client/dialer.h"

#include <grpcpp/channel.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "rendezvous/client/channel.h"

namespace muster::rendezvous {
namespace {

// Time limit of one TCP connection attempt. Linux repeats a lost SYN after 1 s,
// so the limit leaves time for a second SYN. The first SYN is lost if the
// leader's backlog is full for a moment.
constexpr Duration kReachTimeout = std::chrono::milliseconds(1200);
// The same after Lost. A machine of the cluster answers a SYN within a few
// milliseconds. If this SYN is lost, a standby sends the node back.
constexpr Duration kLostReachTimeout = std::chrono::milliseconds(200);

absl::Status ReachByTcp(const SocketAddress& address, Instant deadline) {
  return Connect(address, deadline).status();
}

bool IsRefusal(const absl::Status& error) {
  return absl::IsUnauthenticated(error) || absl::IsPermissionDenied(error);
}

// Returns one error for a Dial in which no endpoint answered. `errors`: one
// error per endpoint, in the order of the user's list.
absl::Status Combined(const std::vector<absl::Status>& errors) {
  absl::StatusCode code = errors.front().code();
  for (const absl::Status& error : errors) {
    if (IsRefusal(error)) return error;
    if (error.code() != code) code = absl::StatusCode::kUnavailable;
  }
  const auto append = [](std::string* text, const absl::Status& error) {
    absl::StrAppend(text, error.message());
  };
  return absl::Status(code, absl::StrJoin(errors, "; ", append));
}

}  // namespace

Dialer::Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
               const std::string& token, const KeepAlive& keep_alive)
    : Dialer(endpoints, tls, token, keep_alive, ReachByTcp) {}

Dialer::Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
               const std::string& token, const KeepAlive& keep_alive,
               Reach reach)
    : configured_(endpoints),
      tls_(tls),
      token_(token),
      keep_alive_(keep_alive),
      reach_(std::move(reach)) {
  MUSTER_CHECK(!endpoints.empty()) << "no endpoint";
  first_ = endpoints.front();
  targets_ = Targets();
}

absl::Status Dialer::Dial(const ResolveLimits& limits, const Call& call) {
  std::vector<Target> targets;
  size_t first = 0;
  bool is_lost = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    targets = targets_ = Targets();
    while (targets[first].endpoint != first_) ++first;
    is_lost = std::exchange(is_lost_, false);
  }
  std::vector<absl::Status> errors(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const size_t index = (first + i) % targets.size();
    const Reached reached =
        targets.size() == 1 ? Reached::kByCall : Reached::kByConnection;
    const Duration reach_timeout =
        is_lost && i == 0 ? kLostReachTimeout : kReachTimeout;
    Outcome outcome =
        DialTarget(targets[index], reached, reach_timeout, limits, call);
    if (outcome.answered) {
      std::lock_guard<std::mutex> lock(mutex_);
      first_ = targets[index].endpoint;
      return outcome.end;
    }
    if (limits.given_up != nullptr && limits.given_up()) return outcome.end;
    errors[index] = std::move(outcome.end);
  }
  return errors.size() == 1 ? errors.front() : Combined(errors);
}

void Dialer::SetStandbys(std::vector<Endpoint> standbys) {
  std::lock_guard<std::mutex> lock(mutex_);
  standbys_ = std::move(standbys);
  leader_ = called_;
}

void Dialer::Lost() {
  std::lock_guard<std::mutex> lock(mutex_);
  is_lost_ = true;
}

void Dialer::Advance() {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::vector<Endpoint> cycle = Cycle();
  const auto at = std::find(cycle.begin(), cycle.end(), first_);
  first_ = at + 1 == cycle.end() ? cycle.front() : *(at + 1);
  ++first_address_;
}

void Dialer::BeginWith(const Endpoint& endpoint) {
  std::lock_guard<std::mutex> lock(mutex_);
  first_ = endpoint;
}

std::vector<Endpoint> Dialer::Cycle() const {
  std::vector<Endpoint> cycle = configured_;
  const auto add = [&cycle](const Endpoint& endpoint) {
    if (std::find(cycle.begin(), cycle.end(), endpoint) == cycle.end()) {
      cycle.push_back(endpoint);
    }
  };
  if (leader_.has_value()) add(*leader_);
  for (const Endpoint& standby : standbys_) add(standby);
  add(first_);
  return cycle;
}

std::vector<Dialer::Target> Dialer::Targets() const {
  std::vector<Target> targets;
  for (const Endpoint& endpoint : Cycle()) {
    const auto known = std::find_if(targets_.begin(), targets_.end(),
                                    [&endpoint](const Target& target) {
                                      return target.endpoint == endpoint;
                                    });
    targets.push_back(
        known != targets_.end()
            ? *known
            : Target{endpoint, ClientCredentials(tls_, token_, endpoint.host)});
  }
  return targets;
}

Dialer::Outcome Dialer::DialTarget(const Target& target, Reached reached,
                                   Duration reach_timeout,
                                   const ResolveLimits& limits,
                                   const Call& call) {
  const auto addresses =
      Resolve(target.endpoint.host, target.endpoint.port, limits);
  if (!addresses.ok()) {
    if (reached == Reached::kByCall) return {.end = addresses.status()};
    return {.end = absl::Status(
                addresses.status().code(),
                absl::StrCat("coordinator ", target.endpoint.ToString(), ": ",
                             addresses.status().message()))};
  }
  Outcome first;
  for (size_t i = 0; i < addresses->size(); ++i) {
    const SocketAddress& address =
        (*addresses)[(first_address_ + i) % addresses->size()];
    const bool is_only = reached == Reached::kByCall && addresses->size() == 1;
    Outcome outcome = {
        .end = is_only ? absl::OkStatus()
                       : CheckReachable(target, address, reach_timeout)};
    if (outcome.end.ok()) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        called_ = target.endpoint;
      }
      outcome = call(target.endpoint, address,
                     OpenChannel(address, target.credentials, keep_alive_));
    }
    if (outcome.answered) return outcome;
    // If no address answers, the user sees the error of the first address,
    // which is the preferred one.
    if (i == 0) first = std::move(outcome);
    if (limits.given_up != nullptr && limits.given_up()) break;
  }
  return first;
}

// Opens a TCP connection to test whether the address accepts connections within
// a short time. gRPC has one time limit for the connection and the handshakes
// together. That limit cannot be short, because handshakes are slow if
// thousands of nodes call a coordinator at once.
absl::Status Dialer::CheckReachable(const Target& target,
                                    const SocketAddress& address,
                                    Duration timeout) {
  const absl::Status reached = reach_(address, MonotonicNow() + timeout);
  return reached.ok() ? reached
                      : ExplainCallError(reached, target.endpoint.ToString());
}

}  // namespace muster::rendezvous
