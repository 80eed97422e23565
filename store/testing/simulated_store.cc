#include "store/testing/simulated_store.h"

#include <utility>

#include "base/check.h"
#include "base/little_endian.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request_parser.h"

namespace muster::store {
namespace {

constexpr StoreClientId kUpstream = 0;
constexpr StoreClientId kObserver = 0;
constexpr size_t kMaxFrameBytes = size_t{1} << 20;
constexpr size_t kRelayBytes = size_t{1} << 30;

using Kind = StoreEffects::Kind;

// Parses one whole frame, as written by RelayCore or AppendRelayFrame.
RelayFrame FrameIn(std::string_view bytes) {
  RelayFrame frame;
  const auto length = ParseRelayFrame(bytes, kMaxFrameBytes, &frame);
  MUSTER_CHECK(length.ok() && *length == bytes.size());
  return frame;
}

// Parses one whole request; the result has views into `bytes`.
StoreRequest RequestIn(std::string_view bytes) {
  StoreRequest request;
  const auto length =
      RequestParser(StoreFraming::kModern).Parse(bytes, &request);
  MUSTER_CHECK(length.ok() && *length == bytes.size());
  return request;
}

std::string TakeFront(std::deque<std::string>* queue) {
  std::string front = std::move(queue->front());
  queue->pop_front();
  return front;
}

}  // namespace

SimulatedStore::SimulatedStore(size_t relays, size_t max_store_bytes)
    : store_(max_store_bytes) {
  for (size_t relay = 0; relay < relays; ++relay) {
    relays_.push_back(
        {.core = RelayCore(kUpstream, {.held_bytes = kRelayBytes,
                                       .fan_out_bytes = kRelayBytes})});
    relays_.back().at_server.id = relay;
  }
}

StoreClientId SimulatedStore::Connect(std::optional<size_t> relay,
                                      StoreFraming framing) {
  const StoreClientId client = next_client_++;
  clients_.emplace(client, Client{.relay = relay, .framing = framing});
  return client;
}

void SimulatedStore::Send(StoreClientId client, const StoreRequest& request) {
  AppendRequest(request, &clients_.at(client).requests.emplace_back());
}

std::optional<SimulatedStore::Input> SimulatedStore::Read(
    StoreClientId client) {
  std::deque<Input>& replies = clients_.at(client).replies;
  if (replies.empty()) return std::nullopt;
  Input input = std::move(replies.front());
  replies.pop_front();
  return input;
}

void SimulatedStore::Disconnect(StoreClientId client, Unread unread) {
  Client& state = clients_.at(client);
  state.connected = false;
  if (unread == Unread::kIsLost) state.requests.clear();
  if (!state.served) clients_.erase(client);
}

bool SimulatedStore::DeliverRequest(StoreClientId client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || !found->second.served) return false;
  Client& state = found->second;
  const std::optional<size_t> relay = state.relay;
  const bool busy = relay && relays_[*relay].core.Busy(client);
  if (busy || state.requests.empty()) {
    if (state.connected) return false;
    clients_.erase(found);
    if (relay) {
      relays_[*relay].gone.push_back(client);
      SettleRelay(*relay);
    } else {
      gone_.push_back(client);
      SettleServer();
    }
    return true;
  }
  const std::string bytes = TakeFront(&state.requests);
  const StoreRequest request = RequestIn(bytes);
  const StoreFraming framing = state.framing;
  if (relay) {
    AtRelay(*relay, [&](StoreEffects* effects) {
      relays_[*relay].core.OnRequest(client, framing, request, effects);
    });
    SettleRelay(*relay);
    return true;
  }
  AtServer([&](StoreEffects* effects) {
    // StoreServer drops the wait of an old client in the same way.
    if (framing == StoreFraming::kOld) store_.DropWait(client, effects);
    store_.Apply(client, request, effects);
  });
  SettleServer();
  return true;
}

bool SimulatedStore::DeliverToServer(size_t relay, size_t max_frames) {
  std::deque<std::string>& frames = relays_[relay].to_server;
  if (frames.empty()) return false;
  for (size_t i = 0; i < max_frames && !frames.empty(); ++i) {
    TakeFrame(relay, TakeFront(&frames));
    SettleServer();
  }
  return true;
}

