#ifndef MUSTER_STORE_SERVER_STORE_HUB_H_
#define MUSTER_STORE_SERVER_STORE_HUB_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/core/store_effects.h"
#include "store/server/bounded_notices.h"
#include "store/server/buffer_budget.h"
#include "store/server/channel_table.h"
#include "store/server/connection_table.h"
#include "store/server/hub_events.h"
#include "store/server/request_intake.h"
#include "store/server/send_crew.h"
#include "store/server/store_acceptor.h"
#include "store/server/store_connection.h"
#include "store/server/store_service.h"
#include "store/server/tick_timer.h"

namespace muster::store {

struct StoreHubOptions {
  using Relays = RequestIntake::Relays;

  // A non-blocking, listening socket.
  OwnedFd listener;
  // A non-blocking, connected socket, or none. Receives the effects for
  // kUpstreamClient.
  OwnedFd upstream;
  Relays relays = Relays::kTaken;
  size_t max_connections = 0;
  // Limit of all buffers in bytes, and how long clients that do not read may
  // delay the others: see BufferBudget.
  size_t max_buffer_bytes = 0;
  Duration patience = std::chrono::seconds(5);
  // Interval of the service's ticks.
  std::chrono::milliseconds tick = std::chrono::seconds(1);
  // As StoreServerOptions::on_notice.
  std::function<void(const std::string&)> on_notice;
};

// The client id in a relay's effects that means the upstream connection.
inline constexpr StoreClientId kUpstreamClient = 0;

// The sockets of a store: accepts connections, reads, passes whole requests to
// the service and sends its replies. Runs on one thread; when many clients are
// sent data at once, other threads help to send. All buffers are bounded:
// - A connection that does not read its replies is not read from.
// - While the unread replies of all connections exceed a limit, no connection
//   is read from; they resume one by one in FIFO order as room becomes free.
//   Clients that delay the others by not reading are closed.
// - If all buffers together are too large, the connection with the largest ones
//   is closed.
// - Beyond max_connections, or without free descriptors, new connections wait
//   in the kernel's backlog until others end.
class StoreHub {
 public:
  StoreHub(StoreHubOptions options, StoreService* service);
  StoreHub(const StoreHub&) = delete;
  StoreHub& operator=(const StoreHub&) = delete;

  // Must be called once, before Run. ResourceExhausted: no descriptors are
  // left.
  absl::Status Prepare();

  // Serves until Stop is called or the upstream is lost. The loss is returned
  // as an error, unless there were clients and all of them have left. All
  // sockets are closed on return.
  absl::Status Run();

  // May be called from any thread.
  void Stop();

  // These must be called on Run's thread.
  size_t connections() const { return connections_.size(); }
  void Notice(const std::string& sentence) { notices_.Say(sentence); }

 private:
  using Role = StoreConnection::Role;

  // The time after which the loop must wake up without an event; nullopt:
  // never.
  std::optional<std::chrono::milliseconds> LongestPause() const;
  void TickService();
  void HandleEvent(uint64_t id, uint32_t events);
  void Accept();
  void Admit(OwnedFd socket, Role role);

  // Handles a connection that has data to read, or makes it wait.
  void OnReadable(StoreConnection& connection);
  void Read(StoreConnection& connection);
  // Passes on the requests in `bytes` as far as allowed; returns the number of
  // bytes used.
  size_t Process(StoreConnection& connection, std::string_view bytes);
  // Does the same with the bytes in connection.in.
  void ProcessHeld(StoreConnection& connection);
  // Whether the connection's requests must wait for a reason of its own or for
  // the upstream. Sending its next reply, or ResumeStalled, resumes it.
  bool MustStall(const StoreConnection& connection);
  // Resumes a stalled connection as far as allowed.
  void GoOn(StoreConnection& connection);
  // Whether new requests must wait, because others are waiting for the buffer
  // budget already.
  bool RequestsWait() const {
    return budget_.RequestsWait() || !queue_.empty();
  }
  // Stalls the connection until the buffer budget has room and its turn has
  // come.
  void Enqueue(StoreConnection& connection);
  // Resumes the first connection of queue_.
  void ResumeNext();

  // Carries out the effects of the service's last step.
  void Deliver();
  void DeliverToChannel(const StoreEffects::Effect& effect);
  void Send(StoreConnection& connection);
  void SendToMany(std::span<const StoreClientId> ids);
  void Sent(StoreConnection& connection, size_t count);
  // Tells the service which clients are gone.
  void ForgetGone();
  // Called after each event: closes, notifies and sends until nothing is left
  // to do.
  void Settle();
  void Flush(StoreConnection& connection);
  // Resumes the connections that were stalled because of the upstream.
  void ResumeStalled();

  void End(StoreConnection& connection);
  void Refuse(StoreConnection& connection, std::string_view reason);
  // Close connections because the budget is full (EndLargest) or overdue.
  void EndLargest();
  void EndWhoDoNotRead();
  void Destroy(StoreClientId id);
  StoreConnection* Find(StoreClientId id);
  void Watch(StoreConnection& connection);
  void Charge(StoreConnection& connection);

  StoreHubOptions options_;
  StoreService* const service_;
  StoreAcceptor acceptor_;
  HubEvents events_;
  absl::Status failure_;

  ConnectionTable connections_;
  ChannelTable channels_;
  RequestIntake intake_;
  BufferBudget budget_;
  SendCrew crew_;
  StoreConnection* upstream_ = nullptr;
  // The connection whose bytes the service is handling.
  const StoreConnection* processed_ = nullptr;
  // FIFO of the connections that are paused because the buffer budget is spent.
  // May contain ids of closed connections.
  std::deque<StoreClientId> queue_;
  // Whether there ever were clients; whether all had left before the upstream.
  bool had_clients_ = false;
  bool outlived_clients_ = false;
  // Whether connections may be stalled because of the upstream.
  bool upstream_was_full_ = false;

  // To be handled before the next event.
  std::vector<StoreClientId> ending_;
  std::vector<StoreClientId> gone_;
  std::vector<StoreClientId> flushing_;

  // The time of the next attempt to accept while new connections wait.
  Instant next_accept_;
  // The timer of the service's ticks.
  TickTimer ticks_;
  BoundedNotices notices_;
  // Reused for each step, so that a step allocates nothing.
  StoreEffects effects_;
  std::string scratch_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_HUB_H_
