// Tests of AdminClient with a real coordinator over gRPC.

#include "rendezvous/client/admin_client.h"

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "base/testing/free_port.h"
#include "proto/etcd.grpc.pb.h"
#include "rendezvous/client/in_process_link.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/testing/loopback.h"
#include "rendezvous/testing/scripted_node.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/version.h"

namespace muster::rendezvous {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Update = AdminClient::Update;
using Watching = AdminClient::Watching;

class AdminClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    options.tokens = {"s3cret"};
    auto server = GrpcServer::Start(&coordinator_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  AdminClient::Options To(const Endpoint& endpoint,
                          const std::string& token) const {
    AdminClient::Options options;
    options.endpoints = {endpoint};
    options.token = token;
    options.timeout = std::chrono::seconds(30);
    options.reconnect_timeout = std::chrono::milliseconds(1);
    return options;
  }
  std::unique_ptr<AdminClient> Client(const std::string& token = "s3cret") {
    return std::make_unique<AdminClient>(To(server_->address(), token));
  }

  // Adds a node on the host `host` to a job that accepts 1 to `nodes` nodes.
  std::unique_ptr<ScriptedNode> Join(const std::string& run_id,
                                     const std::string& host, int nodes) {
    Report report = FirstReport(run_id, host, nodes);
    report.spec.min_nodes = 1;
    report.spec.last_call = std::chrono::hours(1);
    return std::make_unique<ScriptedNode>(
        std::make_unique<InProcessLink>(&coordinator_), report);
  }

  Coordinator coordinator_{Coordinator::Options{}};
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(AdminClientTest, WhoAmIReturnsTheCaller) {
  const auto caller = Client()->WhoAmI();
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->address, "127.0.0.1");
  EXPECT_EQ(caller->version, kVersion);
  // Client and coordinator run on one machine, so their clocks are equal. The
  // measured difference must be within the error of the measurement, which is
  // at most the round-trip time.
  EXPECT_LE(std::chrono::abs(caller->clock_ahead), caller->round_trip);
  EXPECT_EQ(Client("wrong")->WhoAmI().status().code(),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(AdminClientTest, ListsAndShowsJobs) {
  EXPECT_THAT(Client()->ListJobs().value(), IsEmpty());
  auto a = Join("job-1", "node-a", 2);
  auto b = Join("job-1", "node-b", 2);
  auto c = Join("job-2", "node-c", 1);
  a->WaitFor(DirectiveKind::kRun);
  c->WaitFor(DirectiveKind::kRun);
  const auto jobs = Client()->ListJobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_THAT(*jobs, SizeIs(2));
  EXPECT_EQ((*jobs)[0].run_id, "job-1");
  EXPECT_EQ((*jobs)[1].run_id, "job-2");
  EXPECT_THAT((*jobs)[0].nodes, IsEmpty());
  const auto job = Client()->GetJob("job-1");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->phase, JobPhase::kRunning);
  ASSERT_THAT(job->nodes, SizeIs(2));
  EXPECT_EQ(job->nodes[1].node.host, "node-b");
  EXPECT_EQ(job->nodes[1].group_rank, 1);
}

// Returns the local addresses of this machine's established TCP connections to
// the port `port` (see the description of /proc/net/tcp in proc(5)).
std::vector<std::string> ConnectionsTo(int port) {
  constexpr char kEstablished[] = "01";
  const std::string wanted = absl::StrFormat(":%04X", port);
  std::vector<std::string> found;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(path);
    for (std::string line; std::getline(table, line);) {
      std::istringstream fields(line);
      std::string number, local, remote, state;
      fields >> number >> local >> remote >> state;
      if (state == kEstablished && absl::EndsWith(remote, wanted)) {
        found.push_back(local);
      }
    }
  }
  return found;
}

TEST_F(AdminClientTest, LaterCallsUseTheSameConnection) {
  const auto client = Client();
  ASSERT_TRUE(client->ListJobs().ok());
  const int port = server_->address().port;
  const std::vector<std::string> first = ConnectionsTo(port);
  EXPECT_THAT(first, SizeIs(1));
  ASSERT_TRUE(client->WhoAmI().ok());
  ASSERT_TRUE(client->ListJobs().ok());
  EXPECT_EQ(ConnectionsTo(port), first);
}

TEST_F(AdminClientTest, ACallAfterTheConnectionBrokeOpensANewOne) {
  const auto client = Client();
  ASSERT_TRUE(client->ListJobs().ok());
  GrpcServer::Options options;
  options.listen = server_->address();
  options.tokens = {"s3cret"};
  server_.reset();
  EXPECT_EQ(client->ListJobs().status().code(), absl::StatusCode::kUnavailable);
  auto server = GrpcServer::Start(&coordinator_, options);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  EXPECT_TRUE(client->ListJobs().ok());
}

TEST_F(AdminClientTest, NamesTheJobsThatThereAre) {
  auto a = Join("job-1", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  for (const absl::Status& status :
       {Client()->GetJob("typo").status(), Client()->CancelJob("typo", "me"),
        Client()->DrainNode("typo", "node-a"),
        Client()->WatchJob("typo",
                           [](const Update&) { return Watching::kGoOn; })}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr("job-1"));
  }
}

TEST_F(AdminClientTest, TheFirstEndpointThatAnswersIsAsked) {
  auto a = Join("job-1", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  const Endpoint closed = {"127.0.0.1", FreePort()};
  AdminClient::Options options = To(closed, "s3cret");
  options.endpoints.push_back({"no-such-host.invalid", 1});
  options.endpoints.push_back(server_->address());
  AdminClient client(options);
  EXPECT_THAT(client.ListJobs().value(), SizeIs(1));
  const absl::Status unknown = client.GetJob("typo").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("job-1"));
  AdminClient stranger(
      {.endpoints = {closed, server_->address()}, .token = "wrong"});
  EXPECT_EQ(stranger.ListJobs().status().code(),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(AdminClientTest, AnotherGrpcServerIsPassedOver) {
  etcdserverpb::KV::Service service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> etcd = builder.BuildAndStart();
  ASSERT_NE(etcd, nullptr);
  GrpcServer::Options open;
  open.listen = {"127.0.0.1", 0};
  const auto server = GrpcServer::Start(&coordinator_, open);
  ASSERT_TRUE(server.ok()) << server.status();
  const Endpoint other = {"127.0.0.1", port};
  AdminClient::Options options = To(other, "");
  EXPECT_THAT(std::string(AdminClient(options).ListJobs().status().message()),
              HasSubstr("is not a Muster coordinator"));
  options.endpoints.push_back((*server)->address());
  EXPECT_TRUE(AdminClient(options).ListJobs().ok());
}

TEST_F(AdminClientTest, WithoutAnAnswerEveryEndpointHasItsReason) {
  const Endpoint first = {"127.0.0.1", FreePort()};
  const Endpoint second = {"127.0.0.2", first.port};
  AdminClient client({.endpoints = {first, second}});
  const absl::Status status = client.ListJobs().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(first.ToString() + ": connection refused"),
                    HasSubstr(second.ToString() + ": connection refused")));
}

TEST_F(AdminClientTest, CancelsOnceOnly) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  EXPECT_TRUE(Client()->CancelJob("job", "ada@host").ok());
  const Directive end = a->WaitFor(DirectiveKind::kFinished);
  EXPECT_EQ(end.verdict.outcome, Outcome::kCancelled);
  EXPECT_THAT(end.verdict.reason, HasSubstr("ada@host"));
  EXPECT_EQ(Client()->CancelJob("job", "ada@host").code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(AdminClientTest, DrainsANode) {
  auto a = Join("job", "node-a", 3);
  auto b = Join("job", "node-b", 3);
  a->WaitFor(DirectiveKind::kWait);
  b->WaitFor(DirectiveKind::kWait);
  EXPECT_EQ(Client()->DrainNode("job", "node-x").code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(Client()->DrainNode("job", "node-b").ok());
  b->WaitFor(DirectiveKind::kReleased);
}

TEST_F(AdminClientTest, ANodeThatTheJobNeedsIsNotDrained) {
  auto a = Join("job", "node-a", 1);
  a->WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(Client()->DrainNode("job", "node-a").code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(AdminClientTest, WatchesUntilTheJobIsOver) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  std::unique_ptr<ScriptedNode> b;
  std::vector<std::string> kinds;
  JobPhase last = JobPhase::kGathering;
  const absl::Status end = Client()->WatchJob("job", [&](const Update& update) {
    if (b == nullptr) {
      // The first update contains no decisions: WatchJob reports only decisions
      // that are made after it was called.
      EXPECT_THAT(update.decisions, IsEmpty());
      EXPECT_EQ(update.status.phase, JobPhase::kGathering);
      b = Join("job", "node-b", 2);
      b->WaitFor(DirectiveKind::kRun);
      EXPECT_TRUE(coordinator_.CancelJob("job", "enough").ok());
      // The job was cancelled before any node started workers. So each node can
      // answer the stop order at once with a report that it has no workers.
      for (auto* node : {a.get(), b.get()}) {
        node->WaitFor(DirectiveKind::kStop);
        node->Tell([](Report* report) {
          report->round = 1;
          report->phase = NodePhase::kIdle;
        });
      }
    }
    for (const Decision& decision : update.decisions) {
      kinds.push_back(decision.kind);
    }
    last = update.status.phase;
    return Watching::kGoOn;
  });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_EQ(last, JobPhase::kFinished);
  EXPECT_THAT(kinds, Contains("join"));
  EXPECT_THAT(kinds, Contains("finish"));
}

TEST_F(AdminClientTest, AWatcherMayHaveEnough) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  int updates = 0;
  EXPECT_TRUE(Client()
                  ->WatchJob("job",
                             [&](const Update&) {
                               ++updates;
                               return Watching::kEnough;
                             })
                  .ok());
  EXPECT_EQ(updates, 1);
}

TEST_F(AdminClientTest, WatchEndsWithTheCoordinator) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  std::thread stopper;
  const absl::Status end = Client()->WatchJob("job", [&](const Update&) {
    stopper = std::thread([&] { server_->Shutdown(Duration::zero()); });
    return Watching::kGoOn;
  });
  EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable) << end;
  stopper.join();
}

TEST_F(AdminClientTest, AWatcherGoesOnAtTheNextCoordinator) {
  auto a = Join("job", "node-a", 3);
  a->WaitFor(DirectiveKind::kWait);
  Coordinator next{Coordinator::Options{}};
  GrpcServer::Options listening;
  listening.listen = {"127.0.0.1", 0};
  listening.tokens = {"s3cret"};
  auto next_server = GrpcServer::Start(&next, listening);
  ASSERT_TRUE(next_server.ok()) << next_server.status();
  const Endpoint second = (*next_server)->address();
  AdminClient::Options options = To(server_->address(), "s3cret");
  options.endpoints.push_back(second);
  options.reconnect_timeout = std::chrono::seconds(60);
  AdminClient client(options);
  std::unique_ptr<ScriptedNode> b;
  // HOST:PORT of the coordinator at each reconnection.
  std::vector<std::string> endpoints;
  // Kinds of the decisions that were received after the first loss of a
  // coordinator.
  std::vector<std::string> kinds;
  const absl::Status end = client.WatchJob("job", [&](const Update& update) {
    if (update.reconnected.has_value()) {
      endpoints.push_back(update.reconnected->endpoint);
    }
    if (endpoints.empty()) {
      if (b != nullptr) return Watching::kGoOn;
      Report report = FirstReport("job", "node-b", 3);
      report.spec.min_nodes = 1;
      report.spec.last_call = std::chrono::hours(1);
      b = std::make_unique<ScriptedNode>(std::make_unique<InProcessLink>(&next),
                                         report);
      b->WaitFor(DirectiveKind::kWait);
      server_->Shutdown(Duration::zero());
      return Watching::kGoOn;
    }
    // The client connects to a second coordinator (`next`) and gets all its
    // decisions. Then the server of `next` is restarted, and the client
    // connects to `next` again. `next` must not repeat its decisions.
    for (const Decision& decision : update.decisions) {
      kinds.push_back(decision.kind);
    }
    if (endpoints.size() == 2) return Watching::kEnough;
    if (kinds.size() == 1) {
      next_server->reset();
      listening.listen = second;
      next_server = GrpcServer::Start(&next, listening);
      EXPECT_TRUE(next_server.ok()) << next_server.status();
    }
    return Watching::kGoOn;
  });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_THAT(kinds, ElementsAre("join"));
  EXPECT_THAT(endpoints, ElementsAre(second.ToString(), second.ToString()));
}

// The watcher reaches the next coordinator after more decisions than this
// coordinator keeps for watchers.
TEST_F(AdminClientTest, DecisionsThatAWatcherMissesAreCounted) {
  constexpr int kNodes = 70;
  auto a = Join("job", "node-a", kNodes + 1);
  a->WaitFor(DirectiveKind::kWait);
  Coordinator next{Coordinator::Options{}};
  GrpcServer::Options listening;
  listening.listen = {"127.0.0.1", 0};
  listening.tokens = {"s3cret"};
  auto next_server = GrpcServer::Start(&next, listening);
  ASSERT_TRUE(next_server.ok()) << next_server.status();
  AdminClient::Options options = To(server_->address(), "s3cret");
  options.endpoints.push_back((*next_server)->address());
  options.reconnect_timeout = std::chrono::seconds(60);
  std::vector<std::unique_ptr<ScriptedNode>> nodes;
  int received = 0;
  int dropped = 0;
  const absl::Status end =
      AdminClient(options).WatchJob("job", [&](const Update& update) {
        if (update.reconnected.has_value()) {
          received = static_cast<int>(update.decisions.size());
          dropped = update.decisions_dropped;
          return Watching::kEnough;
        }
        if (!nodes.empty()) return Watching::kGoOn;
        for (int i = 0; i < kNodes; ++i) {
          Report report =
              FirstReport("job", "node-" + std::to_string(i), kNodes + 1);
          report.spec.min_nodes = 1;
          report.spec.last_call = std::chrono::hours(1);
          nodes.push_back(std::make_unique<ScriptedNode>(
              std::make_unique<InProcessLink>(&next), report));
          nodes.back()->WaitFor(DirectiveKind::kWait);
        }
        server_->Shutdown(Duration::zero());
        return Watching::kGoOn;
      });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_EQ(received + dropped, kNodes);
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(next.missed_decisions(), dropped);
  EXPECT_EQ(coordinator_.missed_decisions(), 0);
}

TEST_F(AdminClientTest, AWatcherGivesUpAfterItsPatience) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  const absl::Status end = Client()->WatchJob("job", [&](const Update&) {
    server_->Shutdown(Duration::zero());
    return Watching::kGoOn;
  });
  EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable) << end;
  EXPECT_THAT(std::string(end.message()),
              HasSubstr("none was found within 0.001 s"));
}

