#ifndef MUSTER_TRAINER_SDK_OPTIM_STATE_SLICE_H_
#define MUSTER_TRAINER_SDK_OPTIM_STATE_SLICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// Some elements of one named array of a trainer's state, as one rank has them:
// what a checkpoint writes, and reads back on any number of ranks.
struct StateSlice {
  // "adamw.exp_avg/NAME" for the parameter NAME; the same on every rank.
  std::string name;
  DType dtype = DType::kFloat32;
  // Of the whole array.
  std::vector<int64_t> shape;
  // Which of the flattened array's elements lie at `data`.
  int64_t begin = 0;
  int64_t end = 0;
  // Not owned; for reading and for writing.
  void* data = nullptr;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_STATE_SLICE_H_
