#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RANK_THREADS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RANK_THREADS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Runs `body(rank)` on one thread per rank, and returns each rank's status.
std::vector<absl::Status> RunRanks(
    int size, const std::function<absl::Status(int rank)>& body);

// Returns the first status that is not OK; OK if all are OK.
absl::Status FirstFailure(const std::vector<absl::Status>& statuses);

// Makes the transports of all ranks of a new group, concurrently.
absl::StatusOr<std::vector<std::unique_ptr<Transport>>> MakeTransports(
    const TransportFactory& factory, int size, const std::string& name);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RANK_THREADS_H_
