#include "rendezvous/etcd/etcd_client.h"

#include <chrono>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

// The error of a read from a port at which nothing listens.
absl::Status ReadWith(const TlsFiles& tls) {
  EtcdClient client(
      {.members = {{.host = "127.0.0.1", .port = 1}}, .tls = tls});
  return client.Read("/muster/", MonotonicNow() + std::chrono::seconds(10))
      .status();
}

// With an empty text gRPC would trust the system's authorities.
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

}  // namespace
}  // namespace muster::rendezvous
