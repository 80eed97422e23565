#include "trainer_sdk/shared_memory/shared_memory_transport.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/shared_memory/collectives.h"
#include "trainer_sdk/shared_memory/exchange.h"
#include "trainer_sdk/shared_memory/gathering.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {
namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 30;

Dimensions DimensionsOf(const SharedMemoryOptions& options, int size) {
  Dimensions dimensions;
  // The minimum size of a staging slot in bytes, so that a slot has several
  // cache lines for each receiver.
  const int64_t least = std::max<int64_t>(kPageBytes, int64_t{1024} * size);
  dimensions.slot_bytes =
      std::clamp(options.staging_bytes / kStagingSlots, least, kMaxBufferBytes);
  dimensions.channel_bytes =
      std::clamp<int64_t>(options.channel_bytes, kPageBytes, kMaxBufferBytes);
  return dimensions;
}

class SharedMemoryTransport final : public Transport {
 public:
  explicit SharedMemoryTransport(std::unique_ptr<Peers> peers)
      : peers_(std::move(peers)),
        heap_(peers_.get()),
        collectives_(peers_.get(), &heap_),
        exchange_(peers_.get(), &heap_) {}

  const char* name() const override { return "shm"; }

  // Performs one barrier, so that the group is used only after all ranks have
  // joined.
  absl::Status Meet(const GroupPlace& place, Instant deadline) {
    const FormationReaction interruption(
        place.formation, [&](const absl::Status& cause) {
          peers_
              ->Break(absl::Status(cause.code(),
                                   absl::StrCat(peers_->Who(place.rank), ": ",
                                                std::string(cause.message()))))
              .IgnoreError();
        });
    const Waiting waiting = {SignatureOf(Operation(), 0), deadline};
    absl::Status met = collectives_.Execute(Operation(), waiting);
    if (met.ok()) peers_->Meet();
    return met;
  }

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    if (peers_->broken()) return peers_->cause();
    const Waiting waiting = {SignatureOf(operation, context.sequence),
                             context.deadline};
    switch (operation.kind) {
      case OperationKind::kBatch:
        return exchange_.Execute(operation.messages, waiting);
      case OperationKind::kSend:
      case OperationKind::kReceive:
        return exchange_.Execute({MessageOf(operation)}, waiting);
      default:
        return collectives_.Execute(operation, waiting);
    }
  }

  void Abort(const std::string& reason) override { peers_->Abort(reason); }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override;

 private:
  static PointToPoint MessageOf(const Operation& operation) {
    PointToPoint message;
    message.kind = operation.kind;
    message.peer = operation.root;
    message.tag = operation.tag;
    message.data = operation.kind == OperationKind::kSend
                       ? const_cast<void*>(operation.input)
                       : operation.output;
    message.count = operation.count;
    message.dtype = operation.dtype;
    return message;
  }

  std::unique_ptr<Peers> peers_;
  Heap heap_;
  Collectives collectives_;
  Exchange exchange_;
};

absl::StatusOr<std::unique_ptr<TransportMemory>>
SharedMemoryTransport::Allocate(int64_t bytes,
                                const OperationContext& context) {
  if (peers_->broken()) return peers_->cause();
  if (bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("allocation of ", bytes, " bytes"));
  }
  // Refuse a size for which the length of the memory file would overflow.
  if (bytes > std::numeric_limits<int64_t>::max() / 2 / peers_->size()) {
    return absl::ResourceExhaustedError(absl::StrCat("allocation of ", bytes,
                                                     " bytes on each of ",
                                                     peers_->size(), " ranks"));
  }
  return collectives_.Allocate(
      bytes, {SignatureOf(Operation(), context.sequence), context.deadline});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> NewSharedMemoryTransport(
    const GroupPlace& place, const SharedMemoryOptions& options,
    Instant deadline) {
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("group \"", place.name, "\" has no rank ", place.rank,
                     " of ", place.size));
  }
  absl::StatusOr<Gathered> gathered =
      Gather(place, DimensionsOf(options, place.size), deadline);
  if (!gathered.ok()) return gathered.status();
  absl::StatusOr<std::unique_ptr<Peers>> peers =
      Peers::Join(place, *std::move(gathered));
  if (!peers.ok()) return FailFormation(place, peers.status());
  auto transport = std::make_unique<SharedMemoryTransport>(*std::move(peers));
  absl::Status met = transport->Meet(place, deadline);
  if (!met.ok()) return FailFormation(place, met);
  return transport;
}

}  // namespace muster
