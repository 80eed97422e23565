#ifndef MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
#define MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_

#include <cstdint>
#include <string>

namespace muster {

// The content of the agents' reports. kNodes: only the node. kProgress: also
// the progress of each worker. kTimes: also each worker's times inside and
// outside of collectives, from which the coordinator finds slow ranks.
enum class Reports { kNodes, kProgress, kTimes };

// The agents that one load process simulates.
struct LoadShard {
  int port = 0;        // the coordinator's port on loopback
  std::string run_id;  // run id of the job
  int nodes = 0;       // number of nodes of the whole job
  // number of the first agent; the last one is first + count - 1
  int first = 0;
  int count = 0;
  Reports reports = Reports::kNodes;
  // Token for mutual TLS; empty: clear text.
  std::string token;
};

// Times in nanoseconds of CLOCK_MONOTONIC, which all processes share.
struct ShardTimes {
  int64_t first_channel = 0;
  // when the last agent passed its first report (the join) to gRPC, in ns
  int64_t last_join = 0;
  // when the last agent received its ranks
  int64_t last_place = 0;
};

// Opens connections to the coordinator's port as fast as it can, at most 256 at
// a time, and sends nothing on them. Returns the exit status once stdin has
// ended.
int RunFlood(int port);

// Runs the agents of this process. Each agent connects to the coordinator and
// joins the job. Once all agents have their ranks, prints the ShardTimes as one
// line. Then each agent reports once per second until stdin ends. Returns the
// exit status.
int RunLoadShard(const LoadShard& shard);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
