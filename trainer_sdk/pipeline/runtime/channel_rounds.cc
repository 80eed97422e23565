#include "trainer_sdk/pipeline/runtime/channel_rounds.h"

#include <cstddef>

namespace muster {

std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape) {
  std::vector<std::vector<Neighbours>> rounds;
  const auto add = [&rounds](size_t round, const Neighbours& both) {
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back(both);
  };
  if (shape.ranks == 1) return rounds;
  for (int rank = 0; rank + 1 < shape.ranks; ++rank) {
    add(static_cast<size_t>(rank % 2), {rank, rank + 1});
  }
  if (shape.stages_per_rank > 1) {
    // The pair of the last and the first rank. If the number of ranks is odd,
    // both are already in a pair in each of the two rounds so far.
    add(shape.ranks % 2 == 0 ? 1 : 2, {shape.ranks - 1, 0});
  }
  return rounds;
}

}  // namespace muster
