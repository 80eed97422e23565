#include "rendezvous/etcd/etcd_client.h"

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "proto/etcd.grpc.pb.h"
#include "rendezvous/grpc/grpc_setup.h"

namespace muster::rendezvous {
namespace {

namespace pb = ::etcdserverpb;

// Maximum number of keys in one answer to Read; one value is 4 MiB at most
// (EtcdRecords::kMaxRecordBytes).
constexpr int kKeysPerRead = 32;
constexpr int kMaxAnswerBytes = (kKeysPerRead * 4 + 1) << 20;
constexpr int kConnectTimeoutMs = 5000;
// Shortest and longest pause, in milliseconds, between two attempts to connect
// to a member that does not answer.
constexpr int kLeastPauseMs = 50;
constexpr int kLongestPauseMs = 250;
constexpr Duration kLookUpTimeout = std::chrono::seconds(1);
// How long AdvanceConnection waits after a failed call, so that gRPC can
// continue its next connection attempt.
constexpr Duration kAdvanceFor = std::chrono::milliseconds(20);
// A connection whose calls still fail after this time is replaced by a new one.
constexpr Duration kKeepFailing = std::chrono::seconds(10);

// Returns the first key after all keys that begin with `prefix`: the exclusive
// end of their range.
std::string EndOf(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  MUSTER_CHECK(!prefix.empty());
  ++prefix.back();
  return prefix;
}

// Returns the content of the PEM file `path`, which the option `flag` names.
// Unavailable: the file cannot be read or is empty. An empty file must be an
// error, because gRPC takes an empty text for "use the system's certificate
// authorities".
absl::StatusOr<std::string> TextOf(absl::string_view flag,
                                   const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) {
    return absl::UnavailableError(
        absl::StrCat(flag, ": ", path, " cannot be read, or is empty"));
  }
  return text;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const TlsFiles& tls) {
  if (!tls.given()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  absl::StatusOr<std::string> text = TextOf("--etcd-ca", tls.authority);
  if (!text.ok()) return text.status();
  options.pem_root_certs = *std::move(text);
  if (!tls.key.empty()) {
    text = TextOf("--etcd-key", tls.key);
    if (!text.ok()) return text.status();
    options.pem_private_key = *std::move(text);
    text = TextOf("--etcd-cert", tls.certificate);
    if (!text.ok()) return text.status();
    options.pem_cert_chain = *std::move(text);
  }
  return grpc::SslCredentials(options);
}

// Returns a channel to an etcd member. `host`: the member's name, for which its
// certificate must be issued.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(
    const SocketAddress& address, const std::string& host,
    const TlsFiles& tls) {
  auto credentials = CredentialsOf(tls);
  if (!credentials.ok()) return credentials.status();
  SetUpGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, host);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kLeastPauseMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestPauseMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  return grpc::CreateCustomChannel(address.Uri(), *credentials, arguments);
}

gpr_timespec TimeOf(Instant deadline) {
  const Duration left = std::max(deadline - MonotonicNow(), Duration::zero());
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(
          std::chrono::duration_cast<std::chrono::nanoseconds>(left).count(),
          GPR_TIMESPAN));
}

void SetDeadline(grpc::ClientContext& context, Instant deadline) {
  context.set_deadline(TimeOf(deadline));
}

// Gives gRPC a moment to connect again after a failed call. gRPC starts a new
// attempt by itself, but continues it only while a call is waiting. Without a
// connection every call fails at once, so no call is waiting.
void AdvanceConnection(grpc::Channel& channel, Instant deadline) {
  const grpc_connectivity_state state =
      channel.GetState(/*try_to_connect=*/true);
  if (state != GRPC_CHANNEL_TRANSIENT_FAILURE) return;
  (void)channel.WaitForStateChange(
      state, TimeOf(std::min(deadline, MonotonicNow() + kAdvanceFor)));
}

