#ifndef MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
#define MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_

#include <cstdint>
#include <string>

namespace muster {

// The part of the simulated agents that one process runs.
struct LoadShard {
  int port = 0;        // the coordinator's port on loopback
  std::string run_id;  // the job's run id
  int nodes = 0;       // number of nodes of the whole job
  int first = 0;       // first agent: agents first to first + count - 1
  int count = 0;
  // Mutual TLS by this token; empty: clear text.
  std::string token;
};

// Times of CLOCK_MONOTONIC in nanoseconds, comparable between processes.
struct ShardTimes {
  int64_t first_channel = 0;
  // when the last agent's first report was passed to gRPC
  int64_t last_join = 0;
  int64_t last_place = 0;  // when the last agent had got its place
};

// Opens connections to the coordinator's port as fast as it can, at most 256 at
// a time, which say nothing, until stdin ends. Returns the exit status.
int RunFlood(int port);

// Runs the shard: each agent joins on its own connection. Once all have their
// places, prints the times as one line; then each agent reports once per second
// until stdin ends. Returns the exit status.
int RunLoadShard(const LoadShard& shard);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