TEST_F(AdminClientTest, AsksForTheTokenOnEveryCall) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  for (const char* token : {"", "guess"}) {
    const auto client = Client(token);
    for (const absl::Status& status :
         {client->ListJobs().status(), client->GetJob("job").status(),
          client->CancelJob("job", "me"), client->DrainNode("job", "node-a"),
          client->WatchJob("job",
                           [](const Update&) { return Watching::kGoOn; })}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << status;
    }
  }
  EXPECT_EQ(coordinator_.GetJob("job").value().phase, JobPhase::kGathering);
}

TEST_F(AdminClientTest, DerivedTokenPermitsWhatItSays) {
  auto a = Join("ada-1", "node-a", 2);
  auto b = Join("bob-1", "node-b", 2);
  a->WaitFor(DirectiveKind::kWait);
  b->WaitFor(DirectiveKind::kWait);
  const auto viewer = Client(*DeriveToken(
      "s3cret", {.name = "ada", .roles = {Role::kView}, .jobs = {"ada-*"}}));
  const auto jobs = viewer->ListJobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_THAT(*jobs, SizeIs(1));
  EXPECT_EQ(jobs->front().run_id, "ada-1");
  EXPECT_TRUE(viewer->GetJob("ada-1").ok());
  const absl::Status missing = viewer->GetJob("ada-2").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), Not(HasSubstr("bob-1")));
  for (const absl::Status& status :
       {viewer->GetJob("bob-1").status(), viewer->CancelJob("ada-1", "me"),
        viewer->DrainNode("ada-1", "node-a"),
        viewer->WatchJob("bob-1",
                         [](const Update&) { return Watching::kGoOn; })}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  }
  EXPECT_TRUE(viewer->WhoAmI().ok());
}

