#include "store/server/store_server.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_room.h"
#include "store/core/store_core.h"
#include "store/server/buffer_budget.h"
#include "store/server/hub_events.h"
#include "store/server/listening_socket.h"
#include "store/server/store_hub.h"
#include "store/server/store_service.h"

namespace muster::store {
namespace {

// Passes the requests that a StoreHub (the network loop of a store) receives to
// a StoreCore.
class CoreService : public StoreService {
 public:
  explicit CoreService(size_t max_bytes) : core_(std::in_place, max_bytes) {}

  void OnRequest(StoreClientId client, StoreFraming framing,
                 const StoreRequest& request, StoreEffects* effects) override {
    // A client of the old framing (PyTorch before 2.1) cannot cancel a wait. If
    // it sends a request while it waits, its wait has timed out on its own
    // side. So drop the wait: a late reply to it would look like the reply to
    // the new request.
    if (framing == StoreFraming::kOld) core_->DropWait(client, effects);
    core_->Apply(client, request, effects);
    // This thread is the only writer, so that the sum needs no atomic addition.
    requests_.store(requests_.load(kRelaxed) + 1, kRelaxed);
    Publish();
  }
  bool MayGoOn(StoreClientId) const override { return true; }
  void OnGone(StoreClientId client, StoreEffects* effects) override {
    core_->Forget(client, effects);
    Publish();
  }
  bool WantsTicks() const override { return core_->HasOffers(); }
  void OnTick(StoreEffects* effects) override {
    core_->AgeOffers(effects);
    Publish();
  }
  size_t bytes() const override { return core_->bytes(); }
  absl::StatusOr<size_t> OnUpstream(std::string_view, StoreEffects*) override {
    return absl::InternalError("a store has no upstream");
  }

  size_t waiting() const { return core_->waiting(); }
  // The load without the connections. Any thread.
  StoreLoad load() const {
    return {.requests = requests_.load(kRelaxed),
            .keys = keys_.load(kRelaxed),
            .bytes = bytes_.load(kRelaxed),
            .waiting = waiting_.load(kRelaxed)};
  }
  // Frees all memory. Afterwards no method but `load` may be called.
  void Clear() {
    core_.reset();
    for (std::atomic<int64_t>* value : {&keys_, &bytes_, &waiting_}) *value = 0;
  }

 private:
  // Shows the core's state to other threads.
  void Publish() {
    keys_.store(static_cast<int64_t>(core_->keys()), kRelaxed);
    bytes_.store(static_cast<int64_t>(core_->bytes()), kRelaxed);
    waiting_.store(static_cast<int64_t>(core_->waiting()), kRelaxed);
  }

  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

  std::optional<StoreCore> core_;
  // The fields of StoreLoad. Each is a number of its own, so that readers need
  // no order among them.
  std::atomic<int64_t> requests_ = 0;
  std::atomic<int64_t> keys_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> waiting_ = 0;
};

}  // namespace

class StoreServer::Running {
 public:
  Running(StoreHubOptions options, size_t max_store_bytes, int port)
      : service_(max_store_bytes),
        hub_(std::move(options), &service_),
        port_(port) {}

  absl::Status Start() {
    absl::Status prepared = hub_.Prepare();
    if (!prepared.ok()) return prepared;
    return thread_.Start("muster-store", [this] { Serve(); });
  }

  void Close(const std::string& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.started()) return;
    reason_ = reason;
    hub_.Stop();
    thread_.Join();
    const bool is_large = service_.bytes() >= MemoryWatermark::kLeast;
    service_.Clear();
    if (is_large) ReturnFreeMemory();
  }

  int port() const { return port_; }
  StoreLoad load() const {
    StoreLoad load = service_.load();
    load.connections = static_cast<int64_t>(hub_.connections());
    return load;
  }

 private:
  void Serve() {
    const absl::Status served = hub_.Run();
    // Report waiting clients only if the round is broken (reason_ is not
    // empty). After a successful round the count may include workers that have
    // exited, because the server may not have read the end of their connections
    // yet.
    const size_t waiting = reason_.empty() ? 0 : service_.waiting();
    if (waiting == 0 && served.ok()) return;
    hub_.Notice(
        served.ok()
            ? absl::StrCat(
                  "the store is closed while ", waiting,
                  waiting == 1 ? " client waits: " : " clients wait: ", reason_)
            : absl::StrCat("the store has failed: ", served.message()));
  }

  CoreService service_;
  StoreHub hub_;
  const int port_;
  std::mutex mutex_;
  // The reason passed to Close. Set before Close stops the StoreHub `hub_`;
  // read by the thread of `hub_` afterwards.
  std::string reason_;
  HubThread thread_;
};

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Start(
    StoreServerOptions options) {
  absl::StatusOr<OwnedFd> listener =
      ListenerFor(std::move(options.listener), options.address, options.port);
  if (!listener.ok()) return listener.status();
  const absl::StatusOr<int> port = LocalPort(*listener);
  if (!port.ok()) return port.status();
  auto running = std::make_unique<Running>(
      StoreHubOptions{
          .listener = *std::move(listener),
          .clients = std::move(options.clients),
          .tls = std::move(options.tls),
          .clear_text_clients = std::move(options.clear_text_clients),
          .max_connections =
              static_cast<size_t>(RaiseDescriptorLimit(kDescriptorsForOthers)),
          .max_buffer_bytes = options.max_buffer_bytes,
          .timeout = options.timeout,
          .tick = options.offer_timeout,
          .on_notice = std::move(options.on_notice),
      },
      options.max_store_bytes, *port);
  const absl::Status started = running->Start();
  if (!started.ok()) return started;
  return std::unique_ptr<StoreServer>(new StoreServer(std::move(running)));
}

StoreServer::StoreServer(std::unique_ptr<Running> running)
    : running_(std::move(running)) {}

StoreServer::~StoreServer() { Close(""); }

int StoreServer::port() const { return running_->port(); }

StoreLoad StoreServer::load() const { return running_->load(); }

void StoreServer::Close(const std::string& reason) { running_->Close(reason); }

}  // namespace muster::store
