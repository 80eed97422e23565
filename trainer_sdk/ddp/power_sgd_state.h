#ifndef MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_
#define MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// What PowerSGD keeps of one matrix from step to step.
struct PowerSgdMatrix {
  std::string name;  // the parameter's
  int64_t rows = 0;
  int64_t columns = 0;
  // columns x r: the same on every rank.
  std::vector<float> q;
  // rows x columns: what was lost of this rank's gradients.
  std::vector<float> error;
  // Exact ones that it has done; the same on every rank.
  int64_t exact_steps = 0;
};

// The matrices of a model, by parameter and not by bucket, so that they outlast
// the buckets and a checkpoint has them under the parameters' names:
//
//   power_sgd/q/NAME            [columns, r]
//   power_sgd/error/NAME        [ranks, rows, columns], a rank's own each
//   power_sgd/exact_steps/NAME  one number
//
// Not thread-safe. No communication.
class PowerSgdState {
 public:
  struct Layout {
    int rank = 0;
    int ranks = 1;
    int approximation = 1;  // r
    double least_rate = 2;
    uint64_t seed = 0;
  };

  PowerSgdState() = default;
  // Of those of `parameters` that are worth it: see PowerSgdOptions.
  PowerSgdState(const Layout& layout, const std::vector<Tensor>& parameters);

  // Null for a parameter that is averaged exactly.
  PowerSgdMatrix* Find(int parameter);

  // See CommHook.
  std::vector<CheckpointSlice> Slices();
  absl::StatusOr<std::vector<CheckpointSlice>> SlicesIn(
      const std::vector<CheckpointTensor>& saved);
  void OnLoaded();

 private:
  CheckpointTensor ErrorTensor(const PowerSgdMatrix& matrix, int ranks) const;
  void AddShared(PowerSgdMatrix& matrix,
                 std::vector<CheckpointSlice>* slices) const;
  // How many ranks have saved the matrix's error; 0: none.
  absl::StatusOr<int> RanksThatSaved(
      const PowerSgdMatrix& matrix,
      const std::vector<CheckpointTensor>& saved) const;

  Layout layout_;
  std::vector<PowerSgdMatrix> matrices_;
  std::vector<int> matrix_of_;  // by parameter; -1: none

  // While a checkpoint of another number of ranks is read: their number, 0
  // otherwise; and by matrix the errors that are this rank's share, one behind
  // the other.
  int saved_ranks_ = 0;
  std::vector<std::vector<float>> shares_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_
