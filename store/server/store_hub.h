#ifndef MUSTER_STORE_SERVER_STORE_HUB_H_
#define MUSTER_STORE_SERVER_STORE_HUB_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/address_set.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/core/store_effects.h"
#include "store/server/buffer_budget.h"
#include "store/server/hub_connections.h"
#include "store/server/hub_events.h"
#include "store/server/listening_socket.h"
#include "store/server/request_intake.h"
#include "store/server/store_connection.h"
#include "store/server/store_service.h"

namespace muster::store {

struct StoreHubOptions {
  using Relays = RequestIntake::Relays;

  // A non-blocking, listening socket.
  OwnedFd listener;
  // For a relay: a non-blocking socket that is connected to the store server
  // (the relay's upstream). The relay sends its clients' requests on it. For a
  // store server: not open.
  StreamSocket upstream;
  Relays relays = Relays::kTaken;
  // Client addresses from which connections are accepted. A connection from any
  // other address is closed before anything is read from it.
  AddressSet clients = AddressSet::Loopback();
  // The TLS key of the server; nullopt: no encryption. With a key, only the
  // addresses in `clear_text_clients` may connect without encryption.
  std::optional<TlsContext> tls;
  AddressSet clear_text_clients = AddressSet::Loopback();
  size_t max_connections = 0;
  // Limit, in bytes, of the buffers of all connections in total. `timeout` is
  // the time for which clients that do not read may delay others. See
  // BufferBudget.
  size_t max_buffer_bytes = 0;
  Duration timeout = std::chrono::seconds(5);
  // Interval of calls of StoreService::OnTick.
  std::chrono::milliseconds tick = std::chrono::seconds(1);
  // Receives messages for the user, such as why a connection was closed. Their
  // number is bounded. Called on the hub's thread; must not call the hub.
  std::function<void(const std::string&)> on_notice;
};

// The sockets of a store: accepts connections from the addresses of its
// clients, reads, passes whole requests to the service and sends its replies.
// Runs on one thread. If many clients are sent data at once, other threads help
// to send. All buffers are bounded:
//
// - If a client does not read its replies, its connection is not read from.
// - While the unread replies of all connections exceed a limit, no connection
// is read from. As room becomes free, connections resume one by one in FIFO
// order. Clients that delay the others by not reading are closed.
// - If all buffers together are too large, a connection with large buffers is
// closed.
// - Beyond max_connections, or if no descriptor is free, new connections wait
// in the kernel's backlog until others end.
class StoreHub {
 public:
  StoreHub(StoreHubOptions options, StoreService* service);
  StoreHub(const StoreHub&) = delete;
  StoreHub& operator=(const StoreHub&) = delete;

  // Must be called once, before Run. ResourceExhausted: no descriptors are
  // left.
  absl::Status Prepare();

  // Serves until Stop is called or, in a relay, the connection to the store
  // server is lost. This loss is the normal end of a relay (OK) if all of its
  // clients have disconnected before. If clients are left, or there never was a
  // client, the loss is returned as an error. On return all sockets are closed.
  absl::Status Run();

  // Makes Run return. Any thread.
  void Stop();

  // The number of open connections after the newest turn of Run's loop. Any
  // thread.
  size_t connections() const {
    return open_connections_.load(std::memory_order_relaxed);
  }
  void Notice(const std::string& sentence) { notices_.Say(sentence); }

 private:
  // The maximum time for which the loop of Run may wait without an event;
  // nullopt: no limit.
  std::optional<std::chrono::milliseconds> LongestPause() const;
  void HandleEvent(uint64_t id, uint32_t events);
  void Accept();
  // Gives a notice that a connection from `peer` was refused. StrangerLog
  // limits the number of these notices.
  void NoteStranger(const SocketAddress& peer);
  void TickService();
  // Called after each event. Repeats these actions until nothing is left to do:
  // removes ending connections, notifies the service of disconnected clients,
  // sends data, and resumes connections that wait for the buffer budget.
  void Settle();

  // Reads from a connection that has data. If requests must wait, adds the
  // connection to the FIFO of RequestGate instead.
  void OnReadable(StoreConnection& connection);
  void Read(StoreConnection& connection);
  // Finds out whether the client of a new connection begins a TLS handshake,
  // and continues the handshake if so. Returns whether requests may be read
  // from the connection now.
  bool IsOpened(StoreConnection& connection);
  void Encrypt(StoreConnection& connection);
  // Handles the requests in `bytes` until one of them has to wait. Returns the
  // number of bytes used.
  size_t Process(StoreConnection& connection, std::string_view bytes);
  // Handles the requests in connection.in until one of them has to wait.
  void ProcessHeld(StoreConnection& connection);
  // Continues a stalled connection, that is, one that is not read from because
  // its requests must wait. No effect if they must still wait.
  void Resume(StoreConnection& connection);
  // Resumes the first of the connections that wait for the buffer budget.
  void ResumeNext();

  // Carries out effects_, the effects of the service's last step: queues the
  // replies for sending, and ends connections.
  void Deliver();
  void DeliverToChannel(const StoreEffects::Effect& effect);
  // Sends as much of the connection's data as the kernel accepts. Then resumes
  // the connections whose requests waited because too much of this data was
  // unsent: this connection or, if it is the upstream connection, those of all
  // clients.
  void Send(StoreConnection& connection);
  // Tells service_ (the store or a relay to it) which clients have disconnected
  // (gone_), and clears gone_.
  void TellGone();

  StoreHubOptions options_;
  StoreService* const service_;
  StoreAcceptor acceptor_;
  HubEvents events_;
  BoundedNotices notices_;
  BufferBudget budget_;
  HubConnections connections_;
  // number of connections, for other threads
  std::atomic<size_t> open_connections_ = 0;
  ChannelTable channels_;
  RequestGate gate_;
  RequestIntake intake_;

  // Disconnected clients of which the service is not notified yet.
  std::vector<StoreClientId> gone_;
  // Time of the next attempt to accept, while accepting is paused.
  Instant next_accept_;
  StrangerLog strangers_;
  MemoryWatermark memory_;
  TickTimer ticks_;
  // Reused for each step, so that a step allocates nothing.
  StoreEffects effects_;
  std::string scratch_;
};

// Returns the allocator's free memory to the system. Any thread; takes
// milliseconds per GiB.
void ReturnFreeMemory();

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_HUB_H_
