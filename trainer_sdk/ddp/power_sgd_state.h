#ifndef MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_
#define MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// PowerSGD's state of one matrix.
struct PowerSgdMatrix {
  std::string name;  // name of the parameter
  int64_t rows = 0;
  int64_t columns = 0;
  // columns x r; equal on all ranks.
  std::vector<float> q;
  // rows x columns: the approximation error of this rank's gradient.
  std::vector<float> error;
  // The number of exact steps done so far; equal on all ranks.
  int64_t exact_steps = 0;
};

// PowerSGD's state of all matrices of a model. It is kept by parameter and not
// by bucket, so that it survives a change of the buckets and has the
// parameters' names in a checkpoint:
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
    int approximation = 1;  // r, the rank of the approximation
    double least_rate = 2;
    uint64_t seed = 0;
  };

  PowerSgdState() = default;
  // Creates state for the parameters that are worth compressing: see
  // PowerSgdOptions.
  PowerSgdState(const Layout& layout, const std::vector<Tensor>& parameters);

  // The state of a parameter; null if the parameter is averaged exactly.
  PowerSgdMatrix* Find(int parameter);

  // See CommHook::State, StateIn and OnStateLoaded.
  std::vector<CheckpointSlice> Slices();
  absl::StatusOr<std::vector<CheckpointSlice>> SlicesIn(
      const std::vector<CheckpointTensor>& saved);
  void OnLoaded();

 private:
  CheckpointTensor ErrorTensor(const PowerSgdMatrix& matrix, int ranks) const;
  void AddShared(PowerSgdMatrix& matrix,
                 std::vector<CheckpointSlice>* slices) const;
  // The number of ranks that saved their errors of the matrix; 0: the
  // checkpoint has no error of this matrix.
  absl::StatusOr<int> RanksThatSaved(
      const PowerSgdMatrix& matrix,
      const std::vector<CheckpointTensor>& saved) const;

  Layout layout_;
  std::vector<PowerSgdMatrix> matrices_;
  // indexed by parameter: index in the list of matrices; -1: none
  std::vector<int> matrix_of_;

  // The number of ranks that wrote the checkpoint which is being loaded, if it
  // differs from this group's; otherwise 0. `shares_` has, for each matrix, the
  // errors that this rank takes over, concatenated.
  int saved_ranks_ = 0;
  std::vector<std::vector<float>> shares_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_
