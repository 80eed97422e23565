#include "trainer_sdk/pipeline/runtime/streams.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/pipeline/runtime/first_cause.h"
#include "trainer_sdk/pipeline/runtime/rank_plan.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// The ranks of sender and receiver in a channel, which is a group of two ranks.
constexpr int kSender = 0;
constexpr int kReceiver = 1;

// Alignment of each message buffer in bytes: a cache line.
constexpr int64_t kAlignment = 64;

// The number of message buffers per channel: one is filled while the other is
// in flight.
constexpr int64_t kChannelBuffers = 2;

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
    ProcessGroup& group, const PipelineShape& shape, int64_t max_bytes) {
  std::unique_ptr<PipelineChannels> channels(new PipelineChannels());
  channels->max_bytes_ = (max_bytes + kAlignment - 1) / kAlignment * kAlignment;
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
    // Reserve the buffers of each channel before the next channel is made.
    // Split is collective over all ranks, and Allocate over the two ranks of
    // the channel. If ranks made these calls in different orders, they could
    // deadlock.
    absl::Status reserved = ReserveBuffers(made);
    if (!reserved.ok()) return reserved;
  }
  return absl::OkStatus();
}

absl::Status PipelineChannels::ReserveBuffers(Channel& channel) const {
  auto memory = channel.group->Allocate(kChannelBuffers * max_bytes_);
  // If the transport has no memory left, the channel gets no message buffers.
  // Messages are then sent from ordinary memory.
  if (absl::IsResourceExhausted(memory.status())) return absl::OkStatus();
  if (!memory.ok()) return memory.status();
  channel.memory = *std::move(memory);
  return absl::OkStatus();
}

