// Tests that the log folders of old rounds are removed. The coordinator of a
// real `launch` restarts its job a hundred times without a pause.

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/report_wire.h"
#include "tests/integration/harness/subprocess.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

constexpr int kMaxKeptRounds = 100;
constexpr int kRounds = kMaxKeptRounds + 4;

// A coordinator that makes one node begin and stop kRounds rounds.
class Restarter : public v1::Coordinator::Service {
 public:
  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::Directive, v1::Report>* stream) override {
    context->AddInitialMetadata(kWelcome, "1");
    stream->SendInitialMetadata();
    Directive told;
    told.epoch = 1;
    v1::Report wire;
    while (stream->Read(&wire)) {
      Report report;
      if (!FromWire(wire, &report).ok()) return grpc::Status::CANCELLED;
      if (!Advance(report, &told)) continue;
      v1::Directive directive;
      ToWire(told, &directive);
      stream->Write(directive);
    }
    return grpc::Status::OK;
  }

 private:
  // If the node has obeyed the directive `*told`, replaces it by the next
  // directive and returns true. Otherwise returns false.
  static bool Advance(const Report& report, Directive* told) {
    const bool is_idle = report.phase == NodePhase::kIdle;
    const bool is_first = told->revision == 0;
    if (is_idle && (is_first || told->kind == DirectiveKind::kStop)) {
      const int round = told->place.round;
      if (report.round < round) return false;
      if (round == kRounds) {
        told->kind = DirectiveKind::kFinished;
        told->verdict.reason = "enough rounds";
      } else {
        told->kind = DirectiveKind::kRun;
        told->place = {.round = round + 1,
                       .epoch = told->epoch,
                       .master_address = "127.0.0.1",
                       .master_port = report.offered_master_port,
                       .run_tag = "tag",
                       .store_clients = {"127.0.0.1"}};
      }
    } else if (report.phase == NodePhase::kRunning &&
               told->kind == DirectiveKind::kRun &&
               report.round == told->place.round) {
      told->kind = DirectiveKind::kStop;
      told->stop = {.round = report.round, .grace = std::chrono::seconds(30)};
    } else {
      return false;
    }
    ++told->revision;
    return true;
  }
};

TEST(OldRounds, TheFoldersOfTheFirstAndTheNewest100RoundsAreKept) {
  Restarter restarter;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&restarter);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const std::string folder = testing::TempDir() + "/logs";
  std::filesystem::create_directory(folder);
  Subprocess launch({"launcher/launch", "--nnodes=2", "--nproc-per-node=1",
                     "--rdzv-backend=c10d", "--rdzv-id=job",
                     absl::StrCat("--rdzv-endpoint=127.0.0.1:", port),
                     "--rdzv-conf=is_host=0", "--log-dir=" + folder,
                     "--no-python", "sleep", "1000"});
  EXPECT_EQ(launch.ExitCode(), 0) << launch.Output();
  EXPECT_THAT(launch.Output(),
              HasSubstr("the log folders of old rounds are removed"));
  std::vector<int> kept;
  const std::string prefix = "attempt_";
  for (const auto& one :
       std::filesystem::directory_iterator(folder + "/job_tag")) {
    const std::string name = one.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    kept.push_back(std::stoi(name.substr(prefix.size())));
  }
  std::sort(kept.begin(), kept.end());
  // Ignore the folder that is removed last: `launch` may exit before its thread
  // for removals has removed it.
  std::erase(kept, kRounds - kMaxKeptRounds - 1);
  std::vector<int> expected = {0};
  for (int i = kRounds - kMaxKeptRounds; i < kRounds; ++i) {
    expected.push_back(i);
  }
  EXPECT_EQ(kept, expected);
}

}  // namespace
}  // namespace muster::rendezvous
