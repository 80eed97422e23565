#ifndef MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
#define MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_

#include <cstdint>
#include <string>

namespace muster {

// What one process's share of the simulated agents does.
struct LoadShard {
  int port = 0;        // of the coordinator, on loopback
  std::string run_id;  // the job
  int nodes = 0;       // of the whole job
  int first = 0;       // this shard's agents: first, … first + count - 1
  int count = 0;
};

// Moments of CLOCK_MONOTONIC in nanoseconds, which processes share.
struct ShardTimes {
  int64_t first_channel = 0;
  int64_t last_join = 0;   // the last first-report was handed to gRPC
  int64_t last_place = 0;  // the last agent was told its place
};

// Runs the shard: each agent on its own connection joins; once all have their
// place, writes the times to stdout as one line, and then reports for each
// agent once a second until stdin ends. Returns the exit status.
int RunLoadShard(const LoadShard& shard);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_COORDINATOR_SCALE_LOAD_SHARD_H_
