#include "models/gpt_cuda/cuda_gpt_optimizer.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "models/cuda/kernels/adamw.h"
#include "models/cuda/kernels/convert.h"
#include "models/cuda/kernels/square_sum.h"

namespace muster::cuda {
namespace {

constexpr int64_t kFloat = sizeof(float);

template <typename T>
std::vector<TensorPiece> PiecesOf(const CudaGptWeights<T>& weights,
                                  const std::vector<ElementRange>& own) {
  std::vector<int64_t> counts;
  for (const GptTensor& tensor : weights.tensors()) {
    counts.push_back(tensor.count());
  }
  return PiecesIn(own, weights.offsets(), counts);
}

int64_t CountOf(const std::vector<TensorPiece>& pieces) {
  int64_t count = 0;
  for (const TensorPiece& piece : pieces) count += piece.range.count();
  return count;
}

}  // namespace

template <typename T>
CudaGptOptimizer<T>::CudaGptOptimizer(Device& device,
                                      CudaGptWeights<T>& weights,
                                      std::vector<ElementRange> own)
    : device_(device),
      weights_(weights),
      own_(std::move(own)),
      pieces_(PiecesOf(weights, own_)),
      count_(CountOf(pieces_)),
      arrays_(device) {}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptOptimizer<T>>>
CudaGptOptimizer<T>::Create(Device& device, CudaGptWeights<T>& weights,
                            const GptWeights& from,
                            std::vector<ElementRange> own) {
  std::unique_ptr<CudaGptOptimizer> optimizer(
      new CudaGptOptimizer(device, weights, std::move(own)));
  if (absl::Status status = optimizer->Fill(from); !status.ok()) return status;
  return optimizer;
}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptOptimizer<T>>>
CudaGptOptimizer<T>::Create(Device& device, CudaGptWeights<T>& weights,
                            const GptWeights& from) {
  return Create(device, weights, from, {{0, weights.count()}});
}

template <typename T>
absl::Status CudaGptOptimizer<T>::Fill(const GptWeights& from) {
  // A share may be empty, but an array may not.
  const int64_t room = std::max<int64_t>(1, count_);
  trained_ = arrays_.Add<float>(room);
  mean_ = arrays_.Add<float>(room);
  square_ = arrays_.Add<float>(room);
  sums_ = arrays_.Add<double>(kSquareSumScratch +
                              static_cast<int64_t>(own_.size()));
  if (!arrays_.status().ok()) return arrays_.status();
  device_.Zero(mean_, count_ * kFloat);
  device_.Zero(square_, count_ * kFloat);
  std::vector<const float*> values;
  const float* value = from.data();
  for (const GptTensor& tensor : from.tensors()) {
    values.push_back(value);
    value += tensor.count();
  }
  ForEachPiece([&](const TensorPiece& piece, int64_t, int64_t at) {
    device_.CopyIn(
        trained_ + at,
        values[static_cast<size_t>(piece.tensor)] + piece.range.begin,
        piece.range.count() * kFloat);
  });
  return device_.status();
}

template <typename T>
template <typename Visit>
void CudaGptOptimizer<T>::ForEachPiece(Visit visit) const {
  int64_t at = 0;
  for (const TensorPiece& piece : pieces_) {
    visit(piece, weights_.offset(piece.tensor) + piece.range.begin, at);
    at += piece.range.count();
  }
}

template <typename T>
double CudaGptOptimizer<T>::GradientSquareSum() {
  double* const sums = sums_ + kSquareSumScratch;
  for (size_t i = 0; i < own_.size(); ++i) {
    SquareSum(weights_.gradients() + own_[i].begin, own_[i].count(), sums_,
              sums + i, device_.stream());
  }
  std::vector<double> found(own_.size());
  device_.CopyOut(found.data(), sums,
                  static_cast<int64_t>(own_.size() * sizeof(double)));
  double sum = 0;
  for (const double part : found) sum += part;
  return sum;
}

template <typename T>
void CudaGptOptimizer<T>::Step(const AdamWOptions& options,
                               const OptimizerStep& step) {
  AdamWOptions without_decay = options;
  without_decay.weight_decay = 0;
  ForEachPiece([&](const TensorPiece& piece, int64_t place, int64_t at) {
    const GptTensor& tensor =
        weights_.tensors()[static_cast<size_t>(piece.tensor)];
    cuda::AdamWStep(tensor.shape.size() > 1 ? options : without_decay, step,
                    AdamWTensors<T>{.count = piece.range.count(),
                                    .gradient = weights_.gradients() + place,
                                    .weights = trained_ + at,
                                    .mean = mean_ + at,
                                    .square = square_ + at,
                                    .working = weights_.values() + place},
                    device_.stream());
  });
}

template <typename T>
float* CudaGptOptimizer<T>::Find(Kept kept) const {
  switch (kept) {
    case Kept::kMean:
      return mean_;
    case Kept::kSquare:
      return square_;
    case Kept::kTrained:
      break;
  }
  return trained_;
}

template <typename T>
void CudaGptOptimizer<T>::CopyOut(Kept kept, float* to) const {
  device_.CopyOut(to, Find(kept), count_ * kFloat);
}

template <typename T>
void CudaGptOptimizer<T>::CopyIn(Kept kept, const float* from) {
  device_.CopyIn(Find(kept), from, count_ * kFloat);
}

template <typename T>
void CudaGptOptimizer<T>::Round() {
  ForEachPiece([&](const TensorPiece& piece, int64_t place, int64_t at) {
    const int64_t count = piece.range.count();
    if constexpr (std::is_same_v<T, float>) {
      device_.Copy(weights_.values() + place, trained_ + at, count * kFloat);
    } else {
      Narrow(trained_ + at, count, weights_.values() + place, device_.stream());
    }
  });
}

template class CudaGptOptimizer<float>;
template class CudaGptOptimizer<Bfloat16>;

}  // namespace muster::cuda
