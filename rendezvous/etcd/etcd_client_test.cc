#include "rendezvous/etcd/etcd_client.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/etcd.grpc.pb.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns the error of a read from a port on which nothing listens.
absl::Status ReadWith(const TlsFiles& tls) {
  EtcdClient client(
      {.members = {{.host = "127.0.0.1", .port = 1}}, .tls = tls});
  return client.Read("/muster/", MonotonicNow() + std::chrono::seconds(10))
      .status();
}

// An empty file must be an error, because gRPC would take an empty text for
// "use the system's certificate authorities".
TEST(EtcdClientTest, AMissingOrEmptyFileOfTlsIsNamed) {
  const std::string empty = testing::TempDir() + "/empty.pem";
  std::ofstream(empty) << "";
  for (const std::string& path : {std::string("/nowhere/ca"), empty}) {
    const absl::Status error = ReadWith({.authority = path});
    EXPECT_TRUE(absl::IsUnavailable(error)) << error;
    EXPECT_THAT(std::string(error.message()),
                HasSubstr("--etcd-ca: " + path + " cannot be read"));
  }
}

TEST(EtcdClientTest, AFileThatIsNoPemIsNamed) {
  const std::string text = testing::TempDir() + "/text.pem";
  std::ofstream(text) << "127.0.0.1 localhost";
  const absl::Status error = ReadWith({.authority = text});
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr("--etcd-ca"));
}

// The server starts to listen only after the first call has failed. The client
// must nevertheless connect. This is difficult because gRPC continues a
// connection attempt only during a call, but calls fail at once until the
// attempt succeeds.
TEST(EtcdClientTest, AConnectionThatIsMadeBetweenCallsIsUsed) {
  const OwnedFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof(address)),
            0);
  const int port = BoundAddress(listener.get())->Port();
  EtcdClient client({.members = {{.host = "127.0.0.1", .port = port}}});
  const auto read = [&client] {
    return client.Read("/", MonotonicNow() + std::chrono::milliseconds(100))
        .status();
  };
  EXPECT_TRUE(absl::IsUnavailable(read()));
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const Instant begin = MonotonicNow();
  ASSERT_TRUE(
      PollUntil(listener.get(), POLLIN, begin + std::chrono::seconds(30)));
  const OwnedFd accepted(
      accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  // Stop before gRPC's time limit for one connection attempt. After this limit
  // gRPC would start another attempt, and the test would pass even if the first
  // attempt was never continued.
  const Instant end = MonotonicNow() + std::chrono::seconds(3);
  bool has_sent = false;
  while (!has_sent && MonotonicNow() < end) {
    EXPECT_FALSE(read().ok());
    has_sent = PollUntil(accepted.get(), POLLIN,
                         MonotonicNow() + std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(has_sent);
}

// Answers one key for each request, at the newest revision. Is compacted after
// the first key: it has 2 keys at revision 5, and then 3 keys at revision 9.
class CompactedKeys final : public etcdserverpb::KV::Service {
 public:
  grpc::Status Range(grpc::ServerContext* /*context*/,
                     const etcdserverpb::RangeRequest* request,
                     etcdserverpb::RangeResponse* answer) override {
    ++requests_;
    if (request->revision() == 5) {
      revision_ = 9;
      return {grpc::StatusCode::OUT_OF_RANGE,
              "etcdserver: mvcc: required revision has been compacted"};
    }
    const std::vector<std::string> keys =
        revision_ == 5 ? std::vector<std::string>{"/a", "/c"}
                       : std::vector<std::string>{"/b", "/c", "/d"};
    const auto next =
        std::lower_bound(keys.begin(), keys.end(), request->key());
    answer->mutable_header()->set_revision(revision_);
    answer->set_more(keys.end() - next > 1);
    etcdserverpb::KeyValue* const one = answer->add_kvs();
    one->set_key(*next);
    one->set_mod_revision(revision_);
    return grpc::Status::OK;
  }

  int requests() const { return requests_; }

 private:
  // Accessed by one call at a time: the client waits for each answer.
  int64_t revision_ = 5;
  int requests_ = 0;
};

TEST(EtcdClientTest, AReadDuringACompactionHasTheKeysOfTheNewestRevision) {
  CompactedKeys keys;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&keys);
  const std::unique_ptr<grpc::Server> etcd = builder.BuildAndStart();
  ASSERT_NE(etcd, nullptr);
  EtcdClient client({.members = {{.host = "127.0.0.1", .port = port}}});
  const auto read = client.Read("/", MonotonicNow() + std::chrono::seconds(30));
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<std::string> found;
  for (const auto& [key, value] : *read) {
    found.push_back(key);
    EXPECT_EQ(value.revision, 9) << key;
  }
  EXPECT_THAT(found, ElementsAre("/b", "/c", "/d"));
  EXPECT_EQ(keys.requests(), 5);
}

}  // namespace
}  // namespace muster::rendezvous
