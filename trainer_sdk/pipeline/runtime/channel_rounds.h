#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Neighbours in a pipeline: `rank`, and `next` = (rank + 1) % p.
struct Neighbours {
  int rank = 0;
  int next = 0;

  bool operator==(const Neighbours&) const = default;
};

// All pairs of neighbours that exchange messages, in as few rounds as possible
// in which no rank occurs twice. In each round, one Split makes groups of two.
// The last and the first rank are neighbours if ranks have several stages.
// Pure.
std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_
