#include "agent/workers/worker_input.h"

#include <charconv>

namespace muster::agent {

absl::StatusOr<WorkerInput> ParseWorkerInput(const std::string& text) {
  using enum WorkerInput::Reader;
  if (text == "auto") return WorkerInput{.reader = kFirst};
  if (text == "none") return WorkerInput{.reader = kNone};
  if (text == "all") return WorkerInput{.reader = kAll};
  WorkerInput input = {.reader = kRank};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, input.rank);
  if (error != std::errc() || stop != end || text.empty() || input.rank < 0) {
    return absl::InvalidArgumentError(
        "is no rank, and neither none, all nor auto; write for example 0");
  }
  return input;
}

std::string UnreadInputRemark(const WorkerInput& input, int round,
                              int world_size) {
  if (input.reader != WorkerInput::Reader::kRank || input.rank < world_size) {
    return "";
  }
  return "--stdin=" + std::to_string(input.rank) + ": round " +
         std::to_string(round) + " has ranks 0 to " +
         std::to_string(world_size - 1) + ": no worker reads standard input";
}

bool ReadsInput(const WorkerInput& input, int rank, int local_rank) {
  switch (input.reader) {
    case WorkerInput::Reader::kFirst:
      return local_rank == 0;
    case WorkerInput::Reader::kNone:
      return false;
    case WorkerInput::Reader::kAll:
      return true;
    case WorkerInput::Reader::kRank:
      return rank == input.rank;
  }
  return false;
}

}  // namespace muster::agent
