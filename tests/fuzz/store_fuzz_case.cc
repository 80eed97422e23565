// Fuzzes a store core, directly and through a relay core. Four clients send
// pieces of `input`, which also determines their order and sizes. Aborts if an
// invariant is broken: memory is bounded and freed, disconnected clients get no
// replies, and each reply answers a request of its client.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "base/check.h"
#include "store/core/store_core.h"
#include "store/relay/relay_core.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

constexpr size_t kMaxStoreBytes = 1 << 16;
// Number of bytes by which the store may exceed its memory limit before it
// refuses a request.
constexpr size_t kSlack = 1 << 12;
constexpr size_t kMaxHeldBytes = 1 << 14;
constexpr store::StoreClientId kUpstream = 0;
constexpr size_t kClients = 4;

// A store core and a relay core in front of it, without sockets: queues carry
// the frames between them.
class World {
 public:
  World()
      : core_(kMaxStoreBytes),
        relay_(kUpstream, {.held_bytes = kMaxHeldBytes, .fan_out_bytes = 20}) {}

  // Clients 1 and 2 are connected to the store itself, clients 3 and 4 to the
  // relay.
  static bool Relayed(store::StoreClientId client) { return client > 2; }

  void Admit(store::StoreClientId client) { present_.insert(client); }
  bool MayAsk(store::StoreClientId client) const {
    return present_.contains(client) && !relay_.Busy(client);
  }

  void Ask(store::StoreClientId client, store::StoreFraming framing,
           const store::StoreRequest& request) {
    if (request.command == store::StoreCommand::kRelay) return Leave(client);
    store::StoreEffects effects;
    if (Relayed(client)) {
      relay_.OnRequest(client, framing, request, &effects);
      FromRelay(&effects);
    } else {
      if (framing == store::StoreFraming::kOld)
        core_.DropWait(client, &effects);
      core_.Apply(client, request, &effects);
      FromCore(&effects);
    }
    Settle();
  }

  void Leave(store::StoreClientId client) {
    if (present_.erase(client) == 0) return;
    store::StoreEffects effects;
    if (Relayed(client)) {
      relay_.OnGone(client, &effects);
      FromRelay(&effects);
    } else {
      core_.Forget(client, &effects);
      FromCore(&effects);
    }
    Settle();
  }

  // Disconnects all clients. Then no client may be waiting in the store core,
  // and the relay core must have freed its buffers.
  void Finish() {
    for (store::StoreClientId client = 1; client <= kClients; ++client)
      Leave(client);
    MUSTER_CHECK(core_.waiting() == 0);
    MUSTER_CHECK(relay_.held_bytes() == 0) << relay_.held_bytes();
  }

 private:
  static constexpr store::StoreClientId kChannels = 1000;

  void FromCore(store::StoreEffects* effects) {
    for (const store::StoreEffects::Effect& effect : effects->All()) {
      const std::string bytes(effects->BytesOf(effect));
      const bool close = effect.kind == store::StoreEffects::Kind::kClose;
      MUSTER_CHECK(close || !bytes.empty());
      if (effect.client < kChannels) {
        if (close) leaving_.push_back(effect.client);
        continue;
      }
      store::RelayFrameKind kind = store::RelayFrameKind::kMessage;
      if (effect.kind == store::StoreEffects::Kind::kReplyToOne) {
        kind = store::RelayFrameKind::kMessageForOne;
      }
      if (close) kind = store::RelayFrameKind::kGone;
      downward_.push_back(
          {static_cast<uint32_t>(effect.client - kChannels), kind, bytes});
    }
    MUSTER_CHECK(core_.bytes() <= kMaxStoreBytes + kSlack) << core_.bytes();
  }

  void FromRelay(store::StoreEffects* effects) {
    for (const store::StoreEffects::Effect& effect : effects->All()) {
      const std::string_view bytes = effects->BytesOf(effect);
      if (effect.client == kUpstream) {
        store::RelayFrame frame;
        MUSTER_CHECK(*store::ParseRelayFrame(bytes, bytes.size(), &frame) ==
                     bytes.size());
        upward_.push_back(
            {frame.channel, frame.kind, std::string(frame.bytes)});
      } else if (effect.kind == store::StoreEffects::Kind::kClose) {
        leaving_.push_back(effect.client);
      } else {
        MUSTER_CHECK(
            present_.contains(effect.client) ||
            std::count(leaving_.begin(), leaving_.end(), effect.client) > 0);
      }
    }
    MUSTER_CHECK(relay_.held_bytes() <= kMaxHeldBytes);
  }

  void Settle() {
    while (!upward_.empty() || !downward_.empty() || !leaving_.empty()) {
      store::StoreEffects effects;
      if (!upward_.empty()) {
        const Message message = upward_.front();
        upward_.pop_front();
        const store::StoreClientId client = kChannels + message.channel;
        if (message.kind == store::RelayFrameKind::kGone) {
          core_.Forget(client, &effects);
        } else {
          store::RequestParser parser(store::StoreFraming::kModern);
          store::StoreRequest request;
          const auto length = parser.Parse(message.bytes, &request);
          MUSTER_CHECK(length.ok() && *length == message.bytes.size());
          core_.Apply(client, request, &effects);
        }
        FromCore(&effects);
      } else if (!downward_.empty()) {
        const Message message = downward_.front();
        downward_.pop_front();
        if (message.kind == store::RelayFrameKind::kGone) {
          core_.Forget(kChannels + message.channel, &effects);
          FromCore(&effects);
          effects.Clear();
        }
        relay_.OnFrame({.channel = message.channel,
                        .kind = message.kind,
                        .bytes = message.bytes},
                       &effects);
        FromRelay(&effects);
      } else {
        const store::StoreClientId client = leaving_.front();
        leaving_.pop_front();
        if (present_.erase(client) == 0) continue;
        if (Relayed(client)) {
          relay_.OnGone(client, &effects);
          FromRelay(&effects);
        } else {
          core_.Forget(client, &effects);
          FromCore(&effects);
        }
      }
    }
  }

  struct Message {
    uint32_t channel;
    store::RelayFrameKind kind;
    std::string bytes;
  };

  store::StoreCore core_;
  store::RelayCore relay_;
  std::set<store::StoreClientId> present_;
  std::deque<Message> upward_;
  std::deque<Message> downward_;
  std::deque<store::StoreClientId> leaving_;
};

struct Client {
  store::RequestParser parser;
  std::string received;
};

}  // namespace

void RunFuzzCase(std::string_view input) {
  World world;
  std::array<Client, kClients + 1> clients;
  for (store::StoreClientId client = 1; client <= kClients; ++client) {
    world.Admit(client);
  }
  store::StoreRequest request;
  while (input.size() >= 2) {
    // A turn takes two bytes of the input. The first one selects the client;
    // one in 64 of its values also disconnects the client. The second one is
    // the number of bytes that the client sends.
    const auto turn = static_cast<uint8_t>(input[0]);
    const size_t size =
        std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    const store::StoreClientId id = 1 + turn % kClients;
    Client& client = clients[id];
    client.received.append(input.substr(2, size));
    input.remove_prefix(2 + size);
    if (turn / kClients == 63) world.Leave(id);
    while (world.MayAsk(id)) {
      const auto length = client.parser.Parse(client.received, &request);
      if (!length.ok()) {
        world.Leave(id);
        break;
      }
      if (*length == 0) break;
      MUSTER_CHECK(*length <= client.received.size());
      world.Ask(id, client.parser.framing(), request);
      client.received.erase(0, *length);
    }
  }
  world.Finish();
}

}  // namespace muster
