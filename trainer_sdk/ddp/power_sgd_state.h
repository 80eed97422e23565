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
  // The factor Q of the matrix's approximation P Q^T: columns x r elements,
  // where r is the rank of the approximation; equal on all ranks.
  std::vector<float> q;
  // The error of the approximation of this rank's last gradient, rows x columns
  // elements. It is added to the next gradient.
  std::vector<float> error;
  // The number of exact steps done so far; equal on all ranks.
  int64_t exact_steps = 0;
};

// PowerSGD's state of all matrices of a model. The state is kept by parameter
// and not by bucket, so that it survives a change of the buckets. In a
// checkpoint its tensors have the parameters' names:
//
//   power_sgd/q/NAME            [columns, r]
//   power_sgd/error/NAME        [ranks, rows, columns], one error per rank
//   power_sgd/exact_steps/NAME  one number
//
// Not thread-safe. No communication.
class PowerSgdState {
 public:
  struct Layout {
    int rank = 0;
    int ranks = 1;
    // r, the rank of the matrix P Q^T that approximates a gradient matrix
    int approximation = 1;
    double least_rate = 2;
    uint64_t seed = 0;
  };

  PowerSgdState() = default;
  // Creates the state of the parameters that are large enough to be compressed
  // (PowerSgdOptions::least_rate).
  PowerSgdState(const Layout& layout, const std::vector<Tensor>& parameters);

  // The state of a parameter; null if the parameter is averaged exactly.
  PowerSgdMatrix* Find(int parameter);

  // The state as slices of tensors, for checkpoints. Slices returns the slices
  // to save. SlicesIn returns the memory into which to read `saved`, the
  // tensors of a checkpoint. OnLoaded must be called after these tensors have
  // been read. See CommHook::State, StateIn and OnStateLoaded.
  std::vector<CheckpointSlice> Slices();
  absl::StatusOr<std::vector<CheckpointSlice>> SlicesIn(
      const std::vector<CheckpointTensor>& saved);
  void OnLoaded();

 private:
  CheckpointTensor ErrorTensor(const PowerSgdMatrix& matrix, int ranks) const;
  void AddShared(PowerSgdMatrix& matrix,
                 std::vector<CheckpointSlice>* slices) const;
  // The number of ranks that saved an approximation error of `matrix` in the
  // checkpoint; 0 if none did. FailedPrecondition: the saved errors have
  // another shape.
  absl::StatusOr<int> RanksThatSaved(
      const PowerSgdMatrix& matrix,
      const std::vector<CheckpointTensor>& saved) const;

  Layout layout_;
  std::vector<PowerSgdMatrix> matrices_;
  // indexed by parameter: index of the parameter's matrix in `matrices_`; -1:
  // the parameter is averaged exactly and has no matrix
  std::vector<int> matrix_of_;

  // While this rank loads a checkpoint that another number of ranks wrote: the
  // number of ranks that wrote it. Otherwise 0.
  int saved_ranks_ = 0;
  // While this rank loads a checkpoint that another number of ranks wrote: for
  // each matrix, the saved compression errors that this rank takes over,
  // concatenated. Otherwise empty.
  std::vector<std::vector<float>> shares_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_STATE_H_
