#include "trainer_sdk/data/distributed_sampler.h"

#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// Lists of at least this length are shuffled with 64-bit random numbers,
// shorter lists with 32-bit ones, as in PyTorch 2. In a long list, a 32-bit
// random number modulo the remaining length would select earlier elements too
// often. No test covers this limit, because a list of this length takes 2 GB of
// memory. Permutations of such lists were compared with PyTorch 2.15 by hand.
constexpr int64_t kWideDraws = std::numeric_limits<uint32_t>::max() / 20;

}  // namespace

std::vector<int64_t> RandomPermutation(int64_t length, uint64_t seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  std::vector<int64_t> order(static_cast<size_t>(length));
  if (length < kWideDraws) {
    std::iota(order.begin(), order.end(), int64_t{0});
    for (int64_t i = 0; i + 1 < length; ++i) {
      std::swap(order[i],
                order[i + static_cast<int64_t>(engine()) % (length - i)]);
    }
    return order;
  }
  for (int64_t i = 0; i < length; ++i) {
    const uint64_t high = engine();
    const uint64_t draw = high << 32 | engine();
    const size_t other = draw % static_cast<uint64_t>(i + 1);
    order[i] = i;
    std::swap(order[i], order[other]);
  }
  return order;
}

absl::StatusOr<DistributedSampler> DistributedSampler::Create(
    const DistributedSamplerOptions& options) {
  if (options.length < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a data set of ", options.length, " examples"));
  }
  if (options.world_size < 1 || options.rank < 0 ||
      options.rank >= options.world_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", options.rank, " in a world of ", options.world_size));
  }
  int64_t size = options.length / options.world_size;
  if (options.tail == DistributedSamplerOptions::Tail::kPadded &&
      options.length % options.world_size != 0) {
    ++size;
  }
  return DistributedSampler(options, size);
}

std::vector<int64_t> DistributedSampler::Indices(int64_t epoch) const {
  std::vector<int64_t> order;
  if (options_.order == DistributedSamplerOptions::Order::kShuffled) {
    order = RandomPermutation(options_.length,
                              options_.seed + static_cast<uint64_t>(epoch));
  } else {
    order.resize(static_cast<size_t>(options_.length));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  std::vector<int64_t> mine;
  mine.reserve(static_cast<size_t>(size_));
  for (int64_t i = 0; i < size_; ++i) {
    // All ranks get equally many examples. If all ranks together need more
    // examples than the data set has, the first examples of `order` are used
    // again.
    const int64_t place = options_.rank + i * options_.world_size;
    mine.push_back(order[static_cast<size_t>(place % options_.length)]);
  }
  return mine;
}

}  // namespace muster
