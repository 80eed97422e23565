// Tests that, with certificates from files, a node can announce a coordinator
// only at its own endpoint. An announcement sends the job's nodes to the
// announced endpoint.

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "tests/integration/harness/subprocess.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

class AnnouncementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Openssl(
        {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "30", "-subj", "/CN=lab", "-keyout",
         File("lab.key"), "-out", File("lab.pem")}));
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    options.tls = Certificate("server", "IP:127.0.0.1");
    auto server = GrpcServer::Start(&coordinator_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    coordinator_.SetOwnEndpoint(server_->address().ToString());
  }

  static std::string File(const std::string& name) {
    return testing::TempDir() + "/" + name;
  }
  static void Openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    Subprocess openssl(arguments);
    ASSERT_EQ(openssl.ExitCode(), 0) << openssl.Output();
  }
  // Creates a certificate whose subject alternative names are `alternatives`,
  // such as "IP:127.0.0.1".
  static TlsFiles Certificate(const std::string& name,
                              const std::string& alternatives) {
    std::ofstream(File(name + ".ext")) << "subjectAltName=" << alternatives;
    Openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-subj", "/CN=" + name, "-keyout", File(name + ".key"),
             "-out", File(name + ".csr")});
    Openssl({"x509", "-req", "-in", File(name + ".csr"), "-CA", File("lab.pem"),
             "-CAkey", File("lab.key"), "-CAcreateserial", "-days", "30",
             "-extfile", File(name + ".ext"), "-out", File(name + ".pem")});
    return {.certificate = File(name + ".pem"),
            .key = File(name + ".key"),
            .authority = File("lab.pem")};
  }

  // Announces a coordinator at `endpoint`, from 127.0.0.1.
  grpc::Status Announce(const TlsFiles& tls, const std::string& endpoint) {
    const auto channel =
        OpenChannel(*NumericAddress("127.0.0.1", server_->address().port),
                    ClientCredentials(tls, "", "127.0.0.1"));
    v1::Announcement announcement;
    announcement.set_run_id("job");
    announcement.set_epoch(kDrawnEpochMask + 1);
    announcement.set_endpoint(endpoint);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kEventTimeout);
    v1::KnownCoordinator known;
    return v1::Coordinator::NewStub(channel)->Announce(&context, announcement,
                                                       &known);
  }
  std::string Leader() {
    const auto elsewhere = coordinator_.WhereElse();
    return elsewhere.has_value() ? elsewhere->endpoint : "";
  }

  Coordinator coordinator_{
      {.only_run_id = "job",
       .takeover = Coordinator::Options::Takeover{
           .kind = Standby::Kind::kSuccessor, .own_endpoint = ""}}};
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(AnnouncementTest, ACertificateOfAnotherHostAnnouncesNothing) {
  const TlsFiles tls = Certificate("elsewhere", "DNS:node8.lab");
  const grpc::Status refused = Announce(tls, "node9.lab:29400");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(),
              HasSubstr("the certificate is for node8.lab"));
  EXPECT_EQ(Leader(), "");
  EXPECT_TRUE(Announce(tls, "node8.lab:29400").ok());
  EXPECT_EQ(Leader(), "node8.lab:29400");
}

TEST_F(AnnouncementTest, TheCallersAddressOrTheJobIsEnough) {
  EXPECT_TRUE(
      Announce(Certificate("here", "IP:127.0.0.1"), "node9.lab:29400").ok());
  EXPECT_EQ(Leader(), "node9.lab:29400");
  EXPECT_TRUE(
      Announce(Certificate("job", "URI:muster:job/job"), "node7.lab:29400")
          .ok());
  EXPECT_EQ(Leader(), "node7.lab:29400");
  EXPECT_EQ(Announce(Certificate("another", "URI:muster:job/another"),
                     "node7.lab:29400")
                .error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

}  // namespace
}  // namespace muster::rendezvous
