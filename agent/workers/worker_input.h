#ifndef MUSTER_AGENT_WORKERS_WORKER_INPUT_H_
#define MUSTER_AGENT_WORKERS_WORKER_INPUT_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::agent {

// The value of --stdin: the workers of a node that read the agent's standard
// input. All other workers read /dev/null.
struct WorkerInput {
  enum class Reader {
    // "auto": on each node only the worker with local rank 0 reads stdin
    kFirst,
    kNone,
    // "all": all workers read stdin, from the same open file, as in torchrun
    kAll,
    // a number: only the worker with this global rank (`rank`) reads stdin
    kRank,
  };
  Reader reader = Reader::kFirst;
  int rank = 0;  // global rank of the worker that reads stdin, with kRank

  bool operator==(const WorkerInput&) const = default;
};

// Parses "auto" (kFirst), "none", "all" or a global rank. InvalidArgument names
// the valid forms. Pure.
absl::StatusOr<WorkerInput> ParseWorkerInput(const std::string& text);

// If --stdin names a rank that does not exist in `round`, returns a message for
// the user; otherwise "". `world_size`: the number of ranks in the round. Pure.
std::string UnreadInputRemark(const WorkerInput& input, int round,
                              int world_size);

// Whether the worker with these ranks reads the agent's stdin. Pure.
bool ReadsInput(const WorkerInput& input, int rank, int local_rank);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_INPUT_H_
