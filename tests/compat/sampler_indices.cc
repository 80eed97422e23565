// Reads lines LENGTH WORLD SEED EPOCH shuffled|sequential padded|dropped, and
// prints for each a line with the indices of all ranks, rank by rank.

#include <iostream>
#include <string>

#include "trainer_sdk/data/distributed_sampler.h"

int main() {
  muster::DistributedSamplerOptions options;
  int64_t epoch = 0;
  std::string order;
  std::string tail;
  while (std::cin >> options.length >> options.world_size >> options.seed >>
         epoch >> order >> tail) {
    options.order = order == "shuffled"
                        ? muster::DistributedSamplerOptions::Order::kShuffled
                        : muster::DistributedSamplerOptions::Order::kSequential;
    options.tail = tail == "padded"
                       ? muster::DistributedSamplerOptions::Tail::kPadded
                       : muster::DistributedSamplerOptions::Tail::kDropped;
    for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
      const auto sampler = muster::DistributedSampler::Create(options);
      if (!sampler.ok()) {
        std::cerr << sampler.status() << "\n";
        return 1;
      }
      for (const int64_t index : sampler->Indices(epoch)) {
        std::cout << index << " ";
      }
    }
    std::cout << "\n";
  }
  return 0;
}
