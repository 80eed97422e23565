#include "trainer_sdk/nccl/nccl_transport.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/nccl/group_alarm.h"
#include "trainer_sdk/nccl/nccl_group.h"
#include "trainer_sdk/nccl/unique_id.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

class NcclMemory final : public TransportMemory {
 public:
  NcclMemory(std::shared_ptr<NcclGroup> group, NcclGroup::Memory memory,
             int64_t bytes)
      : group_(std::move(group)), memory_(memory), bytes_(bytes) {}
  ~NcclMemory() override { group_->Release(memory_); }

  void* data() const override { return memory_.data; }
  int64_t bytes() const override { return bytes_; }

 private:
  const std::shared_ptr<NcclGroup> group_;
  const NcclGroup::Memory memory_;
  const int64_t bytes_;
};

class NcclTransport final : public Transport {
 public:
  // `group` must have joined its NCCL communicator.
  explicit NcclTransport(std::shared_ptr<NcclGroup> group)
      : group_(std::move(group)),
        // The watching thread shares ownership of the group: if an abort never
        // returns, the destructor detaches the thread instead of waiting.
        watcher_([group = group_] { group->Watch(); }) {}

  ~NcclTransport() override {
    if (group_->Close() == NcclGroup::Ended::kYes) {
      watcher_.join();
    } else {
      watcher_.detach();
    }
  }

  const char* name() const override { return "nccl"; }
  bool WaitsForPeers() const override { return false; }

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    return group_->Execute(operation, context);
  }

  void Abort(const std::string& reason) override {
    group_->Break(absl::AbortedError(reason));
  }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override {
    absl::StatusOr<NcclGroup::Memory> memory =
        group_->Allocate(bytes, context.deadline);
    if (!memory.ok()) return memory.status();
    return std::unique_ptr<TransportMemory>(
        std::make_unique<NcclMemory>(group_, *memory, bytes));
  }

  NcclGroup& group() { return *group_; }

 private:
  const std::shared_ptr<NcclGroup> group_;
  std::thread watcher_;
};

absl::Status CheckPlace(const GroupPlace& place) {
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", place.rank, " of ",
                                                   place.size, " in group \"",
                                                   place.name, "\""));
  }
  if (place.store == nullptr && place.size > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "group \"", place.name, "\" has no store to find its ranks by"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<NcclGroup>> OpenGroup(GroupPlace place,
                                                     NcclOptions options) {
  if (absl::Status sound = CheckPlace(place); !sound.ok()) return sound;
  if (place.store == nullptr) place.store = std::make_shared<InProcessStore>();
  auto group = NcclGroup::Open(place, std::move(options));
  if (!group.ok()) {
    // Report the failure to the peers, so that they do not wait for this rank.
    if (place.rank == 0) TellThatThereIsNoNcclId(place, group.status());
    GroupAlarm(place, [](const absl::Status&) {}).Raise(group.status());
  }
  return group;
}

absl::StatusOr<std::unique_ptr<Transport>> Started(
    const std::shared_ptr<NcclGroup>& group, const absl::Status& joined) {
  if (!joined.ok()) {
    group->GiveUp(joined);
    return joined;
  }
  try {
    return std::unique_ptr<Transport>(std::make_unique<NcclTransport>(group));
  } catch (const std::system_error& e) {
    const absl::Status none = absl::ResourceExhaustedError(
        absl::StrCat("no thread to watch the group: ", e.what()));
    group->GiveUp(none);
    return none;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> NewNcclTransport(GroupPlace place,
                                                            NcclOptions options,
                                                            Instant deadline) {
  auto group = OpenGroup(std::move(place), std::move(options));
  if (!group.ok()) return group.status();
  const absl::Status joined = (*group)->Join(deadline);
  return Started(*group, joined);
}

absl::StatusOr<std::unique_ptr<Transport>> SplitNcclTransport(
    Transport& parent, int color, int key, GroupPlace place, Instant deadline) {
  auto* const transport = dynamic_cast<NcclTransport*>(&parent);
  MUSTER_CHECK(transport != nullptr)
      << "a split of a transport named " << parent.name();
  NcclGroup& whole = transport->group();
  if (absl::Status broken = whole.status(); !broken.ok()) return broken;
  NcclOptions options = whole.options();
  // Clear the parent's NCCL id, which must not be used again: an id serves one
  // group only.
  options.unique_id.clear();
  options.on_broken = nullptr;
  if (!whole.nccl().can_split()) {
    if (color < 0) return nullptr;
    return NewNcclTransport(std::move(place), std::move(options), deadline);
  }
  if (color < 0) {
    absl::Status aside = whole.SplitWithoutNewGroup(place.formation, deadline);
    if (!aside.ok()) return aside;
    return nullptr;
  }
  auto group = OpenGroup(std::move(place), std::move(options));
  if (!group.ok()) {
    // Break the parent group; otherwise its other ranks would wait for this
    // rank in the split until their deadlines.
    whole.Break(group.status());
    return group.status();
  }
  const absl::Status joined =
      (*group)->JoinBySplit(whole, color, key, deadline);
  return Started(*group, joined);
}

}  // namespace muster
