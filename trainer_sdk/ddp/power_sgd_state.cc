#include "trainer_sdk/ddp/power_sgd_state.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

std::string NameOf(const char* what, const PowerSgdMatrix& matrix) {
  return absl::StrCat("power_sgd/", what, "/", matrix.name);
}

bool IsWorthIt(const Tensor& tensor, int approximation, double least_rate) {
  if (tensor.gradient.dtype != DType::kFloat32 || tensor.rows() < 2) {
    return false;
  }
  const int64_t columns = tensor.count() / tensor.rows();
  const auto sent =
      static_cast<double>((tensor.rows() + columns) * approximation);
  return columns > 1 && sent * least_rate < static_cast<double>(tensor.count());
}

// `saved` ranks wrote the checkpoint, and `ranks` ranks now read it. Returns
// how many of the saved ranks' errors `rank` takes over.
int ShareOf(int rank, int ranks, int saved) {
  return rank < saved ? (saved - 1 - rank) / ranks + 1 : 0;
}

}  // namespace

PowerSgdState::PowerSgdState(const Layout& layout,
                             const std::vector<Tensor>& parameters)
    : layout_(layout), matrix_of_(parameters.size(), -1) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& parameter = parameters[i];
    if (!IsWorthIt(parameter, layout.approximation, layout.least_rate)) {
      continue;
    }
    matrix_of_[i] = static_cast<int>(matrices_.size());
    PowerSgdMatrix& matrix = matrices_.emplace_back();
    matrix.name = parameter.name;
    matrix.rows = parameter.rows();
    matrix.columns = parameter.count() / parameter.rows();
    matrix.q.resize(static_cast<size_t>(matrix.columns * layout.approximation));
    matrix.error.resize(static_cast<size_t>(parameter.count()));
    std::mt19937_64 engine(layout.seed + i);
    std::normal_distribution<float> normal;
    for (float& value : matrix.q) value = normal(engine);
  }
}

PowerSgdMatrix* PowerSgdState::Find(int parameter) {
  const int matrix = matrix_of_.at(static_cast<size_t>(parameter));
  return matrix < 0 ? nullptr : &matrices_[static_cast<size_t>(matrix)];
}

CheckpointTensor PowerSgdState::ErrorTensor(const PowerSgdMatrix& matrix,
                                            int ranks) const {
  return {.name = NameOf("error", matrix),
          .dtype = DType::kFloat32,
          .shape = {ranks, matrix.rows, matrix.columns}};
}

void PowerSgdState::AddShared(PowerSgdMatrix& matrix,
                              std::vector<CheckpointSlice>* slices) const {
  slices->push_back(
      WholeTensor({.name = NameOf("q", matrix),
                   .shape = {matrix.columns, layout_.approximation},
                   .value = matrix.q}));
  slices->push_back(WholeTensor({.name = NameOf("exact_steps", matrix),
                                 .value = {&matrix.exact_steps, 1}}));
}

std::vector<CheckpointSlice> PowerSgdState::Slices() {
  std::vector<CheckpointSlice> slices;
  for (PowerSgdMatrix& matrix : matrices_) {
    AddShared(matrix, &slices);
    const auto count = static_cast<int64_t>(matrix.error.size());
    slices.push_back({.tensor = ErrorTensor(matrix, layout_.ranks),
                      .begin = layout_.rank * count,
                      .end = (layout_.rank + 1) * count,
                      .data = matrix.error.data()});
  }
  return slices;
}

absl::StatusOr<int> PowerSgdState::RanksThatSaved(
    const PowerSgdMatrix& matrix,
    const std::vector<CheckpointTensor>& saved) const {
  const std::string name = NameOf("error", matrix);
  const auto found = std::find_if(
      saved.begin(), saved.end(),
      [&](const CheckpointTensor& tensor) { return tensor.name == name; });
  if (found == saved.end()) return 0;
  const int64_t ranks = found->shape.empty() ? 0 : found->shape[0];
  if (ranks < 1 || ranks > std::numeric_limits<int>::max() ||
      *found != ErrorTensor(matrix, static_cast<int>(ranks))) {
    return absl::FailedPreconditionError(
        absl::StrCat("the checkpoint's '", name, "' is not of a matrix of ",
                     matrix.rows, " rows and ", matrix.columns, " columns"));
  }
  return static_cast<int>(ranks);
}

absl::StatusOr<std::vector<CheckpointSlice>> PowerSgdState::SlicesIn(
    const std::vector<CheckpointTensor>& saved) {
  saved_ranks_ = 0;
  shares_.clear();
  for (const PowerSgdMatrix& matrix : matrices_) {
    const absl::StatusOr<int> ranks = RanksThatSaved(matrix, saved);
    if (!ranks.ok()) return ranks.status();
    saved_ranks_ = std::max(saved_ranks_, *ranks);
  }
  if (matrices_.empty() || saved_ranks_ == layout_.ranks) {
    saved_ranks_ = 0;
    return Slices();
  }
  if (saved_ranks_ == 0) {
    return absl::NotFoundError(
        "the checkpoint has nothing of PowerSGD, which begins anew: with its "
        "exact steps");
  }
  // With n ranks now, rank r takes over the errors that the ranks r, r + n, r +
  // 2n, ... saved.
  const int share = ShareOf(layout_.rank, layout_.ranks, saved_ranks_);
  std::vector<CheckpointSlice> slices;
  for (PowerSgdMatrix& matrix : matrices_) {
    AddShared(matrix, &slices);
    const size_t count = matrix.error.size();
    std::vector<float>& errors = shares_.emplace_back(share * count);
    for (int i = 0; i < share; ++i) {
      const int64_t from = layout_.rank + int64_t{i} * layout_.ranks;
      const auto elements = static_cast<int64_t>(count);
      slices.push_back(
          {.tensor = ErrorTensor(matrix, saved_ranks_),
           .begin = from * elements,
           .end = (from + 1) * elements,
           .data = errors.data() + static_cast<size_t>(i) * count});
    }
  }
  return slices;
}

void PowerSgdState::OnLoaded() {
  if (saved_ranks_ == 0) return;
  // The averages so far lack the sum of the saved errors, divided by the number
  // of ranks that saved them. Later steps add this sum, but divide it by the
  // new number of ranks. So multiply the errors by the ratio of the new number
  // to the old one.
  const float factor =
      static_cast<float>(layout_.ranks) / static_cast<float>(saved_ranks_);
  for (size_t m = 0; m < matrices_.size(); ++m) {
    std::vector<float>& error = matrices_[m].error;
    std::fill(error.begin(), error.end(), 0.0f);
    for (size_t at = 0; at < shares_[m].size(); ++at) {
      error[at % error.size()] += shares_[m][at];
    }
    for (float& value : error) value *= factor;
  }
  saved_ranks_ = 0;
  shares_.clear();
}

}  // namespace muster
