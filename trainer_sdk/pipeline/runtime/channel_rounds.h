#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Neighbours in a pipeline: `rank` and the one behind it, (rank + 1) % p.
struct Neighbours {
  int rank = 0;
  int next = 0;

  bool operator==(const Neighbours&) const = default;
};

// All neighbours that have something to send to each other, in as few rounds
// as can be in which nobody is twice: what one Split after the other makes
// groups of two out of. The last rank and the first are neighbours where a rank
// has several stages. Pure.
std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNEL_ROUNDS_H_
