#include "tests/bench/coordinator_scale/load_shard.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/resource_room.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/grpc_link.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kEventTimeout(300);
constexpr int kWorkers = 8;  // workers of each node
// Maximum number of this process's agents that may wait for the coordinator's
// first answer at the same time. All agents have one IP address. The
// coordinator limits, for each address, the connections without a valid call
// (ConnectionLimits::on_trial).
constexpr int kMaxConnecting = 200;

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Counts the agents that have received an answer, have received their ranks, or
// have lost their stream. Also keeps the times at which the last agent joined,
// and at which the last agent received its ranks. Thread-safe.
class Tally {
 public:
  void Joined() {
    const int64_t now = Now();
    std::lock_guard<std::mutex> lock(mutex_);
    times_.last_join = now;
  }
  void Placed() {
    const int64_t now = Now();
    std::lock_guard<std::mutex> lock(mutex_);
    ++placed_;
    times_.last_place = now;
    changed_.notify_all();
  }
  void Lost(const absl::Status& why) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (++lost_ == 1) {
      std::fprintf(stderr, "an agent lost its stream: %s\n",
                   why.ToString().c_str());
    }
    changed_.notify_all();
  }
  void Ended() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }

  void Answered() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++answered_;
    changed_.notify_all();
  }

  void AwaitAnswered(int least) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kEventTimeout,
                      [&] { return answered_ >= least || lost_ > 0; });
  }
  bool AwaitPlaced(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kEventTimeout,
                      [&] { return placed_ >= count || lost_ > 0; });
    return placed_ >= count && lost_ == 0;
  }
  void AwaitEnded(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kEventTimeout, [&] { return ended_ >= count; });
  }
  ShardTimes times() {
    std::lock_guard<std::mutex> lock(mutex_);
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  ShardTimes times_;
  int answered_ = 0;
  int placed_ = 0;
  int lost_ = 0;
  int ended_ = 0;
};

rendezvous::Report FirstReport(const LoadShard& shard, int index) {
  char name[32];
  std::snprintf(name, sizeof(name), "node-%05d", index);
  rendezvous::Report report;
  report.run_id = shard.run_id;
  report.node.node_id = report.node.host = name;
  report.node.incarnation = 1 + index;
  report.node.address = "127.0.0.1";
  report.node.pid = 1 + index;
  report.node.slots = kWorkers;
  report.offered_master_port = 29500;
  report.spec.min_nodes = report.spec.max_nodes = shard.nodes;
  report.spec.last_call = Duration::zero();
  // Use a long lease, so that agents on a loaded machine are not declared lost
  // because of delays.
  report.spec.keep_alive_interval = std::chrono::seconds(60);
  return report;
}

// Adds one more step of each worker to `report`. If `reports` is kTimes, also
// adds the times of this step: one second in total, a third of it inside of
// collectives. Adds nothing if `reports` is kNodes, or before the first round.
void AddProgress(Reports reports, rendezvous::Report& report) {
  if (reports == Reports::kNodes || report.round == 0) return;
  report.progress.resize(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    rendezvous::WorkerProgress& worker = report.progress[i];
    worker.local_rank = i;
    worker.step = worker.step.value_or(0) + 1;
    worker.loss = 2.5;
    worker.tokens_per_s = 12345.5;
    worker.silent_for = std::chrono::milliseconds(20 * i);
  }
  if (reports != Reports::kTimes) return;
  report.times.resize(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    rendezvous::RankTimes& times = report.times[i];
    times.local_rank = i;
    times.own += std::chrono::milliseconds(660 + i);
    times.blocked += std::chrono::milliseconds(340 - i);
  }
}

class SimulatedAgent : private rendezvous::AgentStream::Listener {
 public:
  SimulatedAgent(const SocketAddress& coordinator,
                 const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                 rendezvous::Report first, Reports reports, Tally* tally)
      : tally_(tally), reports_(reports), report_(std::move(first)) {
    stream_ = std::make_unique<rendezvous::AgentStream>(
        rendezvous::OpenChannel(coordinator, credentials), "",
        static_cast<rendezvous::AgentStream::Listener*>(this));
    KeepAlive();
  }

