#include "store/testing/simulated_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/little_endian.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Returns a random number below `bound`. Uses a plain remainder: with a
// distribution of the standard library, one seed would give different sequences
// on different platforms.
size_t Below(size_t bound, std::mt19937* random) { return (*random)() % bound; }

}  // namespace

void RandomClient::Send(StoreCommand command, std::string_view key) {
  StoreRequest request{.command = command, .key = key, .value = "v"};
  if (command == StoreCommand::kWait) request.keys = keys_;
  store_->Send(id_, request);
  silent_ = false;
}

void RandomClient::Leave(SimulatedStore::Unread unread) {
  if (gone()) return;
  state_ = State::kGone;
  store_->Disconnect(id_, unread);
}

bool RandomClient::GoOn() {
  if (state_ != State::kTold) return false;
  state_ = State::kPops;
  Send(StoreCommand::kQueuePop, keys_[0]);
  return true;
}

void RandomClient::GiveUpBy(State state, StoreCommand command,
                            std::string_view key) {
  state_ = state;
  gave_up_ = true;
  Send(command, key);
}

void RandomClient::Wait(std::vector<std::string_view> keys) {
  keys_ = std::move(keys);
  state_ = State::kWaits;
  Send(StoreCommand::kWait, "");
}

void RandomClient::Act(std::mt19937* random) {
  const bool may_end = state_ == State::kIdle || state_ == State::kWaits ||
                       state_ == State::kTold;
  if (may_end && Below(24, random) == 0) {
    // The client disconnects. Choose at random whether its requests in flight
    // still arrive at the store or are lost.
    return Leave(Below(2, random) == 0 ? SimulatedStore::Unread::kArrives
                                       : SimulatedStore::Unread::kIsLost);
  }
  if (GoOn()) return;
  if (state_ == State::kIdle) return Begin(random);
  if (state_ != State::kWaits || Below(24, random) != 0) return;
  // The client gives up its wait with CANCEL_WAIT. The old framing has no such
  // command; there, another request gives up the wait.
  if (framing_ == StoreFraming::kModern) {
    GiveUpBy(State::kCancels, StoreCommand::kCancelWait, "");
  } else {
    GiveUpBy(State::kAsks, StoreCommand::kGet, "k");
  }
}

void RandomClient::Begin(std::mt19937* random) {
  const std::string_view queue = Below(3, random) == 0 ? "r" : "q";
  const bool modern = framing_ == StoreFraming::kModern;
  const size_t choice = Below(22, random);
  waits_to_pop_ = modern && choice < 6;
  if (choice < 7) {
    Wait({queue});
  } else if (choice == 7) {
    Wait({queue, "k"});
  } else if (choice == 8) {
    Wait({"r", "q", "r"});
  } else if (choice == 9) {
    Wait({"k"});
  } else if (choice < 15) {
    // Push only to a short queue, so that clients have to wait for elements.
    if (modern && store_->LengthOf(queue) < 4) {
      Send(StoreCommand::kQueuePush, queue);
    }
  } else if (choice < 17) {
    Send(StoreCommand::kSet, "k");
  } else if (choice < 20) {
    state_ = State::kAsks;
    Send(choice == 17 ? StoreCommand::kDelete : StoreCommand::kGet, "k");
  } else if (choice == 20 && modern && told_ == Told::kMayFindNothing) {
    state_ = State::kPops;
    Send(StoreCommand::kQueuePop, queue);
  }
}

bool RandomClient::Read() {
  if (gone()) return false;
  const std::optional<SimulatedStore::Input> input = store_->Read(id_);
  if (!input) return false;
  if (input->refused) {
    ++tally_->refused;
    Leave(SimulatedStore::Unread::kIsLost);
    return true;
  }
  const std::string_view reply = input->bytes;
  if (reply.size() == 1 && reply[0] == kStoreStopWaiting) {
    EXPECT_TRUE(state_ == State::kWaits || gave_up_)
        << "client " << id_ << " is told twice";
    if (state_ == State::kWaits) {
      state_ = waits_to_pop_ ? State::kTold : State::kIdle;
      silent_ = true;
    }
    gave_up_ = false;
    return true;
  }
  if (state_ == State::kPops) {
    ReadElement(reply);
  } else if (state_ == State::kCancels) {
    EXPECT_EQ(reply, std::string(1, kStoreWaitCanceled));
    ++tally_->canceled;
  } else {
    EXPECT_EQ(static_cast<int>(state_), static_cast<int>(State::kAsks))
        << "client " << id_ << " did not ask";
  }
  state_ = State::kIdle;
  gave_up_ = false;
  return true;
}

void RandomClient::ReadElement(std::string_view reply) {
  const bool found = ReadInteger<int64_t>(reply) > 0;
  ++(found ? tally_->found : tally_->found_nothing);
  EXPECT_TRUE(found || told_ == Told::kMayFindNothing)
      << "client " << id_ << " was told of an element that is not there";
}

bool RandomClient::WaitsFor(std::string_view key) const {
  return state_ == State::kWaits && keys_ == std::vector<std::string_view>{key};
}

bool RandomClient::MayHold(std::string_view queue) const {
  return !gone() && silent_ &&
         std::find(keys_.begin(), keys_.end(), queue) != keys_.end();
}

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
    // As in StoreServer, any request of a client with the old framing ends the
    // client's wait.
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
  // Asks the store core itself for the length of the queue, under the client id
  // kObserver that no other client has.
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
