#include "trainer_sdk/process_group/testing/element_values.h"

#include <algorithm>
#include <cmath>

#include "trainer_sdk/process_group/element.h"

namespace muster {

double ReferenceReduction(const std::vector<double>& values, DType dtype,
                          ReduceOp op) {
  double result = values.at(0);
  for (size_t i = 1; i < values.size(); i++) {
    switch (op) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
        result += values[i];
        break;
      case ReduceOp::kMin:
        result = std::min(result, values[i]);
        break;
      case ReduceOp::kMax:
        result = std::max(result, values[i]);
        break;
      case ReduceOp::kProd:
        result *= values[i];
        break;
    }
  }
  if (op == ReduceOp::kAvg) {
    result /= static_cast<double>(values.size());
    if (!IsFloat(dtype)) result = std::trunc(result);
  }
  return result;
}

double TestValue(uint64_t seed, int rank, int64_t index, ReduceOp op) {
  // The splitmix64 hash of seed, rank and index.
  uint64_t x = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(rank) +
               (static_cast<uint64_t>(index) << 8);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  if (op == ReduceOp::kProd) {
    // Only ranks 0 to 5 can have a factor of 2 or -2. So the magnitude of a
    // product over all ranks is at most 2^6, which fits an int8.
    constexpr double kFactors[] = {1, -1, 2, -2};
    return kFactors[x % (rank < 6 ? 4 : 2)];
  }
  return static_cast<double>(x % 31) - 15;
}

}  // namespace muster
