// Tests of the server with clients that misbehave.

#include "rendezvous/server/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/net/socket_address.h"
#include "proto/admin.grpc.pb.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/testing/loopback.h"
#include "rendezvous/testing/scripted_node.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

class GrpcServerTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const Endpoint& listen) {
    GrpcServer::Options options;
    options.listen = listen;
    return GrpcServer::Start(&coordinator_, options);
  }
  void SetUp() override {
    auto server = Start({"127.0.0.1", 0});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<ScriptedNode> Join(const std::string& run_id) {
    GrpcLink::Options options;
    options.endpoints = {server_->address()};
    return std::make_unique<ScriptedNode>(
        std::make_unique<GrpcLink>(std::move(options)),
        FirstReport(run_id, "node", 1));
  }
  std::shared_ptr<grpc::Channel> Channel(const std::string& token = "") {
    return OpenChannel(
        *NumericAddress(server_->address().host, server_->address().port),
        ClientCredentials({}, token, "127.0.0.1"));
  }

  Coordinator coordinator_{Coordinator::Options{}};
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(GrpcServerTest, SaysWhichPortItHas) {
  EXPECT_EQ(server_->address().host, "127.0.0.1");
  EXPECT_NE(server_->address().port, 0);
}

TEST_F(GrpcServerTest, TheAddressThatANodeIsSeenAtIsOneOfItsOwn) {
  Report report = FirstReport("job", "node", 1);
  report.node.address = "10.0.0.1";
  report.addresses = {"10.1.0.1"};
  ScriptedNode node(std::make_unique<GrpcLink>(
                        GrpcLink::Options{.endpoints = {server_->address()}}),
                    report);
  EXPECT_THAT(node.WaitFor(DirectiveKind::kRun).place.store_clients,
              ::testing::ElementsAre("10.0.0.1", "127.0.0.1", "10.1.0.1"));
}

TEST_F(GrpcServerTest, APortInUseIsOneClearError) {
  const Endpoint taken = server_->address();
  for (const char* host : {"127.0.0.1", "0.0.0.0"}) {
    const auto second = Start({host, taken.port});
    EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists)
        << second.status();
    EXPECT_THAT(
        std::string(second.status().message()),
        HasSubstr(Endpoint{host, taken.port}.ToString() + ": port in use"));
  }
}

TEST_F(GrpcServerTest, APortIsFreeOnceItsServerIsGone) {
  const Endpoint address = server_->address();
  Join("job")->WaitFor(DirectiveKind::kRun);
  server_.reset();
  const auto again = Start(address);
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(GrpcServerTest, NodesOfAServerThatOnlyListensWait) {
  const Endpoint address = server_->address();
  server_.reset();
  auto server = GrpcServer::Listen({.listen = address});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Start(address).status().code(), absl::StatusCode::kAlreadyExists);
  server_ = *std::move(server);
  auto node = Join("job");
  EXPECT_EQ(server_->Serve(&coordinator_), absl::OkStatus());
  node->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcServerTest, AServerThatHasNeverServedFreesItsPort) {
  const Endpoint address = server_->address();
  server_.reset();
  ASSERT_TRUE(GrpcServer::Listen({.listen = address}).ok());
  EXPECT_TRUE(Start(address).ok());
}

TEST_F(GrpcServerTest, SaysThatAnAddressIsNotOfThisHost) {
  const auto server = Start({"192.0.2.1", 0});
  EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(server.status().message()),
              HasSubstr("no such address"));
  EXPECT_THAT(
      std::string(Start({"no-such-host.invalid", 0}).status().message()),
      HasSubstr("no-such-host.invalid"));
}

TEST_F(GrpcServerTest, GarbageDoesNotDisturbOtherStreams) {
  auto node = Join("before");
  node->WaitFor(DirectiveKind::kRun);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xff'),
        std::string(100'000, '\0'), preface + std::string(10'000, '\x55'),
        preface + std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x00", 9),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9) +
            std::string(600, 'x')}) {
    EXPECT_TRUE(SaysAndIsHungUpOn(server_->address().port, garbage));
  }
  Join("after")->WaitFor(DirectiveKind::kRun);
  node->Tell([](Report* report) { report->cancel = CancelWish{}; });
  node->WaitFor(DirectiveKind::kStop);
  EXPECT_EQ(node->connections(), 1);
}