absl::Status Explain(const grpc::Status& status, const Endpoint& member) {
  if (status.ok()) return absl::OkStatus();
  const std::string said = status.error_message();
  const auto error = [&](absl::StatusCode code, absl::string_view what) {
    return absl::Status(
        code, absl::StrCat("etcd at ", member.ToString(), ": ", what));
  };
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return error(absl::StatusCode::kUnavailable, "no answer in time");
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
      // gRPC fails with this text if it could not read the certificates or the
      // key.
      if (absl::StartsWith(said, "empty address list")) {
        return error(absl::StatusCode::kUnavailable,
                     "not called: --etcd-ca, --etcd-cert or --etcd-key is no "
                     "PEM file, or the key is not the certificate's");
      }
      return error(absl::StatusCode::kUnavailable, said);
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      // gRPC fails with this text if a request exceeds the limit of etcd's
      // server: "grpc: received message larger than max (… vs. …)"
      if (absl::StrContains(said, "larger than max")) {
        return error(absl::StatusCode::kOutOfRange, said);
      }
      return error(absl::StatusCode::kResourceExhausted, said);
    case grpc::StatusCode::UNAUTHENTICATED:
      return error(absl::StatusCode::kUnauthenticated, said);
    case grpc::StatusCode::PERMISSION_DENIED:
      return error(absl::StatusCode::kPermissionDenied, said);
    case grpc::StatusCode::INVALID_ARGUMENT:
      if (absl::StrContains(said, "too large")) {
        return error(absl::StatusCode::kOutOfRange, said);
      }
      // A login failed. etcd's texts are "user name is empty" and
      // "authentication failed, …".
      return error(absl::StatusCode::kUnauthenticated, said);
    case grpc::StatusCode::OUT_OF_RANGE:
      // etcd's text is "required revision has been compacted": etcd has removed
      // the old revision that the request names.
      return error(absl::StatusCode::kAborted, said);
    case grpc::StatusCode::FAILED_PRECONDITION:
      // etcd's text is "authentication is not enabled": a user was given, but
      // this etcd checks no users.
      return error(absl::StatusCode::kFailedPrecondition, said);
    default:
      return error(
          absl::StatusCode::kFailedPrecondition,
          absl::StrCat("is not an etcd of version 3.3 or newer: ", said));
  }
}

}  // namespace

class EtcdClient::Impl {
 public:
  explicit Impl(EtcdAccess access) : access_(std::move(access)) {
    for (const Endpoint& endpoint : access_.members) {
      members_.push_back({.endpoint = endpoint});
    }
    MUSTER_CHECK(!access_.members.empty());
  }

  const EtcdAccess& access() const { return access_; }

  // Calls `method` of `Service` with `request`. After an error the next call
  // goes to the next member of the cluster.
  template <typename Service, typename Request, typename Answer>
  absl::Status Call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*,
                                                          const Request&,
                                                          Answer*),
                    const Request& request, Answer* answer, Instant deadline) {
    absl::StatusOr<Connection> current = Current();
    if (!current.ok()) return current.status();
    Connection connection = *std::move(current);
    if (!access_.user.empty() && connection.token.empty()) {
      absl::Status let_in = LogIn(connection, deadline);
      if (!let_in.ok()) return let_in;
    }
    grpc::ClientContext context;
    SetDeadline(context, deadline);
    if (!connection.token.empty()) {
      context.AddMetadata("token", connection.token);
    }
    const grpc::Status status = ((*Service::NewStub(connection.channel)).*
                                 method)(&context, request, answer);
    if (!status.ok()) {
      AdvanceConnection(*connection.channel, deadline);
      Leave(connection);
    }
    return Explain(status, access_.members[connection.member]);
  }

 private:
  // The connection to one member of the etcd cluster.
  struct Connection {
    size_t member = 0;
    std::shared_ptr<grpc::Channel> channel;
    Instant made;
    std::string token;  // etcd's login token; empty: not logged in
  };
  struct Member {
    Endpoint endpoint;
    // The connection to one server (member) of the etcd cluster. Its gRPC
    // channel is null while there is no connection.
    Connection connection;
    // Number of connections made so far. The next connection uses the address
    // with this index (modulo the number of addresses).
    size_t connections = 0;
    // Number of addresses that the newest look-up of the member's name found.
    size_t addresses = 0;
  };

  // Returns the connection to the etcd member in use (members_[current_]). If
  // the member has no connection, looks up its name and opens one.
  absl::StatusOr<Connection> Current() {
    std::unique_lock<std::mutex> lock(mutex_);
    const size_t index = current_;
    if (members_[index].connection.channel != nullptr) {
      return members_[index].connection;
    }
    const Endpoint endpoint = members_[index].endpoint;
    lock.unlock();
    // Use the system's resolver: gRPC's own resolver does not read all sources
    // of host names that the system is configured to use.
    const auto addresses =
        Resolve(endpoint.host, endpoint.port, {.timeout = kLookUpTimeout});
    lock.lock();
    Member& member = members_[index];
    if (!addresses.ok()) {
      if (current_ == index) current_ = (index + 1) % members_.size();
      return absl::UnavailableError(
          absl::StrCat("etcd at ", endpoint.ToString(), ": ",
                       std::string(addresses.status().message())));
    }
    if (member.connection.channel == nullptr) {
      const size_t turn = member.connections++ % addresses->size();
      member.addresses = addresses->size();
      // Read the TLS files again, because they may have been renewed.
      auto channel =
          Connect((*addresses)[turn], endpoint.ToString(), access_.tls);
      if (!channel.ok()) return channel.status();
      member.connection = {.member = index,
                           .channel = *std::move(channel),
                           .made = MonotonicNow(),
                           .token = ""};
    }
    return member.connection;
  }

  // Handles the failure of a call on the connection `failed`. The next call
  // goes to the next member, unless another thread has already changed the
  // current member. If the name of the failed member has several addresses,
  // closes the connection, so that the next one uses another address. Otherwise
  // closes the connection only if it is older than kKeepFailing: a connection
  // may need more time for its TLS handshake than the deadline of one call.
  void Leave(const Connection& failed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Member& member = members_[failed.member];
    if (member.connection.channel != failed.channel) return;
    member.connection.token.clear();
    if (member.addresses > 1 || MonotonicNow() - failed.made > kKeepFailing) {
      member.connection = {};
    }
    if (current_ == failed.member) {
      current_ = (current_ + 1) % members_.size();
    }
  }

  absl::Status LogIn(Connection& connection, Instant deadline) {
    pb::AuthenticateRequest request;
    request.set_name(access_.user);
    request.set_password(access_.password);
    pb::AuthenticateResponse answer;
    grpc::ClientContext context;
    SetDeadline(context, deadline);
    const grpc::Status status = pb::Auth::NewStub(connection.channel)
                                    ->Authenticate(&context, request, &answer);
    if (!status.ok()) {
      AdvanceConnection(*connection.channel, deadline);
      Leave(connection);
      return Explain(status, access_.members[connection.member]);
    }
    connection.token = answer.token();
    const std::lock_guard<std::mutex> lock(mutex_);
    Connection& kept = members_[connection.member].connection;
    if (kept.channel == connection.channel) kept.token = connection.token;
    return absl::OkStatus();
  }

  const EtcdAccess access_;
  std::mutex mutex_;
  // The cluster's members, in the order in which the user has listed them.
  std::vector<Member> members_;
  size_t current_ = 0;  // index of the member that is called next
};

