#include "tests/simulation/network.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Time limit of an attempt to reach a host that does not answer.
constexpr Duration kReachTimeout = milliseconds(1200);
constexpr Duration kKeepAliveTick = milliseconds(250);
constexpr Duration kSameProcess = microseconds(100);

}  // namespace

Network::Connection* Network::Find(rendezvous::StreamId stream) {
  auto found = connections_.find(stream);
  return found == connections_.end() ? nullptr : &found->second;
}

bool Network::IsSlotCut(int slot, Direction direction) const {
  auto found = cuts_.find({slot, direction});
  return found != cuts_.end() && stage_->queue.now() < found->second;
}

bool Network::IsPairCut(int from, int to) const {
  if (from == to) return false;
  if (IsSlotCut(from, Direction::kUp) || IsSlotCut(to, Direction::kDown)) {
    return true;
  }
  auto found = pair_cuts_.find({from, to});
  return found != pair_cuts_.end() && stage_->queue.now() < found->second;
}

bool Network::IsCut(int slot, int host, Direction direction) const {
  if (host == kOutside) return IsSlotCut(slot, direction);
  return direction == Direction::kUp ? IsPairCut(slot, host)
                                     : IsPairCut(host, slot);
}

bool Network::IsTroubled(int slot) const {
  const Instant now = stage_->queue.now();
  return clogged_.contains(slot) || IsSlotCut(slot, Direction::kUp) ||
         IsSlotCut(slot, Direction::kDown) ||
         std::any_of(
             pair_cuts_.begin(), pair_cuts_.end(), [&](const auto& cut) {
               return now < cut.second &&
                      (cut.first.first == slot || cut.first.second == slot);
             });
}

Duration Network::Delay(int slot, int host) {
  return slot == host ? kSameProcess : Delay(slot);
}

Duration Network::Delay(int slot) {
  Random& random = stage_->random;
  if (stage_->healed) return random.Between(microseconds(100), milliseconds(1));
  const Plan& plan = stage_->plan;
  Duration delay = random.Between(microseconds(100), plan.max_delay);
  if (random.Chance(plan.straggle)) {
    delay += random.Between(Duration::zero(), plan.max_straggle);
    const auto trouble = [this, slot] {
      stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
    };
    trouble();
    stage_->queue.In(delay, trouble);
  }
  return delay;
}

void Network::Dial(AgentName agent, int host) {
  const bool is_here = agent.slot == host;
  const bool cut = IsCut(agent.slot, host, Direction::kUp) ||
                   IsCut(agent.slot, host, Direction::kDown) ||
                   (clogged_.contains(agent.slot) && !is_here);
  if (cut) {
    stage_->queue.In(host == kOutside ? seconds(1) : kReachTimeout,
                     [this, agent] { ends_.dial_failed(agent); });
    return;
  }
  stage_->queue.In(Delay(agent.slot, host), [this, agent, host] {
    const Process process = ends_.coordinator(host);
    if (process == Process::kDown) {
      ends_.dial_failed(agent);
      return;
    }
    if (process != Process::kUp) {
      stage_->queue.In(kReachTimeout,
                       [this, agent] { ends_.dial_failed(agent); });
      return;
    }
    const rendezvous::StreamId stream = next_stream_++;
    connections_[stream].agent = agent;
    connections_[stream].host = host;
    connections_[stream].answered = stage_->queue.now();
    if (host != kOutside && host != agent.slot) KeepAlive(stream);
    ends_.attached(host, stream, agent);
    stage_->queue.In(Delay(agent.slot, host), [this, agent, stream] {
      Connection* connection = Find(stream);
      if (connection == nullptr || !connection->agent_end) return;
      ends_.connected(agent, stream);
    });
  });
}

// Checks periodically whether the agent's end of a connection still gets
// answers. Closes the agent's end after Plan::link_timeout without an answer.
// The coordinator's end closes soon after that or, if the network is cut, only
// after 20 s.
void Network::KeepAlive(rendezvous::StreamId stream) {
  stage_->queue.In(kKeepAliveTick, [this, stream] {
    Connection* connection = Find(stream);
    if (connection == nullptr || !connection->agent_end) return;
    const int slot = connection->agent.slot;
    const int host = connection->host;
    const bool is_cut = IsCut(slot, host, Direction::kUp) ||
                        IsCut(slot, host, Direction::kDown);
    const Process process = ends_.coordinator(host);
    if (!is_cut && (process == Process::kUp || process == Process::kDown)) {
      connection->answered = stage_->queue.now();
    } else if (stage_->queue.now() >=
               connection->answered + stage_->plan.link_timeout) {
      stage_->Note(absl::StrCat("n", slot, " gives up the stream to c", host));
      ++stage_->census["link given up"];
      stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
      CloseCoordinatorEnd(stream, is_cut ? seconds(20) : Delay(slot));
      CloseAgentEnd(stream, Duration::zero());
      return;
    }
    KeepAlive(stream);
  });
}

