#include "trainer_sdk/process_group/testing/rank_threads.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {

std::vector<absl::Status> RunRanks(
    int size, const std::function<absl::Status(int rank)>& body) {
  std::vector<absl::Status> statuses(size);
  std::vector<std::thread> threads;
  threads.reserve(size);
  for (int rank = 0; rank < size; rank++) {
    threads.emplace_back([&, rank] { statuses[rank] = body(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

absl::Status FirstFailure(const std::vector<absl::Status>& statuses) {
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Transport>>> MakeTransports(
    const TransportFactory& factory, int size, const std::string& name) {
  auto store = std::make_shared<InProcessStore>();
  std::vector<std::unique_ptr<Transport>> transports(size);
  const absl::Status status = FirstFailure(RunRanks(size, [&](int rank) {
    GroupPlace place;
    place.rank = rank;
    place.size = size;
    place.store = store;
    place.name = name;
    absl::StatusOr<std::unique_ptr<Transport>> made =
        factory(std::move(place), MonotonicNow() + std::chrono::seconds(30));
    if (!made.ok()) return made.status();
    transports[rank] = *std::move(made);
    return absl::OkStatus();
  }));
  if (!status.ok()) return status;
  return transports;
}

}  // namespace muster