EtcdClient::EtcdClient(EtcdAccess access)
    : impl_(std::make_unique<Impl>(std::move(access))) {}

EtcdClient::~EtcdClient() = default;

const EtcdAccess& EtcdClient::access() const { return impl_->access(); }

absl::StatusOr<std::map<std::string, EtcdClient::Value>> EtcdClient::Read(
    const std::string& prefix, Instant deadline) {
  std::map<std::string, Value> found;
  pb::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(EndOf(prefix));
  request.set_limit(kKeysPerRead);
  while (true) {
    pb::RangeResponse answer;
    const absl::Status status =
        impl_->Call<pb::KV>(&pb::KV::Stub::Range, request, &answer, deadline);
    if (absl::IsAborted(status)) {
      // etcd was compacted between two requests, and no longer has the revision
      // of the first answer. Read all keys again, at the newest revision.
      found.clear();
      request.set_key(prefix);
      request.set_revision(0);
      continue;
    }
    if (!status.ok()) return status;
    for (pb::KeyValue& one : *answer.mutable_kvs()) {
      found[one.key()] = {.bytes = std::move(*one.mutable_value()),
                          .revision = one.mod_revision()};
    }
    if (!answer.more() || answer.kvs().empty()) return found;
    request.set_key(answer.kvs().rbegin()->key() + '\0');
    request.set_revision(answer.header().revision());
  }
}

absl::StatusOr<std::optional<int64_t>> EtcdClient::Commit(
    const Transaction& transaction, Instant deadline) {
  pb::TxnRequest request;
  for (const auto& [key, revision] : transaction.expected) {
    pb::Compare* const compare = request.add_compare();
    compare->set_result(pb::Compare::EQUAL);
    compare->set_target(pb::Compare::MOD);
    compare->set_key(key);
    compare->set_mod_revision(revision);
  }
  for (const auto& [key, value] : transaction.changes) {
    pb::RequestOp* const change = request.add_success();
    if (value.has_value()) {
      change->mutable_request_put()->set_key(key);
      change->mutable_request_put()->set_value(*value);
    } else {
      change->mutable_request_delete_range()->set_key(key);
    }
  }
  pb::TxnResponse answer;
  const absl::Status status =
      impl_->Call<pb::KV>(&pb::KV::Stub::Txn, request, &answer, deadline);
  if (!status.ok()) return status;
  if (!answer.succeeded()) return std::optional<int64_t>();
  return std::optional<int64_t>(answer.header().revision());
}

}  // namespace muster::rendezvous
