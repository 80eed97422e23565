#ifndef MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_
#define MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_

#include <cstdint>
#include <vector>

namespace muster {

// Identifies one batch of training data: windows of a long text, drawn at
// random.
struct WindowDraw {
  uint64_t seed = 0;
  // Number of the training step, and number of the batch within the step,
  // counted over all ranks. These two numbers and the seed determine the
  // windows; the rank that uses the batch does not matter. So a resumed job may
  // have another number of ranks.
  int64_t step = 0;
  int64_t batch = 0;
};

// Returns the first positions of `count` windows, each drawn uniformly from [0,
// positions). The result depends only on the arguments, so a resumed training
// run sees the same data as an uninterrupted one. `positions` must be at least
// 1.
std::vector<int64_t> DrawWindows(const WindowDraw& draw, int64_t count,
                                 int64_t positions);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_
