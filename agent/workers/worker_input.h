#ifndef MUSTER_AGENT_WORKERS_WORKER_INPUT_H_
#define MUSTER_AGENT_WORKERS_WORKER_INPUT_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::agent {

// --stdin: which workers of a node read the agent's standard input. All others
// read /dev/null.
struct WorkerInput {
  enum class Reader {
    kFirst,  // local rank 0
    kNone,
    kAll,   // every worker, from the same open file, as under torchrun
    kRank,  // the worker of `rank`, on the node that runs it
  };
  Reader reader = Reader::kFirst;
  int rank = 0;  // kRank: the global rank
};

// "auto" (kFirst), "none", "all" or a global rank. InvalidArgument names the
// forms. Pure.
absl::StatusOr<WorkerInput> ParseWorkerInput(const std::string& text);

// A sentence for a person where no worker of `round`, with `world_size` ranks,
// reads the agent's stdin though one is named; else empty. Pure.
std::string UnreadInputRemark(const WorkerInput& input, int round,
                              int world_size);

// Whether the worker with these ranks reads the agent's stdin. Pure.
bool ReadsInput(const WorkerInput& input, int rank, int local_rank);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_INPUT_H_
