#include "tests/simulation/network.h"

#include <algorithm>
#include <utility>

namespace muster::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

Network::Connection* Network::Find(rendezvous::StreamId stream) {
  auto found = connections_.find(stream);
  return found == connections_.end() ? nullptr : &found->second;
}

bool Network::IsCut(int slot, Direction direction) const {
  auto found = cuts_.find({slot, direction});
  return found != cuts_.end() && stage_->queue.now() < found->second;
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

void Network::Dial(AgentName agent) {
  const bool cut = IsCut(agent.slot, Direction::kUp) ||
                   IsCut(agent.slot, Direction::kDown) ||
                   clogged_.contains(agent.slot);
  if (cut) {
    stage_->queue.In(seconds(1), [this, agent] { ends_.dial_failed(agent); });
    return;
  }
  stage_->queue.In(Delay(agent.slot), [this, agent] {
    if (!ends_.coordinator_is_up()) {
      ends_.dial_failed(agent);
      return;
    }
    const rendezvous::StreamId stream = next_stream_++;
    connections_[stream].agent = agent;
    ends_.attached(stream, agent);
    stage_->queue.In(Delay(agent.slot), [this, agent, stream] {
      Connection* connection = Find(stream);
      if (connection == nullptr || !connection->agent_end) return;
      ends_.connected(agent, stream);
    });
  });
}

void Network::Send(rendezvous::StreamId stream, Direction direction,
                   const std::function<void()>& arrive) {
  Connection& connection = connections_.at(stream);
  const Plan& plan = stage_->plan;
  const int slot = connection.agent.slot;
  if (clogged_.contains(slot)) {
    connection.clogged.emplace_back([this, stream, direction, arrive] {
      if (Find(stream) != nullptr) Send(stream, direction, arrive);
    });
    return;
  }
  const bool lost = IsCut(slot, direction) ||
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
    if (open != nullptr && open->coordinator_end) ends_.report(stream, report);
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
    ends_.closed(stream);
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
  CloseCoordinatorEnd(stream, std::max(behind, Duration::zero()) +
                                  Delay(connection->agent.slot));
  ForgetIfClosed(stream);
}

void Network::Break(rendezvous::StreamId stream) {
  Connection* connection = Find(stream);
  if (connection == nullptr) return;
  const int slot = connection->agent.slot;
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
  CloseAgentEnd(stream, Delay(slot));
  // A half-open connection: the coordinator sends messages that do not arrive,
  // until its keep-alive fails.
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

void Network::CoordinatorDied() {
  std::vector<rendezvous::StreamId> open;
  for (auto& [stream, connection] : connections_) {
    connection.coordinator_end = false;
    open.push_back(stream);
  }
  for (rendezvous::StreamId stream : open) {
    const int slot = Find(stream)->agent.slot;
    stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
    CloseAgentEnd(stream, Delay(slot));
    ForgetIfClosed(stream);
  }
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
  while (!clogged_.empty()) Unclog(*clogged_.begin());
}

}  // namespace muster::simulation
