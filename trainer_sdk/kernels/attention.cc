#include "trainer_sdk/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "trainer_sdk/kernels/exponential.h"
#include "trainer_sdk/kernels/matrix_product.h"
#include "trainer_sdk/kernels/sums.h"

namespace muster {
namespace {

enum class Part { kQuery, kKey, kValue };

// One head's part of a sequence: a row for each position.
template <typename T>
MatrixView<T> HeadOf(const AttentionShape& shape, T* qkv, int64_t sequence,
                     int64_t head, Part part) {
  return {qkv + sequence * shape.time * 3 * shape.width +
              static_cast<int64_t>(part) * shape.width +
              head * shape.head_width(),
          shape.time, shape.head_width(), 3 * shape.width};
}

template <typename T>
MatrixView<T> OutputOf(const AttentionShape& shape, T* output, int64_t sequence,
                       int64_t head) {
  return {
      output + sequence * shape.time * shape.width + head * shape.head_width(),
      shape.time, shape.head_width(), shape.width};
}

template <typename T>
MatrixView<T> ProbabilitiesOf(const AttentionShape& shape, T* probabilities,
                              int64_t sequence, int64_t head) {
  return MatrixView<T>::Dense(
      probabilities + (sequence * shape.heads + head) * shape.time * shape.time,
      shape.time, shape.time);
}

// Scores become probabilities over the first `row + 1` of them.
template <typename T>
void CausalSoftmax(T* scores, int64_t row, int64_t time) {
  const int64_t seen = row + 1;
  const T most = *std::max_element(scores, scores + seen);
  for (int64_t j = 0; j < seen; ++j) scores[j] = Exponential(scores[j] - most);
  const T whole = SumOf(seen, [&](int64_t j) { return scores[j]; });
  const T factor = T{1} / whole;
  for (int64_t j = 0; j < seen; ++j) scores[j] *= factor;
  std::fill(scores + seen, scores + time, T{0});
}

template <typename T>
T ScaleOf(const AttentionShape& shape) {
  return T{1} / std::sqrt(static_cast<T>(shape.head_width()));
}

}  // namespace

template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv,
                      T* probabilities, T* output) {
  for (int64_t sequence = 0; sequence < shape.batch; ++sequence) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const MatrixView<T> scores =
          ProbabilitiesOf(shape, probabilities, sequence, head);
      MatrixProduct(
          Form::kPlain, HeadOf(shape, qkv, sequence, head, Part::kQuery),
          Form::kTransposed, HeadOf(shape, qkv, sequence, head, Part::kKey),
          ScaleOf<T>(shape), T{0}, scores);
      for (int64_t i = 0; i < shape.time; ++i) {
        CausalSoftmax(scores.data + i * shape.time, i, shape.time);
      }
      MatrixProduct(
          Form::kPlain,
          ProbabilitiesOf<const T>(shape, probabilities, sequence, head),
          Form::kPlain, HeadOf(shape, qkv, sequence, head, Part::kValue), T{1},
          T{0}, OutputOf(shape, output, sequence, head));
    }
  }
}

template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient) {
  const auto scores_gradient =
      MatrixView<T>::Dense(scratch, shape.time, shape.time);
  const auto known =
      MatrixView<const T>::Dense(scratch, shape.time, shape.time);
  for (int64_t sequence = 0; sequence < shape.batch; ++sequence) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const auto part = [&](Part which) {
        return HeadOf(shape, qkv, sequence, head, which);
      };
      const auto gradient_of = [&](Part which) {
        return HeadOf(shape, qkv_gradient, sequence, head, which);
      };
      const MatrixView<const T> weights =
          ProbabilitiesOf(shape, probabilities, sequence, head);
      const MatrixView<const T> upstream =
          OutputOf(shape, output_gradient, sequence, head);
      MatrixProduct(Form::kTransposed, weights, Form::kPlain, upstream, T{1},
                    T{0}, gradient_of(Part::kValue));
      MatrixProduct(Form::kPlain, upstream, Form::kTransposed,
                    part(Part::kValue), T{1}, T{0}, scores_gradient);
      // Through the softmax, row by row; what is zero stays zero.
      for (int64_t i = 0; i < shape.time; ++i) {
        T* const row = scratch + i * shape.time;
        const T* const p = weights.data + i * shape.time;
        const T mean = SumOf(i + 1, [&](int64_t j) { return row[j] * p[j]; });
        for (int64_t j = 0; j < shape.time; ++j)
          row[j] = p[j] * (row[j] - mean);
      }
      const T scale = ScaleOf<T>(shape);
      MatrixProduct(Form::kPlain, known, Form::kPlain, part(Part::kKey), scale,
                    T{0}, gradient_of(Part::kQuery));
      MatrixProduct(Form::kTransposed, known, Form::kPlain, part(Part::kQuery),
                    scale, T{0}, gradient_of(Part::kKey));
    }
  }
}

template void AttentionForward<float>(const AttentionShape&, const float*,
                                      float*, float*);
template void AttentionForward<double>(const AttentionShape&, const double*,
                                       double*, double*);
template void AttentionBackward<float>(const AttentionShape&, const float*,
                                       const float*, const float*, float*,
                                       float*);
template void AttentionBackward<double>(const AttentionShape&, const double*,
                                        const double*, const double*, double*,
                                        double*);

}  // namespace muster
