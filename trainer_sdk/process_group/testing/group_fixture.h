#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GROUP_FIXTURE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GROUP_FIXTURE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/process_group/testing/reference_transport.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {

// Runs `body` on every rank of a world of `size` ranks, and returns each rank's
// status. The ranks are threads, and `factory` makes their transport. A rank's
// group is destroyed when its body returns. `explanation` is the groups'
// ProcessGroupOptions::explanation_timeout: the longest time that a rank that
// timed out waits for its peers to publish their last operations. A test that
// expects these operations in an error message must pass a longer time than the
// default.
inline std::vector<absl::Status> RunWorld(
    int size, const std::function<absl::Status(ProcessGroup& world)>& body,
    TransportFactory factory = ReferenceTransports(),
    Duration explanation = std::chrono::milliseconds(200)) {
  auto store = std::make_shared<InProcessStore>();
  return RunRanks(size, [&](int rank) {
    GroupPlace place;
    place.rank = rank;
    place.size = size;
    place.store = store;
    place.name = "world";
    ProcessGroupOptions options;
    options.timeout = std::chrono::seconds(30);
    options.explanation_timeout = explanation;
    auto world = ProcessGroup::Create(std::move(place), factory, options);
    return world.ok() ? body(**world) : world.status();
  });
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GROUP_FIXTURE_H_