TEST_F(AdminClientTest, VerdictNamesThePrincipal) {
  auto a = Join("job", "node-a", 2);
  a->WaitFor(DirectiveKind::kWait);
  const auto operators = Client(
      *DeriveToken("s3cret", {.name = "ada", .roles = {Role::kOperate}}));
  ASSERT_TRUE(operators->CancelJob("job", "asked by me@here").ok());
  EXPECT_THAT(coordinator_.GetJob("job").value().reason,
              HasSubstr("asked by me@here, as ada"));
}

TEST_F(AdminClientTest, SaysThatNobodyIsThere) {
  const Endpoint endpoint = server_->address();
  server_.reset();
  const absl::Status status =
      AdminClient(To(endpoint, "s3cret")).ListJobs().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("connection refused"));
}

TEST_F(AdminClientTest, SaysThatAStrangerIsThere) {
  StrangeServer stranger("HTTP/1.1 400 Bad Request\r\n\r\n");
  const absl::Status status =
      AdminClient(To({"127.0.0.1", stranger.port()}, "")).ListJobs().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

TEST_F(AdminClientTest, GivesUpAfterItsTimeout) {
  StrangeServer silent("");
  AdminClient::Options options = To({"127.0.0.1", silent.port()}, "");
  options.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(AdminClient(options).ListJobs().status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

// A coordinator that runs inside a `launch` process and is a standby of
// `coordinator_`.
class StandbyTest : public AdminClientTest {
 protected:
  void SetUp() override {
    AdminClientTest::SetUp();
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    options.tokens = {"s3cret"};
    auto server = GrpcServer::Start(&standby_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    standby_server_ = *std::move(server);
  }

  AdminClient ToStandby() {
    return AdminClient(To(standby_server_->address(), "s3cret"));
  }

  Coordinator standby_{
      {.only_run_id = "job",
       .takeover = Coordinator::Options::Takeover{.own_endpoint = "b:1"}}};
  std::unique_ptr<GrpcServer> standby_server_;
};

TEST_F(StandbyTest, SendsCallsToTheCoordinatorThatItFollows) {
  auto a = Join("job", "node-a", 3);
  auto b = Join("job", "node-b", 3);
  a->WaitFor(DirectiveKind::kWait);
  standby_.Follow(Standby::Leader{server_->address().ToString(), 1});
  AdminClient client = ToStandby();
  EXPECT_THAT(client.ListJobs().value(), SizeIs(1));
  EXPECT_EQ(client.GetJob("job")->nodes.size(), 2u);
  EXPECT_TRUE(client.DrainNode("job", "node-b").ok());
  b->WaitFor(DirectiveKind::kReleased);
  int updates = 0;
  EXPECT_TRUE(client
                  .WatchJob("job",
                            [&](const Update&) {
                              ++updates;
                              return Watching::kEnough;
                            })
                  .ok());
  EXPECT_EQ(updates, 1);
  EXPECT_TRUE(client.CancelJob("job", "me").ok());
  // A standby answers WhoAmI itself instead of naming the coordinator.
  EXPECT_TRUE(client.WhoAmI().ok());
}

TEST_F(StandbyTest, TellsWhereTheCoordinatorIs) {
  standby_.Follow(Standby::Leader{"no-such-host.invalid:1", 1});
  const absl::Status status = ToStandby().CancelJob("job", "me");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no-such-host.invalid"));
}

TEST_F(StandbyTest, ACallWaitsForTheElection) {
  auto a = Join("job", "node-a", 3);
  a->WaitFor(DirectiveKind::kWait);
  standby_.Follow(std::nullopt);
  AdminClient client = ToStandby();
  std::thread elected([&] {
    standby_.Follow(Standby::Leader{server_->address().ToString(), 1});
  });
  EXPECT_TRUE(client.GetJob("job").ok());
  elected.join();
}

TEST_F(StandbyTest, NobodyWithoutTheRoleLearnsWhereItIs) {
  standby_.Follow(Standby::Leader{server_->address().ToString(), 1});
  const std::string token =
      *DeriveToken("s3cret", {.name = "ada", .roles = {Role::kJoin}});
  AdminClient client(To(standby_server_->address(), token));
  EXPECT_EQ(client.GetJob("job").status().code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace muster::rendezvous