TEST_F(GrpcServerTest, AnOversizedMessageEndsItsOwnStreamOnly) {
  auto node = Join("job");
  node->WaitFor(DirectiveKind::kRun);
  const auto stub = v1::Coordinator::NewStub(Channel());
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::Report report;
  report.set_run_id(std::string(kMaxReportBytes + 1, 'x'));
  stream->Write(report);
  EXPECT_EQ(stream->Finish().error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  node->Tell([](Report* r) { r->cancel = CancelWish{}; });
  node->WaitFor(DirectiveKind::kStop);
  EXPECT_EQ(node->connections(), 1);
}

TEST_F(GrpcServerTest, AReportBeyondBoundsEndsItsStreamNamingTheField) {
  const auto stub = v1::Coordinator::NewStub(Channel());
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::Report report;
  report.set_protocol_version(kProtocolVersion);
  report.set_run_id("two\nlines");
  stream->Write(report);
  const grpc::Status end = stream->Finish();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(end.error_message(), HasSubstr("run_id"));
}

TEST_F(GrpcServerTest, AStreamWithoutReportsDelaysNoOther) {
  const auto stub = v1::Coordinator::NewStub(Channel());
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  stream->WaitForInitialMetadata();
  Join("job")->WaitFor(DirectiveKind::kRun);
  server_->Shutdown(Duration::zero());
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(GrpcServerTest, AStreamThatNeverReportsIsEnded) {
  const auto stub = v1::Coordinator::NewStub(Channel());
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  stream->WaitForInitialMetadata();
  // The coordinator refuses this report, whose protocol version is too new. So
  // the stream does not count as a node, and is ended.
  v1::Report report;
  ToWire(FirstReport("job", "node", 1), &report);
  report.set_protocol_version(kProtocolVersion + 1);
  stream->Write(report);
  v1::Directive directive;
  ASSERT_TRUE(stream->Read(&directive));
  EXPECT_EQ(directive.kind(), v1::Directive::REFUSED);
  EXPECT_FALSE(stream->Read(&directive));
  const grpc::Status end = stream->Finish();
  EXPECT_TRUE(end.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
              end.error_code() == grpc::StatusCode::UNAVAILABLE)
      << end.error_code() << " " << end.error_message();
}

TEST_F(GrpcServerTest, AStreamWithATokenThatNeverReportsIsToldSo) {
  GrpcServer::Options options;
  options.listen = {"127.0.0.1", 0};
  options.tokens = {"secret"};
  auto server = GrpcServer::Start(&coordinator_, options);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  const auto stub = v1::Coordinator::NewStub(Channel("secret"));
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::Directive directive;
  EXPECT_FALSE(stream->Read(&directive));
  const grpc::Status end = stream->Finish();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(end.error_message(), HasSubstr("within 10 s"));
}

TEST_F(GrpcServerTest, ItsOwnCheckFindsItAlive) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(server_->Check().ok());
    Join("job-" + std::to_string(i))->WaitFor(DirectiveKind::kRun);
  }
}

TEST_F(GrpcServerTest, ANodeBeyondItsRoomIsToldSoUntilThereIsRoom) {
  GrpcServer::Options options;
  options.listen = {"127.0.0.1", 0};
  options.max_nodes = 1;
  auto server = GrpcServer::Start(&coordinator_, options);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  auto first = Join("first");
  first->WaitFor(DirectiveKind::kRun);
  auto second = Join("second");
  EXPECT_THAT(
      second->WaitUntilDisconnected(absl::StatusCode::kResourceExhausted),
      HasSubstr("no room for more than 1 nodes"));
  first.reset();
  second->WaitFor(DirectiveKind::kRun);
}

// A job of one node, with an operator who asks for its output.
class GrpcInquiryTest : public GrpcServerTest {
 protected:
  void SetUp() override {
    GrpcServerTest::SetUp();
    node_ = Join("job");
    node_->WaitFor(DirectiveKind::kRun);
    admin_ = v1::Admin::NewStub(Channel());
  }

  std::unique_ptr<grpc::ClientReader<v1::InquiryUpdate>> Ask(
      grpc::ClientContext* context) {
    v1::InquiryRequest request;
    request.set_run_id("job");
    request.mutable_question()->set_kind(v1::Inquiry::LOGS);
    return admin_->ReadLogs(context, request);
  }
  uint64_t Inquired() {
    return node_
        ->WaitUntil([](const Directive& directive) {
          return !directive.inquiries.empty();
        })
        .inquiries.front()
        .id;
  }
  // Sends an answer with one part. Returns the status with which the
  // coordinator ends the call.
  grpc::Status Answer(const std::string& run_id, const std::string& id,
                      const v1::AnswerPart& part) {
    const auto stub = v1::Coordinator::NewStub(Channel());
    grpc::ClientContext context;
    context.AddMetadata("muster-inquiry", id);
    context.AddMetadata("muster-run-id-bin", run_id);
    v1::AnswerTaken taken;
    const auto writer = stub->Answer(&context, &taken);
    writer->Write(part);
    writer->WritesDone();
    return writer->Finish();
  }
  static v1::AnswerPart LastPart(const std::string& text) {
    v1::AnswerPart part;
    part.add_lines()->set_text(text);
    part.set_is_last(true);
    return part;
  }

