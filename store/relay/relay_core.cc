#include "store/relay/relay_core.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/little_endian.h"

namespace muster::store {
namespace {

// Approximate memory of a pending wait or read that several clients of the
// relay can share, in addition to the request's bytes.
constexpr size_t kBytesPerGroup = 512;

enum class Way { kHere, kWait, kRead, kPassedOn, kRefused };

Way WayOf(StoreCommand command) {
  switch (command) {
    case StoreCommand::kValidate:
    case StoreCommand::kPing:
      return Way::kHere;
    case StoreCommand::kWait:
      return Way::kWait;
    case StoreCommand::kGet:
    case StoreCommand::kCheck:
    case StoreCommand::kNumKeys:
    case StoreCommand::kMultiGet:
    case StoreCommand::kQueueLen:
    case StoreCommand::kListKeys:
      return Way::kRead;
    case StoreCommand::kSet:
    case StoreCommand::kCompareSet:
    case StoreCommand::kAdd:
    case StoreCommand::kDelete:
    case StoreCommand::kAppend:
    case StoreCommand::kMultiSet:
    case StoreCommand::kCancelWait:
    case StoreCommand::kQueuePush:
    case StoreCommand::kQueuePop:
    case StoreCommand::kBarrier:
      return Way::kPassedOn;
    case StoreCommand::kWatchKey:
    case StoreCommand::kRelay:
      return Way::kRefused;
  }
  return Way::kRefused;
}

// Whether the server replies to the request at once. If so, the client's next
// request must wait for the reply. False: the reply comes late (BARRIER), or
// the request has no reply.
bool AnsweredAtOnce(const StoreRequest& request) {
  if (request.command == StoreCommand::kBarrier) return false;
  if (request.command == StoreCommand::kMultiGet && request.keys.empty()) {
    return false;
  }
  return ReplyOf(request.command) != ReplyShape::kNone;
}

}  // namespace

void RelayCore::SendUpstream(uint32_t channel, std::string_view request,
                             StoreEffects* effects) {
  AppendRelayFrame({.channel = channel, .bytes = request},
                   effects->AddReply(upstream_));
}

uint32_t RelayCore::TakeChannel(Use use) {
  uint32_t channel;
  if (idle_channels_.empty()) {
    channel = next_channel_++;
  } else {
    channel = idle_channels_.back();
    idle_channels_.pop_back();
  }
  uses_[channel] = use;
  return channel;
}

void RelayCore::Rest(uint32_t channel) {
  uses_.erase(channel);
  idle_channels_.push_back(channel);
}

void RelayCore::Drop(uint32_t channel, StoreEffects* effects) {
  uses_.erase(channel);
  AppendRelayFrame({.channel = channel, .kind = RelayFrameKind::kGone},
                   effects->AddReply(upstream_));
}

bool RelayCore::MayHold(StoreClientId client, size_t bytes,
                        StoreEffects* effects) {
  if (held_bytes_ + kBytesPerGroup + bytes <= limits_.held_bytes) {
    held_bytes_ += kBytesPerGroup + bytes;
    return true;
  }
  effects->AddClose(client, "the relay remembers too many waits and reads");
  return false;
}

void RelayCore::JoinWait(StoreClientId client, const StoreRequest& request,
                         StoreEffects* effects) {
  std::string bytes;
  AppendRequest(request, &bytes);
  auto waits = waits_.find(bytes);
  if (waits == waits_.end()) {
    if (!MayHold(client, bytes.size(), effects)) return;
    waits = waits_.emplace(std::move(bytes), Waits()).first;
    waits->second.channel = TakeChannel({.waits = waits});
    SendUpstream(waits->second.channel, waits->first, effects);
  }
  waits->second.clients.push_back(client);
  waiting_[client] = waits;
}

bool RelayCore::LeaveWait(StoreClientId client, StoreEffects* effects) {
  const auto place = waiting_.find(client);
  if (place == waiting_.end()) return false;
  const auto waits = place->second;
  waiting_.erase(place);
  std::erase(waits->second.clients, client);
  if (waits->second.clients.empty()) {
    Drop(waits->second.channel, effects);
    End(waits);
  }
  return true;
}

void RelayCore::End(WaitsByRequest::iterator waits) {
  held_bytes_ -= kBytesPerGroup + waits->first.size();
  waits_.erase(waits);
}

void RelayCore::SettleOffer(StoreClientId client, StoreEffects* effects) {
  const auto offer = offers_.find(client);
  if (offer == offers_.end()) return;
  Drop(offer->second, effects);
  // Keep the channel for reuse. It has carried only one request, a WAIT for an
  // element of a queue. The reply to this WAIT has arrived, so no reply is in
  // flight on the channel.
  idle_channels_.push_back(offer->second);
  offers_.erase(offer);
}

void RelayCore::JoinRead(StoreClientId client, const StoreRequest& request,
                         StoreEffects* effects) {
  std::string bytes;
  AppendRequest(request, &bytes);
  auto reads = reads_.find(bytes);
  if (reads == reads_.end()) {
    if (!MayHold(client, bytes.size(), effects)) return;
    reads = reads_.emplace(std::move(bytes), Reads()).first;
    reads->second.channel = TakeChannel({.reads = reads});
    reads->second.asked.push_back(client);
    SendUpstream(reads->second.channel, reads->first, effects);
  } else {
    reads->second.next.push_back(client);
  }
  busy_.insert(client);
}

void RelayCore::PassOn(StoreClientId client, const StoreRequest& request,
                       StoreEffects* effects) {
  auto own = own_channels_.find(client);
  if (own == own_channels_.end()) {
    own = own_channels_.emplace(client, TakeChannel({.client = client})).first;
  }
  std::string bytes;
  AppendRequest(request, &bytes);
  SendUpstream(own->second, bytes, effects);
  if (AnsweredAtOnce(request)) busy_.insert(client);
}

void RelayCore::OnRequest(StoreClientId client, StoreFraming framing,
                          const StoreRequest& request, StoreEffects* effects) {
  MUSTER_CHECK(!Busy(client));
  const Way way = WayOf(request.command);
  // A new WAIT replaces the client's old one. In the old framing, which has no
  // command that cancels a wait, any request shows that the client has given up
  // its wait.
  const bool gives_up = way == Way::kWait || framing == StoreFraming::kOld;
  const bool cancels = request.command == StoreCommand::kCancelWait;
  const bool waited = (gives_up || cancels) && LeaveWait(client, effects);
  if (cancels && waited) {
    AppendInteger(kStoreWaitCanceled, effects->AddReply(client));
  } else if (way == Way::kWait) {
    JoinWait(client, request, effects);
  } else if (way == Way::kRead && AnsweredAtOnce(request)) {
    JoinRead(client, request, effects);
  } else if (way == Way::kPassedOn) {
    PassOn(client, request, effects);
  } else if (way == Way::kRefused) {
    effects->AddClose(
        client, std::string(CommandName(request.command)) + " is not relayed");
  } else if (request.command == StoreCommand::kPing) {
    AppendInteger(static_cast<uint32_t>(request.number),
                  effects->AddReply(client));
  }
  // End the client's old offer (the reservation of a queue element) only after
  // the request has been forwarded. If the request is the pop of this element,
  // the element must still be reserved when the server gets the request.
  SettleOffer(client, effects);
}

void RelayCore::OnGone(StoreClientId client, StoreEffects* effects) {
  LeaveWait(client, effects);
  const auto own = own_channels_.find(client);
  if (own != own_channels_.end()) {
    Drop(own->second, effects);
    own_channels_.erase(own);
  }
  SettleOffer(client, effects);
  // From here on, ReadsReplied skips this client, because it is not in busy_.
  // So a shared read that is still pending sends no reply to the client.
  busy_.erase(client);
}

void RelayCore::WaitsReplied(WaitsByRequest::iterator waits,
                             const RelayFrame& frame, StoreEffects* effects) {
  std::deque<StoreClientId>& clients = waits->second.clients;
  if (frame.kind == RelayFrameKind::kMessageForOne) {
    // Several clients wait for the same key and share this channel. The store
    // server has reserved a queue element for the channel. The relay offers it
    // to the first client, which from now on uses the channel alone. The other
    // clients need not wait until the first client has popped its element: the
    // relay sends a new WAIT for them on another channel.
    const StoreClientId first = clients.front();
    clients.pop_front();
    waiting_.erase(first);
    offers_[first] = frame.channel;
    uses_[frame.channel] = {.offered = first};
    effects->AddReply(first)->append(frame.bytes);
    if (clients.empty()) {
      End(waits);
    } else {
      waits->second.channel = TakeChannel({.waits = waits});
      SendUpstream(waits->second.channel, waits->first, effects);
    }
    return;
  }
  for (const StoreClientId client : clients) {
    waiting_.erase(client);
    effects->AddReply(client)->append(frame.bytes);
  }
  Rest(waits->second.channel);
  End(waits);
}

void RelayCore::ReadsReplied(ReadsByRequest::iterator reads,
                             const RelayFrame& frame, StoreEffects* effects) {
  std::vector<StoreClientId> left;
  size_t sent = 0;
  for (const StoreClientId client : reads->second.asked) {
    // If the client is not busy, skip it: it has disconnected since its
    // request.
    if (!Busy(client)) continue;
    if (sent > 0 && sent + frame.bytes.size() > limits_.fan_out_bytes) {
      left.push_back(client);
      continue;
    }
    sent += frame.bytes.size();
    busy_.erase(client);
    effects->AddReply(client)->append(frame.bytes);
  }
  for (const StoreClientId client : reads->second.next) {
    if (Busy(client)) left.push_back(client);
  }
  reads->second.asked = std::move(left);
  reads->second.next.clear();
  if (!reads->second.asked.empty()) {
    SendUpstream(reads->second.channel, reads->first, effects);
    return;
  }
  Rest(reads->second.channel);
  held_bytes_ -= kBytesPerGroup + reads->first.size();
  reads_.erase(reads);
}

void RelayCore::Refused(const Use& use, const RelayFrame& frame,
                        StoreEffects* effects) {
  if (use.client) {
    effects->AddClose(*use.client, frame.bytes);
    // The server has refused the client, and the relay closes the client's
    // connection now. The channel must be dropped: the relay may have forwarded
    // another request of the client after the server's refusal, and this
    // request has reopened the channel at the server.
    own_channels_.erase(*use.client);
    Drop(frame.channel, effects);
  }
  if (use.waits) {
    const auto waits = *use.waits;
    for (const StoreClientId client : waits->second.clients) {
      waiting_.erase(client);
      effects->AddClose(client, frame.bytes);
    }
    End(waits);
  }
  if (use.offered) offers_.erase(*use.offered);
  if (use.reads) {
    const auto reads = *use.reads;
    for (const auto* clients : {&reads->second.asked, &reads->second.next}) {
      for (const StoreClientId client : *clients) {
        if (Busy(client)) effects->AddClose(client, frame.bytes);
      }
    }
    held_bytes_ -= kBytesPerGroup + reads->first.size();
    reads_.erase(reads);
  }
}

void RelayCore::OnFrame(const RelayFrame& frame, StoreEffects* effects) {
  const auto found = uses_.find(frame.channel);
  // The relay has dropped this channel: the server sent this frame before it
  // received the relay's message that the channel has ended (kGone).
  if (found == uses_.end()) return;
  const Use use = found->second;
  if (frame.kind == RelayFrameKind::kGone) {
    uses_.erase(found);
    Refused(use, frame, effects);
  } else if (use.waits) {
    WaitsReplied(*use.waits, frame, effects);
  } else if (use.reads) {
    ReadsReplied(*use.reads, frame, effects);
  } else if (use.client) {
    busy_.erase(*use.client);
    effects->AddReply(*use.client)->append(frame.bytes);
  }
  // A frame on a channel with an offer (use.offered: a queue element that the
  // server has reserved for a client) is ignored, because the relay awaits no
  // reply on this channel.
}

}  // namespace muster::store
