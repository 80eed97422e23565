// One rank of one measurement of all_reduce:
//   worker WHAT RANK SIZE OWN_ADDRESS STORE_HOST STORE_PORT
//   worker store PORT_FILE          serves a store until it is killed
// WHAT names the implementation, such as tcp or gloo_ring; Run lists the names.
#include "tests/bench/all_reduce_namespaces/worker.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/net/address_set.h"
#include "store/server/store_server.h"

namespace muster {

void Measure(const WorkerOptions& options, const SumInPlace& sum) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) {
    return std::chrono::duration<double>(d).count();
  };
  constexpr double kSecondsPerSize = 0.15;
  for (int64_t bytes = 4 << 10; bytes <= 128 << 20; bytes *= 2) {
    const int64_t count = bytes / static_cast<int64_t>(sizeof(float));
    std::vector<float> data(count, 0.0F);
    // rounds[0] is the number of measured calls, which must be the same on all
    // ranks. Rank 0 computes it from the time of two calls. An all_reduce, to
    // which the other ranks contribute 0, then gives it to all ranks.
    std::vector<float> rounds(2, 0.0F);
    sum(data.data(), count);
    const Clock::time_point begin = Clock::now();
    sum(data.data(), count);
    sum(data.data(), count);
    if (options.rank == 0) {
      rounds[0] = static_cast<float>(std::clamp(
          kSecondsPerSize / (seconds(Clock::now() - begin) / 2), 5.0, 3000.0));
    }
    sum(rounds.data(), 2);
    std::vector<double> times;
    for (int round = 0; round < static_cast<int>(rounds[0]); ++round) {
      const Clock::time_point start = Clock::now();
      sum(data.data(), count);
      times.push_back(seconds(Clock::now() - start) * 1e6);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2,
                     times.end());
    if (options.rank == 0) {
      std::printf("%lld %.3f\n", static_cast<long long>(bytes),
                  times[times.size() / 2]);
      std::fflush(stdout);
    }
  }
}

namespace {

int ServeStore(const std::string& port_file) {
  store::StoreServerOptions options;
  options.clients = AddressSet::All();
  auto server = store::StoreServer::Start(std::move(options));
  MUSTER_CHECK(server.ok()) << server.status();
  std::ofstream(port_file + ".part") << (*server)->port() << "\n";
  std::rename((port_file + ".part").c_str(), port_file.c_str());
  for (;;) pause();
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "store") {
    return ServeStore(arguments[1]);
  }
  MUSTER_CHECK(arguments.size() == 6) << "see the head of worker.cc";
  const std::map<std::string, SumInPlace (*)(const WorkerOptions&)> kinds = {
      {"tcp", OursOverTcp},      {"tcp_encrypted", OursOverEncryptedTcp},
      {"gloo", OursOverGloo},    {"gloo_ring", GlooRing},
      {"gloo_bcube", GlooBcube}, {"gloo_halving_doubling", GlooHalvingDoubling},
  };
  WorkerOptions options;
  options.rank = std::atoi(arguments[1].c_str());
  options.size = std::atoi(arguments[2].c_str());
  options.address = arguments[3];
  options.store_host = arguments[4];
  options.store_port = std::atoi(arguments[5].c_str());
  const auto kind = kinds.find(arguments[0]);
  MUSTER_CHECK(kind != kinds.end()) << "no such kind: " << arguments[0];
  Measure(options, kind->second(options));
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Run(std::vector<std::string>(argv + 1, argv + argc));
}
