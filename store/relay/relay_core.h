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
#include "store/wire/command.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster {

// A relay without its sockets: which frames go upstream for what the local
// clients ask, and whom what comes back is for. Pure.
//
// Each client has a channel of its own upstream, for everything that changes
// the store or counts who asks. Equal waits share a channel, equal reads
// likewise:
//  - a wait that is under way takes in who comes later;
//  - a read does not, for it may have been answered before the later one was
//    asked. Those that come meanwhile go together as the next one.
class RelayCore {
 public:
  struct Limits {
    // What is remembered of waits and reads under way.
    size_t held_bytes;
    // What one answer to many readers may come to, unless it is for one. Those
    // beyond it go together as the next read.
    size_t fan_out_bytes;
  };

  // `upstream`: the client id that frames are addressed to.
  RelayCore(StoreClientId upstream, Limits limits)
      : upstream_(upstream), limits_(limits) {}

  // A request of a client that is not Busy.
  void OnRequest(StoreClientId client, StoreFraming framing,
                 const StoreRequest& request, StoreEffects* effects);
  // The client's connection ended.
  void OnGone(StoreClientId client, StoreEffects* effects);
  // A frame from upstream.
  void OnFrame(const RelayFrame& frame, StoreEffects* effects);

  // Whether the client's last request was not answered yet; its next ones must
  // wait, or answers could overtake each other. Waits and barriers aside.
  bool Busy(StoreClientId client) const { return busy_.contains(client); }

  // Channels in use or kept for the next use.
  size_t channels() const { return uses_.size() + idle_channels_.size(); }
  size_t held_bytes() const { return held_bytes_; }

 private:
  // Clients whose equal waits are one upstream, in the order they came; kept
  // while anybody waits.
  struct Waits {
    uint32_t channel = 0;
    std::deque<StoreClientId> clients;
  };
  // Clients whose equal reads are one upstream.
  struct Reads {
    uint32_t channel = 0;
    std::vector<StoreClientId> asked;
    std::vector<StoreClientId> next;
  };
  // By the request's bytes.
  using WaitsByRequest = std::map<std::string, Waits>;
  using ReadsByRequest = std::map<std::string, Reads>;

  // What a channel is for: one of the four.
  struct Use {
    std::optional<StoreClientId> client;
    std::optional<WaitsByRequest::iterator> waits;
    std::optional<ReadsByRequest::iterator> reads;
    // Whom a queue's element was offered to, through this channel.
    std::optional<StoreClientId> offered;
  };

  void JoinWait(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  // The client waits no more. Whether it did.
  bool LeaveWait(StoreClientId client, StoreEffects* effects);
  void JoinRead(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void PassOn(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  // The client, if it was offered an element, has asked for something or is
  // gone: upstream may offer to others what it did not take.
  void SettleOffer(StoreClientId client, StoreEffects* effects);

  void End(WaitsByRequest::iterator waits);
  void WaitsReplied(WaitsByRequest::iterator waits, const RelayFrame& frame,
                    StoreEffects* effects);
  void ReadsReplied(ReadsByRequest::iterator reads, const RelayFrame& frame,
                    StoreEffects* effects);
  // Ends what a channel was for, and its clients, because upstream says so.
  void Refused(const Use& use, const RelayFrame& frame, StoreEffects* effects);

  // Whether so much more may be remembered; closes the client where not.
  bool MayHold(StoreClientId client, size_t bytes, StoreEffects* effects);
  uint32_t TakeChannel(Use use);
  // Upstream has nothing of this channel any more: it can serve again.
  void Rest(uint32_t channel);
  // Upstream is told to forget the channel; its number is not used again, for
  // a reply may be under way.
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
  // Where a client waits, the channel it was offered an element through, and
  // its own channel.
  std::map<StoreClientId, WaitsByRequest::iterator> waiting_;
  std::map<StoreClientId, uint32_t> offers_;
  std::map<StoreClientId, uint32_t> own_channels_;
  std::set<StoreClientId> busy_;
};

}  // namespace muster

#endif  // MUSTER_STORE_RELAY_RELAY_CORE_H_