void Network::Send(rendezvous::StreamId stream, Direction direction,
                   const std::function<void()>& arrive) {
  Connection& connection = connections_.at(stream);
  const Plan& plan = stage_->plan;
  const int slot = connection.agent.slot;
  if (connection.host == slot) {
    stage_->queue.In(kSameProcess, arrive);
    return;
  }
  if (clogged_.contains(slot)) {
    connection.clogged.emplace_back([this, stream, direction, arrive] {
      if (Find(stream) != nullptr) Send(stream, direction, arrive);
    });
    return;
  }
  const bool lost = IsCut(slot, connection.host, direction) ||
                    (!stage_->healed && stage_->random.Chance(plan.drop));
  if (lost) {
    stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
    return;
  }
  const bool again = !stage_->healed && stage_->random.Chance(plan.duplicate);
  for (int copy = 0; copy < (again ? 2 : 1); ++copy) {
    Instant arrival = stage_->queue.now() + Delay(slot);
    Instant& last =
        direction == Direction::kUp ? connection.last_up : connection.last_down;
    if (!plan.reorder) arrival = std::max(arrival, last);
    last = std::max(arrival, last);
    stage_->queue.At(arrival, arrive);
  }
}

void Network::SendUp(rendezvous::StreamId stream,
                     const rendezvous::Report& report) {
  Connection* connection = Find(stream);
  if (connection == nullptr || !connection->agent_end) return;
  Send(stream, Direction::kUp, [this, stream, report] {
    Connection* open = Find(stream);
    if (open != nullptr && open->coordinator_end) {
      ends_.report(open->host, stream, report);
    }
  });
}

void Network::SendDown(rendezvous::StreamId stream,
                       const rendezvous::Directive& directive) {
  Connection* connection = Find(stream);
  if (connection == nullptr || !connection->coordinator_end) return;
  Send(stream, Direction::kDown, [this, stream, directive] {
    Connection* open = Find(stream);
    if (open == nullptr || !open->agent_end) return;
    ends_.directive(open->agent, stream, directive);
  });
}

void Network::ForgetIfClosed(rendezvous::StreamId stream) {
  Connection* connection = Find(stream);
  if (connection != nullptr && !connection->agent_end &&
      !connection->coordinator_end) {
    connections_.erase(stream);
  }
}

void Network::CloseCoordinatorEnd(rendezvous::StreamId stream, Duration after) {
  stage_->queue.In(after, [this, stream] {
    Connection* connection = Find(stream);
    if (connection == nullptr || !connection->coordinator_end) return;
    connection->coordinator_end = false;
    ends_.closed(connection->host, stream);
    ForgetIfClosed(stream);
  });
}

void Network::CloseAgentEnd(rendezvous::StreamId stream, Duration after) {
  stage_->queue.In(after, [this, stream] {
    Connection* connection = Find(stream);
    if (connection == nullptr || !connection->agent_end) return;
    connection->agent_end = false;
    const AgentName agent = connection->agent;
    ForgetIfClosed(stream);
    ends_.broken(agent, stream);
  });
}

void Network::HangUp(rendezvous::StreamId stream) {
  Connection* connection = Find(stream);
  if (connection == nullptr) return;
  connection->agent_end = false;
  const Duration behind = connection->last_up - stage_->queue.now();
  CloseCoordinatorEnd(stream,
                      std::max(behind, Duration::zero()) +
                          Delay(connection->agent.slot, connection->host));
  ForgetIfClosed(stream);
}

void Network::Break(rendezvous::StreamId stream) {
  Connection* connection = Find(stream);
  if (connection == nullptr) return;
  const int slot = connection->agent.slot;
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
  CloseAgentEnd(stream, Delay(slot));
  // In a half-open connection, the coordinator does not notice the break. It
  // sends messages that do not arrive, until its keep-alive fails.
  const bool half_open = stage_->random.Chance(stage_->plan.half_open);
  CloseCoordinatorEnd(stream, half_open ? seconds(20) : Delay(slot));
}

void Network::AgentDied(rendezvous::StreamId stream, Death how) {
  Connection* connection = Find(stream);
  if (connection == nullptr) return;
  connection->agent_end = false;
  if (how == Death::kProcess) {
    HangUp(stream);
  } else {
    CloseCoordinatorEnd(stream, seconds(60));
  }
}

void Network::CoordinatorDied(int host, Death how) {
  std::vector<rendezvous::StreamId> open;
  for (auto& [stream, connection] : connections_) {
    if (connection.host != host) continue;
    connection.coordinator_end = false;
    open.push_back(stream);
  }
  for (rendezvous::StreamId stream : open) {
    const int slot = Find(stream)->agent.slot;
    stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
    CloseAgentEnd(
        stream, how == Death::kPower ? stage_->plan.link_timeout : Delay(slot));
    ForgetIfClosed(stream);
  }
}

void Network::Tell(int from, int to, std::function<void()> arrive) {
  Random& random = stage_->takeover_random;
  const Plan& plan = stage_->plan;
  if (IsPairCut(from, to) || (!stage_->healed && random.Chance(plan.drop))) {
    return;
  }
  stage_->queue.In(random.Between(microseconds(100), plan.max_delay),
                   std::move(arrive));
}

void Network::CutPair(int from, int to, Duration duration) {
  pair_cuts_[{from, to}] = stage_->queue.now() + duration;
}

void Network::Cut(int slot, Direction direction, Duration duration) {
  cuts_[{slot, direction}] = stage_->queue.now() + duration;
}

void Network::Unclog(int slot) {
  if (clogged_.erase(slot) == 0) return;
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
  for (auto& [stream, connection] : connections_) {
    if (connection.agent.slot != slot) continue;
    std::vector<std::function<void()>> waiting;
    waiting.swap(connection.clogged);
    for (const auto& send : waiting) send();
  }
}

void Network::Heal() {
  cuts_.clear();
  pair_cuts_.clear();
  while (!clogged_.empty()) Unclog(*clogged_.begin());
}

}  // namespace muster::simulation
