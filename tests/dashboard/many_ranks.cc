// Simulates the agents of a job of 1,000 ranks, for a test of the dashboard.
//
//   many_ranks PORT RUN_ID
//
// Joins the job with 125 nodes of 8 workers and prints "running" once all nodes
// have their ranks. Then reads numbers from stdin, one a line. For each number
// N all workers report step N, or a few steps less, and the program prints
// "reported N". Ends at the end of stdin.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/client/grpc_link.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kNodes = 125;
constexpr int kWorkers = 8;     // workers of each node
constexpr int kLastRank = 613;  // the rank that waits for its data
constexpr int kLastLag = 40;    // steps that kLastRank is behind
constexpr int kLateNode = 60;   // all ranks of this node are a little behind
constexpr int kSilentRank = 250;
constexpr int kQuietNode = 90;  // its workers report nothing

// The number of steps that a rank is behind the first one.
int LagOf(int rank) {
  if (rank == kLastRank) return kLastLag;
  if (rank / kWorkers == kLateNode) return 4 + rank % 3;
  return rank % 7 == 0 ? 1 : 0;
}

Report FirstReportOf(int node, const std::string& run_id) {
  char name[16];
  std::snprintf(name, sizeof(name), "node-%03d", node);
  Report report = FirstReport(run_id, name, kNodes);
  report.node.slots = kWorkers;
  report.node.node_rank = node;
  // A long lease, so that a busy machine loses no node.
  report.spec.keep_alive_interval = seconds(60);
  return report;
}

void AddStep(int node, int64_t step, Report* report) {
  if (node == kQuietNode) return;
  report->progress.resize(kWorkers);
  report->times.resize(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    const int rank = kWorkers * node + i;
    WorkerProgress& progress = report->progress[i];
    progress.local_rank = i;
    progress.step = step - LagOf(rank);
    progress.loss = 2.5 + 0.001 * (rank % 50);
    progress.tokens_per_s = 12'000 + rank % 90;
    if (rank == kLastRank) progress.status = "reads shard 7";
    progress.silent_for =
        rank == kSilentRank ? seconds(45) : milliseconds(20 * i);
    const milliseconds own(rank == kLastRank ? 900 : 600 + rank % 20);
    RankTimes& times = report->times[i];
    times.local_rank = i;
    times.own = step * own;
    times.blocked = step * (seconds(1) - own);
    times.data = step * (rank == kLastRank ? own / 3 : milliseconds(10));
  }
}

int Run(int port, const std::string& run_id) {
  std::vector<std::unique_ptr<ScriptedNode>> nodes;
  for (int i = 0; i < kNodes; ++i) {
    GrpcLink::Options options;
    options.endpoints = {{.host = "127.0.0.1", .port = port}};
    nodes.push_back(std::make_unique<ScriptedNode>(
        std::make_unique<GrpcLink>(std::move(options)),
        FirstReportOf(i, run_id)));
  }
  for (const auto& node : nodes) {
    const int round = node->WaitFor(DirectiveKind::kRun).place.round;
    node->Tell([round](Report* report) {
      report->round = round;
      report->phase = NodePhase::kRunning;
    });
  }
  std::cout << "running" << std::endl;
  for (int64_t step = 0; std::cin >> step;) {
    for (int i = 0; i < kNodes; ++i) {
      nodes[i]->Tell([&](Report* report) { AddStep(i, step, report); });
    }
    std::cout << "reported " << step << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace muster::rendezvous

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: many_ranks PORT RUN_ID\n");
    return 2;
  }
  return muster::rendezvous::Run(std::atoi(argv[1]), argv[2]);
}
