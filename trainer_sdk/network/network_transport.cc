#include "trainer_sdk/network/network_transport.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/network/collectives.h"

namespace muster {
namespace {

// The longest time for which a rank accesses the group's store after a failure,
// to write or read the cause. An operation may end this much later than its
// deadline.
constexpr Duration kRecordTimeout = std::chrono::seconds(1);
// The time for which a rank whose deadline has passed waits for the reports of
// other late ranks. Ranks that wait for each other are late at nearly the same
// time, so a short time is enough.
constexpr Duration kOthersAreLate = std::chrono::milliseconds(200);

}  // namespace

NetworkTransport::NetworkTransport(const char* name, GroupPlace place,
                                   std::unique_ptr<Mesh> mesh)
    : name_(name),
      place_(std::move(place)),
      record_(place_.store, place_.rank, kRecordTimeout),
      mesh_(std::move(mesh)) {}

absl::Status NetworkTransport::Execute(const Operation& operation,
                                       const OperationContext& context) {
  return ExecuteAs(operation, SignatureOf(operation, context.sequence),
                   context.deadline);
}

absl::Status NetworkTransport::ExecuteAs(const Operation& operation,
                                         const OperationSignature& signature,
                                         Instant deadline) {
  if (absl::Status s = broken(); !s.ok()) return s;
  absl::Status s = mesh_->Begin(signature, deadline);
  if (s.ok()) s = RunOverMesh(operation, *mesh_, scratch_);
  if (s.ok()) s = mesh_->Finish();
  if (s.ok()) return BrokenElsewhere();
  std::string message =
      absl::StrCat(Describe(signature), ": ", std::string(s.message()));
  if (absl::IsDeadlineExceeded(s)) {
    message += OthersThatAreLate(Describe(signature));
  }
  return Break(absl::Status(s.code(), message));
}

// Returns a text that names the other ranks that have reported a timeout of the
// same operation, and the ranks that have not. In a ring, the rank for which
// this rank waits may itself wait for an absent rank. So the text names all
// ranks.
std::string NetworkTransport::OthersThatAreLate(
    const std::string& operation) const {
  const std::vector<LateRank> ranks =
      record_.CompareLate(operation, place_.size, kOthersAreLate);
  std::vector<std::string> late, silent;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    if (rank == place_.rank) continue;
    (ranks[rank] == LateRank::kLateToo ? late : silent)
        .push_back(Describe(mesh_->name(rank)));
  }
  std::string text;
  if (!late.empty()) {
    absl::StrAppend(&text, "; waiting too: ", absl::StrJoin(late, ", "));
  }
  if (!silent.empty()) {
    absl::StrAppend(&text, "; nothing is heard of ",
                    absl::StrJoin(silent, ", "));
  }
  return text;
}

void NetworkTransport::Abort(const std::string& reason) {
  Break(absl::AbortedError(
            absl::StrCat("aborted by rank ", place_.rank, ": ", reason)))
      .IgnoreError();
}

absl::StatusOr<std::unique_ptr<TransportMemory>> NetworkTransport::Allocate(
    int64_t, const OperationContext&) {
  return absl::UnimplementedError(
      absl::StrCat(name_, " has no memory of its own"));
}

absl::Status NetworkTransport::BrokenElsewhere() {
  if (!mesh_->PeerHungUp()) return absl::OkStatus();
  // A peer has closed its connection, perhaps because it gave up the group. A
  // rank that gives up the group first writes its cause to the group's store. A
  // rank that left normally or died has not written a cause.
  const absl::Status cause = record_.Cause();
  return cause.ok() ? cause : Break(cause);
}

absl::Status NetworkTransport::Break(const absl::Status& cause) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!broken_.ok()) return broken_;
  }
  // Write the cause before closing the connections, so that a peer that notices
  // the closed connection finds the cause.
  const absl::Status agreed = record_.Settle(cause);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (broken_.ok()) broken_ = agreed;
  mesh_->Close();
  return broken_;
}

absl::Status NetworkTransport::broken() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return broken_;
}

}  // namespace muster