  std::unique_ptr<ScriptedNode> node_;
  std::unique_ptr<v1::Admin::Stub> admin_;
};

TEST_F(GrpcInquiryTest, AnswerReachesTheOperator) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  const auto answer = node_->link().Answer("job", Inquired());
  ASSERT_NE(answer, nullptr);
  EXPECT_TRUE(answer->Send({.lines = {{.rank = 0, .text = "one"}}}));
  EXPECT_TRUE(answer->Send({.notes = {"two"}, .is_last = true}));
  EXPECT_FALSE(answer->Send({})) << "the answer is complete";
  v1::InquiryUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_EQ(update.host(), "node");
  EXPECT_EQ(update.part().lines(0).text(), "one");
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_EQ(update.part().notes(0), "two");
  EXPECT_FALSE(reader->Read(&update));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(GrpcInquiryTest, AnswerToAnUnknownInquiryIsRefused) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  const std::string id = std::to_string(Inquired());
  for (const auto& [run_id, claimed] :
       std::vector<std::pair<std::string, std::string>>{{"job", "17"},
                                                        {"other", id},
                                                        {"job", ""},
                                                        {"job", "-1"},
                                                        {"", id}}) {
    EXPECT_EQ(Answer(run_id, claimed, LastPart("forged")).error_code(),
              grpc::StatusCode::NOT_FOUND)
        << run_id << " " << claimed;
  }
  EXPECT_TRUE(Answer("job", id, LastPart("real")).ok());
  EXPECT_EQ(Answer("job", id, LastPart("again")).error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::InquiryUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_EQ(update.part().lines(0).text(), "real");
  EXPECT_FALSE(reader->Read(&update));
}

TEST_F(GrpcInquiryTest, TooLargePartEndsTheAnswerAndIsSaid) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  v1::AnswerPart part = LastPart(std::string(kMaxOutputLineBytes + 1, 'x'));
  EXPECT_EQ(Answer("job", std::to_string(Inquired()), part).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::InquiryUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_THAT(update.missing(), HasSubstr("text is"));
}

TEST_F(GrpcInquiryTest, AnswerThatBreaksOffIsSaid) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  node_->link().Answer("job", Inquired()).reset();
  v1::InquiryUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_THAT(update.missing(), HasSubstr("broke off"));
}

TEST_F(GrpcInquiryTest, OperatorWhoLeavesEndsTheAnswer) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  const auto answer = node_->link().Answer("job", Inquired());
  context.TryCancel();
  node_->WaitUntil(
      [](const Directive& directive) { return directive.inquiries.empty(); });
  while (answer->Send({.lines = {{.text = std::string(1000, 'x')}}})) {
  }
  reader->Finish();
}

TEST_F(GrpcInquiryTest, SlowOperatorHoldsUpTheNodeOnly) {
  grpc::ClientContext context;
  const auto reader = Ask(&context);
  const auto answer = node_->link().Answer("job", Inquired());
  // The number of messages that the thread `sender` has sent. Its Send blocks
  // once all buffers are full, until Cancel makes it return false.
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    while (answer->Send({.lines = {{.text = std::string(60'000, 'x')}}})) {
      ++sent;
    }
  });
  v1::InquiryUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_TRUE(coordinator_.GetJob("job").ok());
  answer->Cancel();
  sender.join();
  EXPECT_LT(sent, 200);
  context.TryCancel();
  reader->Finish();
}

TEST_F(GrpcServerTest, AMalformedNameIsRefused) {
  const auto stub = v1::Admin::NewStub(Channel());
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_run_id(std::string(100'000, 'x'));
  v1::JobStatus response;
  const grpc::Status status = stub->GetJob(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_LT(status.error_message().size(), 200u);
}

TEST_F(GrpcServerTest, ShutsDownWithStreamsOpen) {
  auto node = Join("job");
  node->WaitFor(DirectiveKind::kRun);
  server_->Shutdown(Duration::zero());
  server_->Shutdown(Duration::zero());
  node->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace muster::rendezvous
