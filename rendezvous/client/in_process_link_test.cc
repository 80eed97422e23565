#include "rendezvous/client/in_process_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

class InProcessLinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<ScriptedNode> Node(const Report& first) {
    return std::make_unique<ScriptedNode>(
        std::make_unique<InProcessLink>(&coordinator_), first);
  }

  Coordinator coordinator_{Coordinator::Options{}};
};

TEST_F(InProcessLinkTest, TwoNodesJoinAndAreGivenTheirPlaces) {
  auto a = Node(FirstReport("job", "node-a", 2));
  auto b = Node(FirstReport("job", "node-b", 2));
  EXPECT_EQ(a->WaitFor(DirectiveKind::kRun).place.group_rank, 0);
  EXPECT_EQ(b->WaitFor(DirectiveKind::kRun).place.group_rank, 1);
  EXPECT_EQ(a->own_address(), "");
}

// A report with seen_epoch 0 says that the agent has seen no directive of this
// coordinator. The last directive may have been lost, so the coordinator must
// send it again.
TEST_F(InProcessLinkTest, AReportThatHasSeenNoDirectiveIsAnswered) {
  auto a = Node(FirstReport("job", "node-a", 1));
  const Directive first = a->WaitFor(DirectiveKind::kRun);
  a->Tell([](Report* report) { report->seen_epoch = 0; });
  const Directive again = a->WaitUntil([&](const Directive& directive) {
    return directive.answered_report > first.answered_report;
  });
  EXPECT_EQ(again.kind, DirectiveKind::kRun);
  EXPECT_EQ(again.revision, first.revision);
}

TEST_F(InProcessLinkTest, ManyJoinFromManyThreads) {
  std::vector<std::unique_ptr<ScriptedNode>> nodes;
  for (int i = 0; i < 50; ++i) {
    nodes.push_back(Node(FirstReport("job", "node-" + std::to_string(i), 50)));
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(nodes[i]->WaitFor(DirectiveKind::kRun).place.group_rank, i);
  }
}

TEST_F(InProcessLinkTest, ClosingIsNoticed) {
  Report report = FirstReport("job", "node-a", 2);
  report.spec.reconnect_grace = Duration::zero();
  auto a = Node(report);
  report.node.node_id = report.node.host = "node-b";
  auto b = Node(report);
  a->WaitFor(DirectiveKind::kRun);
  b->WaitFor(DirectiveKind::kRun);
  b.reset();
  a->WaitFor(DirectiveKind::kStop);
}

TEST_F(InProcessLinkTest, AReportSentBeforeClosingArrives) {
  auto a = Node(FirstReport("job", "node-a", 2));
  a->WaitFor(DirectiveKind::kWait);
  a->Tell([](Report* report) { report->cancel = CancelWish{2, false}; });
  a->Close();
  EXPECT_EQ(coordinator_.GetJob("job").value().phase, JobPhase::kFinished);
  EXPECT_TRUE(coordinator_.WaitUntilDeserted(std::chrono::seconds(20)));
}

TEST_F(InProcessLinkTest, NothingIsSentAfterClosing) {
  auto a = Node(FirstReport("job", "node-a", 2));
  a->WaitFor(DirectiveKind::kWait);
  a->Close();
  a->Tell([](Report* report) { report->cancel = CancelWish{2, false}; });
  EXPECT_NE(coordinator_.GetJob("job").value().phase, JobPhase::kFinished);
}

TEST_F(InProcessLinkTest, AnswerReachesTheOperator) {
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  const auto session = std::make_shared<InquirySession>(Inquiry(), [] {});
  ASSERT_TRUE(coordinator_.Inquire("job", "", session).ok());
  const uint64_t id = a->WaitUntil([](const Directive& directive) {
                         return !directive.inquiries.empty();
                       })
                          .inquiries.front()
                          .id;
  EXPECT_EQ(a->link().Answer("job", id + 1), nullptr);
  const auto answer = a->link().Answer("job", id);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(a->link().Answer("job", id), nullptr) << "answered already";
  const AnswerPart part{.lines = {{.text = std::string(100'000, 'x')}}};
  int sent = 0;
  std::thread sender([&] {
    while (sent < 100 && answer->Send(part)) ++sent;
    answer->Send({.is_last = true});
  });
  int read = 0;
  while (!session->IsOver()) read += session->Next().has_value() ? 1 : 0;
  sender.join();
  EXPECT_EQ(sent, 100);
  EXPECT_EQ(read, 101);
  coordinator_.EndInquiry("job", session);
}

TEST_F(InProcessLinkTest, CancelReleasesAnAnswerThatWaits) {
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  const auto session = std::make_shared<InquirySession>(Inquiry(), [] {});
  ASSERT_TRUE(coordinator_.Inquire("job", "", session).ok());
  const uint64_t id = a->WaitUntil([](const Directive& directive) {
                         return !directive.inquiries.empty();
                       })
                          .inquiries.front()
                          .id;
  auto answer = a->link().Answer("job", id);
  std::thread sender([&] {
    while (answer->Send({.lines = {{.text = std::string(100'000, 'x')}}})) {
    }
  });
  answer->Cancel();
  sender.join();
  answer.reset();
  while (session->Next().has_value()) {
  }
  EXPECT_TRUE(session->IsOver());
  coordinator_.EndInquiry("job", session);
}

}  // namespace
}  // namespace muster::rendezvous
