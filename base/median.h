#ifndef MUSTER_BASE_MEDIAN_H_
#define MUSTER_BASE_MEDIAN_H_

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace muster {

// Returns the median of `values` in the order of `precedes`; 0 if there are
// none. For an even number of values, returns the first one of the two middle
// values in that order. So if there are only two values, the second one is
// compared with the first one. O(n).
template <typename Precedes = std::less<double>>
double Median(std::vector<double> values, Precedes precedes = {}) {
  if (values.empty()) return 0;
  const auto middle =
      values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), std::move(precedes));
  return *middle;
}

}  // namespace muster

#endif  // MUSTER_BASE_MEDIAN_H_