std::vector<std::byte*> PipelineChannels::Buffers(ActionKind kind) const {
  const Channel& channel = by_kind_[IndexOf(kind)];
  std::vector<std::byte*> buffers;
  for (int64_t i = 0; channel.memory != nullptr && i < kChannelBuffers; ++i) {
    buffers.push_back(static_cast<std::byte*>(channel.memory->data()) +
                      i * max_bytes_);
  }
  return buffers;
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

namespace {

// The stage with which a send or receive action exchanges its data.
int OtherStage(const Action& message) {
  switch (message.kind) {
    case ActionKind::kSendForward:
    case ActionKind::kRecvBackward:
      return message.stage + 1;
    default:
      return message.stage - 1;
  }
}

bool IsForward(ActionKind kind) {
  return kind == ActionKind::kSendForward || kind == ActionKind::kRecvForward;
}

// The action that receives the input of `computation` from a neighbouring
// stage: from the previous stage for a forward pass, from the next stage for a
// backward pass. nullopt if `computation` has no such input.
std::optional<Action> ReceiveFor(const Action& computation,
                                 const PipelineShape& shape) {
  Action receive = computation;
  if (computation.kind == ActionKind::kForward) {
    receive.kind = ActionKind::kRecvForward;
  } else if (computation.kind != ActionKind::kWeightBackward) {
    receive.kind = ActionKind::kRecvBackward;
  } else {
    return std::nullopt;
  }
  const int from = OtherStage(receive);
  if (from < 0 || from >= shape.stages()) return std::nullopt;
  return receive;
}

// The action that sends the result of `computation` to a neighbouring stage;
// nullopt if no stage receives it.
std::optional<Action> SendFor(const Action& computation,
                              const PipelineShape& shape) {
  Action send = computation;
  if (computation.kind == ActionKind::kForward) {
    send.kind = ActionKind::kSendForward;
  } else if (computation.kind != ActionKind::kWeightBackward) {
    send.kind = ActionKind::kSendBackward;
  } else {
    return std::nullopt;
  }
  const int to = OtherStage(send);
  if (to < 0 || to >= shape.stages()) return std::nullopt;
  return send;
}

Action ReceiveOf(const Action& send) {
  return {OtherStage(send),
          IsForward(send.kind) ? ActionKind::kRecvForward
                               : ActionKind::kRecvBackward,
          send.micro_batch};
}

}  // namespace

int64_t LongestStream(const std::vector<StreamShape>& inputs) {
  int64_t most = 0;
  for (size_t stage = 1; stage < inputs.size(); ++stage) {
    most = std::max(most, inputs[stage].bytes());
  }
  return most;
}

PipelineStreams::PipelineStreams(PipelineChannels& channels,
                                 const PipelineShape& shape,
                                 std::vector<StreamShape> inputs,
                                 Duration timeout)
    : channels_(channels),
      shape_(shape),
      inputs_(std::move(inputs)),
      timeout_(timeout) {
  bytes_ = static_cast<size_t>(LongestStream(inputs_));
  for (const ActionKind kind :
       {ActionKind::kSendForward, ActionKind::kRecvForward,
        ActionKind::kSendBackward, ActionKind::kRecvBackward}) {
    channel_buffers_[kind] = channels_.Buffers(kind);
  }
}

// The shape of the data that `message` transfers. The data between stages s and
// s + 1 has the shape of the input of stage s + 1. In an evaluation one byte is
// sent instead of a gradient.
StreamShape PipelineStreams::ShapeOf(const Action& message) const {
  if (purpose_ == PipelinePass::Purpose::kEvaluation &&
      !IsForward(message.kind)) {
    return {.dtype = DType::kInt8, .sizes = {1}};
  }
  return inputs_[static_cast<size_t>(
      std::max(message.stage, OtherStage(message)))];
}

StreamBuffer PipelineStreams::Any(ActionKind kind) {
  std::vector<std::byte*>* home = &channel_buffers_[kind];
  if (home->empty()) home = &free_;
  if (home->empty()) {
    made_.push_back(std::make_unique<std::byte[]>(bytes_));
    free_.push_back(made_.back().get());
  }
  std::byte* const data = home->back();
  home->pop_back();
  return {.data = data, .home = home};
}

void PipelineStreams::Receive(const Action& receive) {
  const StreamBuffer buffer = Any(receive.kind);
  arrivals_.emplace(
      receive, Arrival{buffer, channels_.Start(receive.kind, buffer.data,
                                               ShapeOf(receive), timeout_)});
}

void PipelineStreams::Send(const Action& send) {
  const auto at = ready_.find(send);
  MUSTER_CHECK(at != ready_.end()) << ToString(send);
  const StreamBuffer buffer = at->second;
  ready_.erase(at);
  departures_.push_back(
      {send, buffer,
       channels_.Start(send.kind, buffer.data, ShapeOf(send), timeout_)});
}

absl::StatusOr<StreamBuffer> PipelineStreams::Take(const Action& computation) {
  const std::optional<Action> receive = ReceiveFor(computation, shape_);
  if (!receive) return StreamBuffer();
  const auto at = arrivals_.find(*receive);
  MUSTER_CHECK(at != arrivals_.end()) << ToString(*receive);
  if (at->second.work != nullptr) {
    const absl::Status status = at->second.work->Wait();
    if (!status.ok()) return Failed(*receive, status);
  }
  const StreamBuffer buffer = at->second.buffer;
  arrivals_.erase(at);
  return buffer;
}

absl::StatusOr<StreamBuffer> PipelineStreams::Make(const Action& computation) {
  const std::optional<Action> send = SendFor(computation, shape_);
  if (!send) return StreamBuffer();
  if (absl::Status status = Reap(); !status.ok()) return status;
  return Any(send->kind);
}

void PipelineStreams::Put(const Action& computation, StreamBuffer buffer) {
  const std::optional<Action> send = SendFor(computation, shape_);
  if (!send) return;
  if (shape_.RankOf(OtherStage(*send)) == shape_.RankOf(send->stage)) {
    arrivals_.emplace(ReceiveOf(*send), Arrival{buffer, nullptr});
  } else {
    ready_.emplace(*send, buffer);
  }
}

void PipelineStreams::Free(StreamBuffer buffer) {
  if (buffer.data != nullptr) buffer.home->push_back(buffer.data);
}

absl::Status PipelineStreams::Reap() {
  for (auto at = departures_.begin(); at != departures_.end();) {
    if (!at->work->is_completed()) {
      ++at;
      continue;
    }
    const absl::Status status = at->work->status();
    if (!status.ok()) return Failed(at->send, status);
    Free(at->buffer);
    at = departures_.erase(at);
  }
  return absl::OkStatus();
}

absl::Status PipelineStreams::Drain() {
  for (const Departure& departure : departures_) {
    const absl::Status status = departure.work->Wait();
    if (!status.ok()) return Failed(departure.send, status);
  }
  return Reap();
}

absl::Status PipelineStreams::Failed(const Action& message,
                                     const absl::Status& status) const {
  const int other = OtherStage(message);
  const bool sent = message.kind == ActionKind::kSendForward ||
                    message.kind == ActionKind::kSendBackward;
  const std::string cause = FirstCause(std::string(status.message()));
  return absl::Status(
      status.code(),
      absl::StrCat(
          "stage ", message.stage, " on rank ",
          channels_.WorldRank(shape_.RankOf(message.stage)),
          sent ? " sends" : " waits for", " the ",
          IsForward(message.kind) ? "activations" : "gradient",
          " of micro-batch ", message.micro_batch, sent ? " to" : " from",
          " stage ", other, " on rank ",
          channels_.WorldRank(shape_.RankOf(other)),
          cause == status.message() ? ": " : ", but the pipeline broke: ",
          cause));
}

}  // namespace muster
