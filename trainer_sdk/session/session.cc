#include "trainer_sdk/session/session.h"

#include <unistd.h>

#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "store/server/store_server.h"
#include "trainer_sdk/network/inherited_key.h"
#include "trainer_sdk/session/host_places.h"
#include "trainer_sdk/session/session_plan.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/store/tcp_store.h"

namespace muster {
namespace {

constexpr char kLeft[] = "session/left";
constexpr char kAllLeft[] = "session/all_left";

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  return name;
}

// The prefix of a session's keys in the store: the job, the restart count and
// the round. The prefix separates these keys from those of other sessions in
// the same store. A store may serve several sessions: it may survive a restart
// (torchrun's does), and two jobs may derive the same port for their stores.
std::string KeysOf(const SessionPlan& plan) {
  return absl::StrCat("muster/", plan.run_id, "/", plan.restart_count, ".",
                      plan.round);
}

absl::Status With(const std::string& what, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(what, std::string(status.message())));
}

}  // namespace

Session::Session(SessionPlan plan, const SessionOptions& options)
    : plan_(std::move(plan)),
      linger_(options.linger),
      progress_(plan_.progress_socket) {}

absl::StatusOr<std::unique_ptr<Session>> Session::FromEnvironment(
    const SessionOptions& options) {
  // Read the encryption key before anything else, so that no program that this
  // process starts inherits it.
  const absl::StatusOr<std::string> key = InheritedChannelKey();
  if (!key.ok()) return key.status();
  absl::StatusOr<SessionPlan> plan = PlanSession(ReadEnvironment());
  if (!plan.ok()) return plan.status();
  return Start(*plan, options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Start(
    const SessionPlan& plan, const SessionOptions& options) {
  const Instant deadline = MonotonicNow() + options.connect_timeout;
  std::unique_ptr<Session> session(new Session(plan, options));
  absl::Status done = session->OpenStore(deadline);
  if (done.ok()) done = session->CompletePlace(deadline);
  if (!done.ok()) {
    // The session could not be started. Drop its store, so that the destructor
    // of the session does not wait for the other ranks to finish using the
    // store.
    session->store_.reset();
    return With(absl::StrCat("rank ", plan.rank, " of ", plan.world_size,
                             " cannot join its world: "),
                done);
  }
  return session;
}

absl::Status Session::OpenStore(Instant deadline) {
  if (plan_.store_place == StorePlace::kInProcess) {
    MUSTER_CHECK(plan_.world_size == 1) << plan_.world_size << " ranks";
    store_ = std::make_shared<InProcessStore>();
    return absl::OkStatus();
  }
  std::string host = plan_.master_address;
  if (plan_.store_place == StorePlace::kRankZero && plan_.rank == 0) {
    store::StoreServerOptions options;
    options.port = plan_.master_port;
    // Without an agent, the addresses of the other ranks' hosts are unknown. So
    // accept connections from any address.
    if (!IsLoopback(host)) options.clients = AddressSet::All();
    absl::StatusOr<std::unique_ptr<store::StoreServer>> server =
        store::StoreServer::Start(std::move(options));
    if (!server.ok()) {
      return With(
          absl::StrCat("it is to serve the store on port ", plan_.master_port,
                       " (set MASTER_PORT to another one): "),
          server.status());
    }
    server_ = *std::move(server);
    host = "127.0.0.1";
  }
  absl::StatusOr<std::unique_ptr<TcpStore>> client = TcpStore::Connect(
      {.host = host, .port = plan_.master_port, .connect_deadline = deadline});
  if (!client.ok()) return client.status();
  store_ = std::make_shared<PrefixStore>(KeysOf(plan_), *std::move(client));
  return absl::OkStatus();
}

absl::Status Session::CompletePlace(Instant deadline) {
  if (plan_.local_world_size && plan_.group_rank && plan_.group_world_size) {
    return absl::OkStatus();
  }
  absl::StatusOr<HostPlace> place = AgreeOnPlaces(
      *store_, plan_.rank, plan_.world_size, HostName(), deadline);
  if (!place.ok()) return place.status();
  plan_.local_world_size =
      plan_.local_world_size.value_or(place->local_world_size);
  plan_.group_rank = plan_.group_rank.value_or(place->group_rank);
  plan_.group_world_size =
      plan_.group_world_size.value_or(place->group_world_size);
  return absl::OkStatus();
}

// Ends this rank's use of the store. If rank 0 serves the store, rank 0 waits
// here, up to linger_, until all ranks have finished using it. Errors are
// ignored: a rank that cannot be reached has left.
void Session::Leave() {
  if (plan_.store_place != StorePlace::kRankZero || store_ == nullptr) return;
  absl::StatusOr<int64_t> left = store_->Add(kLeft, 1);
  if (left.ok() && *left == plan_.world_size) {
    store_->Set(kAllLeft, "1").IgnoreError();
  }
  if (plan_.rank == 0) {
    store_->Wait({kAllLeft}, MonotonicNow() + linger_).IgnoreError();
  }
}

Session::~Session() { Leave(); }

}  // namespace muster
