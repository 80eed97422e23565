#include "trainer_sdk/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "trainer_sdk/kernels/exponential.h"
#include "trainer_sdk/kernels/sums.h"

namespace muster {

template <typename T>
double CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                    int64_t classes) {
  double loss = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const T* const row = logits + i * classes;
    const T most = *std::max_element(row, row + classes);
    const T whole =
        SumOf(classes, [&](int64_t j) { return Exponential(row[j] - most); });
    loss += std::log(static_cast<double>(whole)) -
            static_cast<double>(row[targets[i]] - most);
  }
  return loss / static_cast<double>(rows);
}

template <typename T>
double CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                                int64_t classes, T factor) {
  double loss = 0;
  const T share = factor / static_cast<T>(rows);
  for (int64_t i = 0; i < rows; ++i) {
    T* const row = logits + i * classes;
    const T most = *std::max_element(row, row + classes);
    const T target = row[targets[i]] - most;
    for (int64_t j = 0; j < classes; ++j) row[j] = Exponential(row[j] - most);
    const T whole = SumOf(classes, [&](int64_t j) { return row[j]; });
    loss += std::log(static_cast<double>(whole)) - static_cast<double>(target);
    const T scale = share / whole;
    for (int64_t j = 0; j < classes; ++j) row[j] *= scale;
    row[targets[i]] -= share;
  }
  return loss / static_cast<double>(rows);
}

template double CrossEntropy<float>(const float*, const int32_t*, int64_t,
                                    int64_t);
template double CrossEntropy<double>(const double*, const int32_t*, int64_t,
                                     int64_t);
template double CrossEntropyWithGradient<float>(float*, const int32_t*, int64_t,
                                                int64_t, float);
template double CrossEntropyWithGradient<double>(double*, const int32_t*,
                                                 int64_t, int64_t, double);

}  // namespace muster
