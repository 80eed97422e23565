#ifndef MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_
#define MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_

#include <algorithm>
#include <string>
#include <vector>

namespace muster::rendezvous {

// Returns the median of `values` in the order `better`; 0 if there are none.
// For an even number of values, returns the better one of the two middle
// values. So if only two nodes have values, the worse node is compared with the
// better one.
template <typename Better>
double Median(std::vector<double> values, Better better) {
  if (values.empty()) return 0;
  const auto middle =
      values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), better);
  return *middle;
}

// Whether `value` is finite and above 0.
bool IsPositive(double value);

// Return a value as text with three significant digits and its unit, such as
// "941 MB/s" or "0.21 ms".
std::string RateText(double bytes_per_s);
std::string TimeText(double seconds);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_