  // Sends the agent's next report. A real agent sends reports at regular
  // intervals to keep its lease.
  void KeepAlive() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++report_.sequence;
    AddProgress(reports_, report_);
    stream_->Send(report_);
  }
  void Leave() {
    leaving_ = true;
    stream_->Cancel();
  }

 private:
  void OnUp() override { tally_->Joined(); }
  void OnDirective(rendezvous::Directive directive) override {
    bool placed = false;
    bool is_first = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_first = report_.seen_revision == 0;
      report_.seen_epoch = directive.epoch;
      report_.seen_revision = directive.revision;
      if (directive.kind == rendezvous::DirectiveKind::kRun &&
          report_.round == 0) {
        placed = true;
        report_.round = directive.place.round;
        report_.phase = rendezvous::NodePhase::kRunning;
      }
    }
    if (is_first) tally_->Answered();
    if (placed) tally_->Placed();
  }
  void OnEnded(absl::Status status) override {
    if (!leaving_) tally_->Lost(status);
    tally_->Ended();
  }

  Tally* const tally_;
  const Reports reports_;
  std::mutex mutex_;
  rendezvous::Report report_;
  std::atomic<bool> leaving_ = false;
  std::unique_ptr<rendezvous::AgentStream> stream_;
};

// Waits for the time `pause` and returns true. Returns false as soon as stdin
// has ended.
bool PauseWhileWanted(std::chrono::microseconds pause) {
  return !PollUntil(STDIN_FILENO, POLLIN, MonotonicNow() + pause);
}

}  // namespace

int RunFlood(int port) {
  const SocketAddress address = *NumericAddress("127.0.0.1", port);
  std::array<OwnedFd, 256> connections;
  for (size_t i = 0; PauseWhileWanted(std::chrono::microseconds(0)); ++i) {
    OwnedFd& one = connections[i % connections.size()];
    one =
        OwnedFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // Close connections with a reset. Otherwise closed connections would stay
    // in the state TIME_WAIT for a while, and the ports would run out.
    const linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(one.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    (void)connect(one.get(), address.get(), address.size);
  }
  return 0;
}

int RunLoadShard(const LoadShard& shard) {
  RaiseDescriptorLimit(/*kept_for_others=*/0);
  const SocketAddress address = *NumericAddress("127.0.0.1", shard.port);
  Tally tally;
  const auto credentials =
      rendezvous::ClientCredentials({}, shard.token, address.Ip());
  std::vector<std::unique_ptr<SimulatedAgent>> agents;
  const int64_t first_channel = Now();
  for (int i = 0; i < shard.count; ++i) {
    tally.AwaitAnswered(i - kMaxConnecting);
    agents.push_back(std::make_unique<SimulatedAgent>(
        address, credentials, FirstReport(shard, shard.first + i),
        shard.reports, &tally));
  }
  const bool placed = tally.AwaitPlaced(shard.count);
  const ShardTimes times = tally.times();
  std::printf("%d %lld %lld %lld\n", placed ? 1 : 0,
              static_cast<long long>(first_channel),
              static_cast<long long>(times.last_join),
              static_cast<long long>(times.last_place));
  std::fflush(stdout);
  // Each agent reports once per second. The reports are spread evenly over the
  // second.
  constexpr int kBatches = 100;
  size_t next = 0;
  while (placed && PauseWhileWanted(std::chrono::microseconds(10'000))) {
    for (int i = 0; i < shard.count / kBatches; ++i) {
      agents[next++ % agents.size()]->KeepAlive();
    }
  }
  for (const auto& agent : agents) agent->Leave();
  tally.AwaitEnded(shard.count);
  return placed ? 0 : 1;
}

}  // namespace muster