void SimulatedStore::TakeFrame(size_t relay, const std::string& bytes) {
  const RelayFrame frame = FrameIn(bytes);
  StoreConnection& connection = relays_[relay].at_server;
  if (frame.kind == RelayFrameKind::kGone) {
    channels_.End(connection, frame.channel, &gone_);
    return;
  }
  const StoreRequest request = RequestIn(frame.bytes);
  const auto client = channels_.ClientOf(connection, frame.channel);
  MUSTER_CHECK(client.ok());
  AtServer(
      [&](StoreEffects* effects) { store_.Apply(*client, request, effects); });
}

bool SimulatedStore::DeliverToRelay(size_t relay) {
  std::deque<std::string>& frames = relays_[relay].to_relay;
  if (frames.empty()) return false;
  const std::string bytes = TakeFront(&frames);
  AtRelay(relay, [&](StoreEffects* effects) {
    relays_[relay].core.OnFrame(FrameIn(bytes), effects);
  });
  SettleRelay(relay);
  return true;
}

void SimulatedStore::AgeOffers() {
  AtServer([&](StoreEffects* effects) { store_.AgeOffers(effects); });
}

int64_t SimulatedStore::LengthOf(std::string_view queue) {
  StoreEffects effects;
  // A request of no simulated client, handled at once.
  store_.Apply(kObserver, {.command = StoreCommand::kQueueLen, .key = queue},
               &effects);
  return ReadInteger<int64_t>(effects.BytesOf(effects.All().at(0)));
}

void SimulatedStore::AtServer(const Step& step) {
  StoreEffects effects;
  step(&effects);
  for (const auto& effect : effects.All()) {
    const std::string_view bytes = effects.BytesOf(effect);
    if (ChannelTable::IsChannel(effect.client)) {
      SendToRelay(effect, bytes);
    } else {
      SendToClient(effect, bytes, &gone_);
    }
  }
}

void SimulatedStore::AtRelay(size_t relay, const Step& step) {
  StoreEffects effects;
  step(&effects);
  for (const auto& effect : effects.All()) {
    const std::string_view bytes = effects.BytesOf(effect);
    if (effect.client == kUpstream) {
      relays_[relay].to_server.emplace_back(bytes);
    } else {
      SendToClient(effect, bytes, &relays_[relay].gone);
    }
  }
}

void SimulatedStore::SettleServer() {
  while (!gone_.empty()) {
    const StoreClientId client = gone_.back();
    gone_.pop_back();
    AtServer([&](StoreEffects* effects) { store_.Forget(client, effects); });
  }
}

void SimulatedStore::SettleRelay(size_t relay) {
  std::vector<StoreClientId>& gone = relays_[relay].gone;
  while (!gone.empty()) {
    const StoreClientId client = gone.back();
    gone.pop_back();
    AtRelay(relay, [&](StoreEffects* effects) {
      relays_[relay].core.OnGone(client, effects);
    });
  }
}

void SimulatedStore::SendToRelay(const StoreEffects::Effect& effect,
                                 std::string_view bytes) {
  const ChannelTable::Place* place = channels_.Find(effect.client);
  if (place == nullptr) return;
  Relay& relay = relays_[place->connection];
  RelayFrame frame{.channel = place->channel, .bytes = bytes};
  if (effect.kind == Kind::kReplyToOne) {
    frame.kind = RelayFrameKind::kMessageForOne;
  } else if (effect.kind == Kind::kClose) {
    frame.kind = RelayFrameKind::kGone;
  }
  AppendRelayFrame(frame, &relay.to_relay.emplace_back());
  if (frame.kind == RelayFrameKind::kGone) {
    channels_.End(relay.at_server, frame.channel, &gone_);
  }
}

void SimulatedStore::SendToClient(const StoreEffects::Effect& effect,
                                  std::string_view bytes,
                                  std::vector<StoreClientId>* gone) {
  const auto found = clients_.find(effect.client);
  if (found == clients_.end() || !found->second.served) return;
  Client& client = found->second;
  const bool refused = effect.kind == Kind::kClose;
  client.replies.push_back({.refused = refused, .bytes = std::string(bytes)});
  if (!refused) return;
  gone->push_back(effect.client);
  client.served = false;
  if (!client.connected) clients_.erase(found);
}

}  // namespace muster::store
