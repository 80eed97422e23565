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

namespace muster {

struct StoreHubOptions {
  using Relays = RequestIntake::Relays;

  // Non-blocking, listening.
  OwnedFd listener;
  // Non-blocking, connected, or none: what is said to kUpstreamClient goes
  // there.
  OwnedFd upstream;
  Relays relays = Relays::kTaken;
  size_t max_connections = 0;
  // What connections may hold, and how long those who do not read may keep
  // the others waiting: see BufferBudget.
  size_t max_buffer_bytes = 0;
  Duration patience = std::chrono::seconds(5);
  // Between two of the service's ticks.
  std::chrono::milliseconds tick = std::chrono::seconds(1);
  // As StoreServerOptions::on_notice.
  std::function<void(const std::string&)> on_notice;
};

// The one that a relay's effects name for what goes upstream.
inline constexpr StoreClientId kUpstreamClient = 0;

// The sockets of a store: accepts, reads, hands whole requests to its service,
// and sends what that says. One thread runs it; where many are to be sent
// something at once, others help it. What it holds for others is
// bounded:
//  - a connection whose replies are not read is not read from either;
//  - nobody is, one after another as room comes, while the unread replies of
//    all are too many; whoever keeps the others waiting by not reading is
//    ended;
//  - whoever holds most is ended when all buffers together are too large;
//  - beyond max_connections, or out of descriptors, new ones wait in the
//    kernel's backlog until others end.
class StoreHub {
 public:
  StoreHub(StoreHubOptions options, StoreService* service);
  StoreHub(const StoreHub&) = delete;
  StoreHub& operator=(const StoreHub&) = delete;

  // Once, before Run. ResourceExhausted: no descriptors are left.
  absl::Status Prepare();

  // Serves until Stop, or until the upstream is lost, which is the error unless
  // clients had come and all of them have left. All sockets are closed when it
  // returns.
  absl::Status Run();

  // From any thread.
  void Stop();

  // From Run's thread.
  size_t connections() const { return connections_.size(); }
  void Notice(const std::string& sentence) { notices_.Say(sentence); }

 private:
  using Role = StoreConnection::Role;

  // How long nothing may happen until something is to be looked at.
  std::optional<std::chrono::milliseconds> LongestPause() const;
  void TickService();
  void HandleEvent(uint64_t id, uint32_t events);
  void Accept();
  void Admit(OwnedFd socket, Role role);

  // It has something to be read, which may have to wait.
  void OnReadable(StoreConnection& connection);
  void Read(StoreConnection& connection);
  // Hands on the requests in `bytes`, as far as they may be; how many bytes
  // they took.
  size_t Process(StoreConnection& connection, std::string_view bytes);
  // Likewise what lies in its `in`.
  void ProcessHeld(StoreConnection& connection);
  // Whether the connection's requests have to wait for what only concerns it,
  // or for the upstream; its next reply or ResumeStalled lets it go on.
  bool MustStall(const StoreConnection& connection);
  // A stalled one goes on, as far as it may.
  void GoOn(StoreConnection& connection);
  // Whether nobody's requests may be looked at before those that wait already.
  bool RequestsWait() const {
    return budget_.RequestsWait() || !queue_.empty();
  }
  // Stalls it until the unread replies of all leave room and its turn has come.
  void Enqueue(StoreConnection& connection);
  // It is the next one's turn.
  void ResumeNext();

  // Does what the service said since the last time.
  void Deliver();
  void DeliverToChannel(const StoreEffects::Effect& effect);
  void Send(StoreConnection& connection);
  void SendToMany(std::span<const StoreClientId> ids);
  void Sent(StoreConnection& connection, size_t count);
  // Tells the service who is gone.
  void ForgetGone();
  // After an event: ends, tells and sends until nothing is left to do.
  void Settle();
  void Flush(StoreConnection& connection);
  // Lets those go on that stalled for the upstream's sake.
  void ResumeStalled();

  void End(StoreConnection& connection);
  void Refuse(StoreConnection& connection, std::string_view reason);
  // Ends somebody because the budget is full, or overdue.
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
  // Whose bytes the service is looking at.
  const StoreConnection* processed_ = nullptr;
  // Who stalls for what all hold, in the order they came. Some may be gone.
  std::deque<StoreClientId> queue_;
  // Whether any client ever came; whether they had left before the upstream.
  bool had_clients_ = false;
  bool outlived_clients_ = false;
  // Whether anybody may be stalled for the upstream's sake.
  bool upstream_was_full_ = false;

  // To be done before the next event is looked at.
  std::vector<StoreClientId> ending_;
  std::vector<StoreClientId> gone_;
  std::vector<StoreClientId> flushing_;

  // When to try again, while new connections wait.
  Instant next_accept_;
  // The service's, where it wants any.
  TickTimer ticks_;
  BoundedNotices notices_;
  // Used anew for each step, so that a step allocates nothing.
  StoreEffects effects_;
  std::string scratch_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_STORE_HUB_H_
