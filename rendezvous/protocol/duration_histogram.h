#ifndef MUSTER_RENDEZVOUS_PROTOCOL_DURATION_HISTOGRAM_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_DURATION_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/time.h"

namespace muster::rendezvous {

// Counts durations in fixed buckets, as a histogram of Prometheus. Pure.
struct DurationHistogram {
  // Upper bounds of the buckets in seconds, inclusive.
  static constexpr std::array<double, 13> kBounds = {
      0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800};

  // Number of durations in each bucket; the last one has no upper bound.
  std::array<int64_t, kBounds.size() + 1> counts = {};
  double sum_s = 0;  // sum of all durations in seconds

  void Add(Duration duration) {
    const double seconds = ToSeconds(duration);
    ++counts[std::lower_bound(kBounds.begin(), kBounds.end(), seconds) -
             kBounds.begin()];
    sum_s += seconds;
  }
  bool operator==(const DurationHistogram&) const = default;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_DURATION_HISTOGRAM_H_
