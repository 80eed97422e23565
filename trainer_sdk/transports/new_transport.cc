#include "trainer_sdk/transports/new_transport.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/flight_recorder/flight_recorder.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/hierarchical/hierarchical_transport.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/nccl/unique_id.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/local_transport.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/tcp/tcp_transport.h"
#include "trainer_sdk/transports/rank_claim.h"

namespace muster {
namespace {

absl::StatusOr<std::unique_ptr<Transport>> NewNccl(GroupPlace place,
                                                   std::string unique_id,
                                                   Instant deadline) {
  NcclOptions options;
  options.unique_id = std::move(unique_id);
  // This callback only writes the cause of the failure to the flight recorder.
  // The group itself returns the error from its next operation.
  options.on_broken = [name = place.name](const absl::Status& cause) {
    FlightRecorder::Process()
        .Fail(name, std::string(cause.message()))
        .IgnoreError();
  };
  return NewNcclTransport(std::move(place), std::move(options), deadline);
}

absl::StatusOr<std::unique_ptr<Transport>> NewHierarchicalOverGloo(
    GroupPlace place, Instant deadline) {
  HierarchicalOptions options;
  options.network = GlooNetwork();
  return NewHierarchicalTransport(std::move(place), options, deadline);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> NewTransport(GroupPlace place,
                                                        TransportChoice choice,
                                                        Instant deadline) {
  switch (choice) {
    case TransportChoice::kAutomatic:
      if (place.size == 1) return NewLocalTransport(place);
      return NewHierarchicalTransport(std::move(place), {}, deadline);
    case TransportChoice::kLocal:
      return NewLocalTransport(place);
    case TransportChoice::kSharedMemory:
      return NewSharedMemoryTransport(place, {}, deadline);
    case TransportChoice::kTcp:
      return NewTcpTransport(std::move(place), {}, deadline);
    case TransportChoice::kGloo:
      return NewGlooTransport(std::move(place), {}, deadline);
    case TransportChoice::kHierarchical:
      return NewHierarchicalTransport(std::move(place), {}, deadline);
    case TransportChoice::kHierarchicalGloo:
      return NewHierarchicalOverGloo(std::move(place), deadline);
    case TransportChoice::kNccl:
      return NewNccl(std::move(place), "", deadline);
  }
  return absl::InvalidArgumentError("no such transport");
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> NewProcessGroup(
    GroupPlace place, TransportChoice choice, ProcessGroupOptions options) {
  if (place.store != nullptr) {
    // Groups with different names use different keys of the store.
    const auto keys = std::make_shared<PrefixStore>(
        absl::StrCat("group/", place.name), place.store);
    const absl::Status claimed =
        ClaimRank(*keys, place.rank, ProcessIdentity());
    if (!claimed.ok()) return NamedAfter(place, claimed);
    // Each rank counts how often it has created a group of this name, including
    // creations that fail later. So the n-th creation has the same number on
    // all ranks.
    const absl::StatusOr<int64_t> creation =
        keys->Add(absl::StrCat("creations/", place.rank), 1);
    if (!creation.ok()) return NamedAfter(place, creation.status());
    place.store = std::make_shared<PrefixStore>(
        absl::StrCat("creation", *creation), keys);
    place.birth = static_cast<uint64_t>(*creation);
  }
  const bool is_world = options.global_ranks.empty();
  TransportFactory factory = [choice](GroupPlace part, Instant deadline) {
    return NewTransport(std::move(part), choice, deadline);
  };
  if (choice == TransportChoice::kNccl) {
    if (options.splitter == nullptr) options.splitter = SplitNcclTransport;
    // With NCCL, this factory makes the transport of the group that
    // NewProcessGroup creates, and options.splitter makes those of the groups
    // that are later split from it.
    factory = [is_world](GroupPlace whole, Instant deadline) {
      return NewNccl(std::move(whole), is_world ? TakeWorldNcclId() : "",
                     deadline);
    };
  }
  return ProcessGroup::Create(std::move(place), std::move(factory),
                              std::move(options));
}

}  // namespace muster
