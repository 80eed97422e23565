#ifndef MUSTER_STORE_RELAY_RELAY_CORE_H_
#define MUSTER_STORE_RELAY_RELAY_CORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "store/core/store_effects.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {

// A relay without its sockets: decides which frames go upstream for the
// requests of the local clients, and which clients get the answers. Pure.
//
// Each client has its own channel upstream, for requests that change the store
// or that depend on the client. Equal waits of several clients share one
// channel. Equal reads share one channel, too:
// - A client can join a pending wait of other clients.
// - A client cannot join a pending read, because the store may have answered
// this read before the client asked. Clients that ask during a pending read
// share the next read.
class RelayCore {
 public:
  struct Limits {
    // Limit, in bytes, of the memory for all pending waits and reads that
    // several clients can share (see RelayCore).
    size_t held_bytes;
    // Limit, in bytes, of all copies of the reply to one read that is sent to
    // the store for several clients: the reply's size times the number of
    // clients that get the reply. Further clients get the reply to the next
    // read. At least one client is always served.
    size_t fan_out_bytes;
  };

  // `upstream`: the client id by which StoreEffects addresses frames to the
  // store server (upstream).
  RelayCore(StoreClientId upstream, Limits limits)
      : upstream_(upstream), limits_(limits) {}

  // Handles a request of a client that is not Busy.
  void OnRequest(StoreClientId client, StoreFraming framing,
                 const StoreRequest& request, StoreEffects* effects);
  // Handles the end of the client's connection.
  void OnGone(StoreClientId client, StoreEffects* effects);
  // Handles a frame from the store's server, which is upstream of this relay.
  void OnFrame(const RelayFrame& frame, StoreEffects* effects);

  // Whether the reply to the client's last request is pending. False if that
  // request is a wait or a barrier. While the client is busy, its next request
  // must wait, because otherwise replies could overtake each other.
  bool Busy(StoreClientId client) const { return busy_.contains(client); }

  size_t held_bytes() const { return held_bytes_; }

 private:
  // The clients of one shared WAIT in FIFO order, and the channel that carries
  // this WAIT.
  struct Waits {
    uint32_t channel = 0;
    std::deque<StoreClientId> clients;
  };
  // The clients of one shared read. The clients in `asked` get the reply to the
  // pending read. The clients in `next` asked later, and get the reply to the
  // following read.
  struct Reads {
    uint32_t channel = 0;
    std::vector<StoreClientId> asked;
    std::vector<StoreClientId> next;
  };
  // Key: the encoded bytes of the request that several clients share.
  using WaitsByRequest = std::map<std::string, Waits>;
  using ReadsByRequest = std::map<std::string, Reads>;

  // The purpose of one of the relay's channels to the server: one client's own
  // requests, a shared WAIT, a shared read, or a queue's element that was
  // offered to a client. Exactly one member is set.
  struct Use {
    std::optional<StoreClientId> client;
    std::optional<WaitsByRequest::iterator> waits;
    std::optional<ReadsByRequest::iterator> reads;
    // The client to which a queue's element was offered through this channel.
    std::optional<StoreClientId> offered;
  };

  void JoinWait(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  // Ends the client's wait for keys. Returns false if the client did not wait.
  bool LeaveWait(StoreClientId client, StoreEffects* effects);
  void JoinRead(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void PassOn(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  // If a queue's element is offered to the client, ends the offer and the
  // channel that carries it. If the client has not popped the element, the
  // server then offers it to another client. Called after each request of a
  // client, and when a client has disconnected.
  void SettleOffer(StoreClientId client, StoreEffects* effects);

  void End(WaitsByRequest::iterator waits);
  void WaitsReplied(WaitsByRequest::iterator waits, const RelayFrame& frame,
                    StoreEffects* effects);
  void ReadsReplied(ReadsByRequest::iterator reads, const RelayFrame& frame,
                    StoreEffects* effects);
  // Ends the use of a channel that the server refused because of a protocol
  // violation. Closes the connections of the channel's clients.
  void Refused(const Use& use, const RelayFrame& frame, StoreEffects* effects);

  // Reserves `bytes` for a request that several clients may share until it is
  // answered. If the limit of such bytes (Limits::held_bytes) is reached,
  // closes the client's connection and returns false.
  bool MayHold(StoreClientId client, size_t bytes, StoreEffects* effects);
  uint32_t TakeChannel(Use use);
  // Keeps the channel for reuse. No request may be pending on the channel.
  void Rest(uint32_t channel);
  // Tells the server to forget `channel`, a numbered sequence of requests on
  // the relay's one connection to the server. The number is not kept for reuse,
  // because a reply may be in flight.
  void Drop(uint32_t channel, StoreEffects* effects);
  void SendUpstream(uint32_t channel, std::string_view request,
                    StoreEffects* effects);

  const StoreClientId upstream_;
  const Limits limits_;
  size_t held_bytes_ = 0;
  std::map<uint32_t, Use> uses_;
  std::vector<uint32_t> idle_channels_;
  uint32_t next_channel_ = 1;
  WaitsByRequest waits_;
  ReadsByRequest reads_;
  // For each client that waits for keys: the WAIT that it shares with others.
  std::map<StoreClientId, WaitsByRequest::iterator> waiting_;
  // For each client with an offer (a queue element that is reserved for the
  // client): the channel of the offer.
  std::map<StoreClientId, uint32_t> offers_;
  // The channels that one client uses alone.
  std::map<StoreClientId, uint32_t> own_channels_;
  std::set<StoreClientId> busy_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_RELAY_RELAY_CORE_H_
