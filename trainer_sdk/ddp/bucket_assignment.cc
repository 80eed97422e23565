#include "trainer_sdk/ddp/bucket_assignment.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace muster {
namespace {

// A bucket that is still being filled with parameters of one gradient type.
struct Open {
  std::vector<int> parameters;
  int64_t bytes = 0;
  // Position, in the order of parameters, of the bucket's first parameter.
  size_t place = 0;
  bool first = true;
};

}  // namespace

std::vector<std::vector<int>> AssignBuckets(
    const std::vector<Tensor>& parameters, const std::vector<int>& order,
    const BucketLimits& limits) {
  std::vector<std::vector<int>> buckets;
  std::array<Open, kDTypes> open_by_type;
  for (size_t place = 0; place < order.size(); ++place) {
    const Tensor& parameter = parameters[order[place]];
    const DType type = parameter.gradient.dtype;
    Open& open = open_by_type[static_cast<size_t>(type)];
    if (open.parameters.empty()) open.place = place;
    open.parameters.push_back(order[place]);
    open.bytes += parameter.count() * SizeOf(type);
    if (open.bytes >= (open.first ? limits.first_bytes : limits.bytes)) {
      buckets.push_back(std::move(open.parameters));
      open = {.parameters = {}, .bytes = 0, .place = 0, .first = false};
    }
  }
  std::sort(open_by_type.begin(), open_by_type.end(),
            [](const Open& a, const Open& b) { return a.place < b.place; });
  for (Open& open : open_by_type) {
    if (!open.parameters.empty()) buckets.push_back(std::move(open.parameters));
  }
  return buckets;
}

std::vector<int> ReverseOrder(const std::vector<Tensor>& parameters) {
  std::vector<int> order(parameters.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

}  // namespace muster
