#ifndef MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_
#define MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_

#include <cstdint>
#include <vector>

namespace muster {

// Which windows of a long text a batch consists of.
struct WindowDraw {
  uint64_t seed = 0;
  // Of the whole job, whatever its number of ranks: batch b of step s is the
  // same one whoever computes it, so a job may go on with other ranks.
  int64_t step = 0;
  int64_t batch = 0;
};

// The beginnings of `count` windows, each drawn evenly from [0, positions).
// Depends on nothing but its arguments, so a resumed training sees the data
// that it would have seen. Needs positions >= 1.
std::vector<int64_t> DrawWindows(const WindowDraw& draw, int64_t count,
                                 int64_t positions);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_RANDOM_WINDOWS_H_
