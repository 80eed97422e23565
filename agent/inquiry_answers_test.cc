#include "agent/inquiry_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using rendezvous::AnswerPart;
using rendezvous::AnswerSender;
using rendezvous::Inquiry;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr seconds kMaxWait(30);

// A link to the coordinator that keeps the parts of all answers that are sent
// through it.
class FakeLink : public rendezvous::CoordinatorLink {
 public:
  void Open(rendezvous::LinkEvents) override {}
  void Send(const rendezvous::Report&) override {}
  void Close() override {}
  std::unique_ptr<AnswerSender> Answer(const std::string& run_id,
                                       uint64_t inquiry) override {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_.push_back(run_id + "/" + std::to_string(inquiry));
    changed_.notify_all();
    return std::make_unique<Sender>(this);
  }

  // Waits until `count` answers are complete; fails the test after kMaxWait.
  void WaitForLastParts(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    EXPECT_TRUE(changed_.wait_until(lock, ToSteady(MonotonicNow() + kMaxWait),
                                    [&] { return complete_ >= count; }));
  }
  void WaitForLines(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    EXPECT_TRUE(changed_.wait_until(lock, ToSteady(MonotonicNow() + kMaxWait),
                                    [&] { return lines_.size() >= count; }));
  }
  void WaitUntilAllEnded() {
    std::unique_lock<std::mutex> lock(mutex_);
    EXPECT_TRUE(changed_.wait_until(lock, ToSteady(MonotonicNow() + kMaxWait),
                                    [&] { return ended_ == answers_.size(); }));
  }
  std::vector<std::string> answers() {
    std::lock_guard<std::mutex> lock(mutex_);
    return answers_;
  }
  std::vector<std::string> lines() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }
  std::vector<rendezvous::RankStack> stacks() {
    std::lock_guard<std::mutex> lock(mutex_);
    return stacks_;
  }

 private:
  class Sender : public AnswerSender {
   public:
    explicit Sender(FakeLink* link) : link_(link) {}
    ~Sender() override {
      std::lock_guard<std::mutex> lock(link_->mutex_);
      ++link_->ended_;
      link_->changed_.notify_all();
    }
    bool Send(const AnswerPart& part) override {
      std::lock_guard<std::mutex> lock(link_->mutex_);
      for (const auto& line : part.lines) link_->lines_.push_back(line.text);
      link_->stacks_.insert(link_->stacks_.end(), part.stacks.begin(),
                            part.stacks.end());
      link_->complete_ += part.is_last ? 1 : 0;
      link_->changed_.notify_all();
      return true;
    }
    void Cancel() override {}

   private:
    FakeLink* const link_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> answers_;
  std::vector<std::string> lines_;
  std::vector<rendezvous::RankStack> stacks_;
  int complete_ = 0;
  size_t ended_ = 0;
};

class InquiryAnswersTest : public ::testing::Test {
 protected:
  void Write(const std::string& bytes) {
    output_->Append({.local_rank = 0, .rank = 4, .round = 1},
                    RecentOutput::Stream::kOut, bytes, MonotonicNow());
  }

  FakeLink link_;
  const std::shared_ptr<RecentOutput> output_ =
      std::make_shared<RecentOutput>();
  InquiryAnswers answers_{"job", &link_, output_};
};

TEST_F(InquiryAnswersTest, RepeatedDirectiveDoesNotRepeatTheAnswer) {
  Write("a\nb\n");
  const Inquiry inquiry{.id = 7, .lines = 1};
  answers_.Follow({inquiry});
  answers_.Follow({inquiry});
  link_.WaitForLastParts(1);
  answers_.Follow({});
  answers_.Follow({inquiry});
  answers_.Follow({inquiry, {.id = 8, .lines = 1}});
  link_.WaitForLastParts(2);
  EXPECT_THAT(link_.answers(), ElementsAre("job/7", "job/8"));
  EXPECT_THAT(link_.lines(), ElementsAre("b", "b"));
}

TEST_F(InquiryAnswersTest, AnswerEndsWhenTheInquiryLeavesTheDirective) {
  Write("a\n");
  answers_.Follow({{.id = 7, .follow = Inquiry::Follow::kYes}});
  link_.WaitForLines(1);
  answers_.Follow({});
  link_.WaitUntilAllEnded();
  Write("b\n");
  EXPECT_THAT(link_.lines(), ElementsAre("a"));
}

TEST_F(InquiryAnswersTest, FollowerGetsTheLastOutputAtTheEnd) {
  output_->Begin();
  answers_.Follow({{.id = 7, .follow = Inquiry::Follow::kYes}});
  Write("last words");
  output_->End({.local_rank = 0, .rank = 4, .round = 1},
               RecentOutput::Stream::kOut);
  answers_.Finish(kMaxWait);
  link_.WaitForLastParts(1);
  EXPECT_THAT(link_.lines(), ElementsAre("last words"));
}

TEST_F(InquiryAnswersTest, StacksAreThoseOfTheRanksThatAreAskedFor) {
  answers_.WorkerUp(4, getpid());
  answers_.WorkerUp(5, getpid());
  answers_.WorkerUp(6, getpid());
  answers_.WorkerGone(6);
  answers_.Follow({{.id = 7, .kind = Inquiry::Kind::kStacks, .ranks = {5, 6}}});
  link_.WaitForLastParts(1);
  ASSERT_THAT(link_.stacks(), ::testing::SizeIs(1));
  EXPECT_EQ(link_.stacks()[0].rank, 5);
  EXPECT_EQ(link_.stacks()[0].pid, getpid());
  EXPECT_THAT(link_.stacks()[0].lines, ::testing::Not(IsEmpty()));
}

TEST_F(InquiryAnswersTest, ProcessThatIsGoneHasNoStack) {
  answers_.WorkerUp(4, 999'999'999);
  answers_.Follow({{.id = 7, .kind = Inquiry::Kind::kStacks}});
  link_.WaitForLastParts(1);
  ASSERT_THAT(link_.stacks(), ::testing::SizeIs(1));
  EXPECT_THAT(link_.stacks()[0].lines, IsEmpty());
}

TEST_F(InquiryAnswersTest, NumberOfAnswersIsBounded) {
  std::vector<Inquiry> open;
  for (uint64_t id = 1; id <= 1000; ++id) {
    open.push_back({.id = id, .follow = Inquiry::Follow::kYes});
  }
  answers_.Follow(open);
  answers_.Follow(open);
  EXPECT_LE(link_.answers().size(), rendezvous::kMaxInquiries);
}

}  // namespace
}  // namespace muster::agent
