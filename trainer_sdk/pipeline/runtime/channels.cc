#include "trainer_sdk/pipeline/runtime/channels.h"

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "trainer_sdk/pipeline/runtime/rank_plan.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

namespace {

// Ranks in a channel's group.
constexpr int kSender = 0;
constexpr int kReceiver = 1;

// Alignment of each place in bytes: a cache line.
constexpr int64_t kAlignment = 64;

// Two places: one is filled while the other is in flight.
constexpr int64_t kPlaces = 2;

size_t IndexOf(ActionKind kind) {
  MUSTER_CHECK(IsCommunication(kind));
  return static_cast<size_t>(kind) -
         static_cast<size_t>(ActionKind::kSendForward);
}

bool IsSend(ActionKind kind) {
  return kind == ActionKind::kSendForward || kind == ActionKind::kSendBackward;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PipelineChannels>> PipelineChannels::Create(
    ProcessGroup& group, const PipelineShape& shape, int64_t most_bytes) {
  std::unique_ptr<PipelineChannels> channels(new PipelineChannels());
  channels->most_bytes_ =
      (most_bytes + kAlignment - 1) / kAlignment * kAlignment;
  channels->world_ranks_ = group.global_ranks();
  for (const ActionKind send :
       {ActionKind::kSendForward, ActionKind::kSendBackward}) {
    absl::Status status = channels->Connect(group, shape, send);
    if (!status.ok()) return status;
  }
  return channels;
}

absl::Status PipelineChannels::Connect(ProcessGroup& group,
                                       const PipelineShape& shape,
                                       ActionKind send) {
  const bool forward = send == ActionKind::kSendForward;
  const ActionKind receive =
      forward ? ActionKind::kRecvForward : ActionKind::kRecvBackward;
  for (const std::vector<Neighbours>& round : ChannelRounds(shape)) {
    int color = -1;
    int role = kSender;
    for (const Neighbours& both : round) {
      const int sender = forward ? both.rank : both.next;
      if (group.rank() != both.rank && group.rank() != both.next) continue;
      color = both.rank;
      role = group.rank() == sender ? kSender : kReceiver;
    }
    auto channel = group.Split(color, role, forward ? "forward" : "backward");
    if (!channel.ok()) return channel.status();
    if (color < 0) continue;
    Channel& made = by_kind_[IndexOf(role == kSender ? send : receive)];
    made.group = *std::move(channel);
    // In the same round on all ranks, so that there is no circular wait.
    absl::Status reserved = ReservePlaces(made);
    if (!reserved.ok()) return reserved;
  }
  return absl::OkStatus();
}

absl::Status PipelineChannels::ReservePlaces(Channel& channel) const {
  auto memory = channel.group->Allocate(kPlaces * most_bytes_);
  // The channel works without places: messages can be sent from any memory.
  if (absl::IsResourceExhausted(memory.status())) return absl::OkStatus();
  if (!memory.ok()) return memory.status();
  channel.memory = *std::move(memory);
  return absl::OkStatus();
}

std::vector<std::byte*> PipelineChannels::Places(ActionKind kind) const {
  const Channel& channel = by_kind_[IndexOf(kind)];
  std::vector<std::byte*> places;
  for (int64_t i = 0; channel.memory != nullptr && i < kPlaces; ++i) {
    places.push_back(static_cast<std::byte*>(channel.memory->data()) +
                     i * most_bytes_);
  }
  return places;
}

std::shared_ptr<Work> PipelineChannels::Start(ActionKind kind, void* data,
                                              const StreamShape& shape,
                                              Duration timeout) {
  ProcessGroup* const channel = by_kind_[IndexOf(kind)].group.get();
  MUSTER_CHECK(channel != nullptr) << ActionName(kind) << " to nobody";
  return channel->Start(
      IsSend(kind) ? Send(data, shape.count(), shape.dtype, kReceiver)
                   : Receive(data, shape.count(), shape.dtype, kSender),
      {.timeout = timeout});
}

void PipelineChannels::Abort(const std::string& reason) {
  for (const Channel& channel : by_kind_) {
    if (channel.group != nullptr) channel.group->Abort(reason);
  }
}

int PipelineChannels::WorldRank(int rank) const {
  return world_ranks_.empty() ? rank : world_ranks_[static_cast<size_t>(rank)];
}

}  // namespace muster
