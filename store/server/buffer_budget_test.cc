#include "store/server/buffer_budget.h"

#include <gtest/gtest.h>

namespace muster::store {
namespace {

constexpr size_t kMax = size_t{1} << 20;
constexpr size_t kHalf = kMax / 2;
constexpr Duration kOverdueAfter = std::chrono::seconds(5);
constexpr Instant kBegin = Instant(std::chrono::hours(1));

class BufferBudgetTest : public testing::Test {
 protected:
  // Records in `share` that the connection's buffers use `bytes`, all of them
  // for unread replies.
  void Send(BufferShare& share, size_t bytes) {
    budget_.Charge(share, bytes, bytes);
  }

  BufferBudget budget_{kMax, kOverdueAfter};
  BufferShare a_;
  BufferShare b_;
  BufferShare c_;
};

TEST_F(BufferBudgetTest, CountsTheBuffersOfAllConnections) {
  budget_.Charge(a_, 300, 100);
  budget_.Charge(b_, 20, 20);
  EXPECT_EQ(budget_.bytes(), 320);
  EXPECT_EQ(budget_.outgoing(), 120);
  budget_.Charge(a_, 200, 0);
  EXPECT_EQ(budget_.bytes(), 220);
  EXPECT_EQ(budget_.outgoing(), 20);
  budget_.Charge(a_, 0, 0);
  budget_.Charge(b_, 0, 0);
  EXPECT_EQ(budget_.bytes(), 0);
  EXPECT_EQ(budget_.outgoing(), 0);
}

TEST_F(BufferBudgetTest, OnlyUnreadRepliesMakeRequestsWait) {
  budget_.Charge(a_, kMax, kHalf);
  EXPECT_FALSE(budget_.RequestsWait());
  EXPECT_FALSE(budget_.IsFull());
  budget_.Charge(a_, kMax + 1, kHalf);
  EXPECT_FALSE(budget_.RequestsWait());
  EXPECT_TRUE(budget_.IsFull());
  budget_.Charge(a_, kMax, kHalf + 1);
  EXPECT_TRUE(budget_.RequestsWait());
  EXPECT_FALSE(budget_.IsFull());
  Send(a_, kHalf);
  EXPECT_FALSE(budget_.RequestsWait());
}

TEST_F(BufferBudgetTest, IsOverdueIfNoClientReads) {
  EXPECT_FALSE(budget_.IsOverdue(kBegin));
  Send(a_, kHalf + 1);
  // IsOverdue measures the time from its first call on, even if the budget was
  // exceeded earlier.
  EXPECT_FALSE(budget_.IsOverdue(kBegin + kOverdueAfter));
  EXPECT_FALSE(budget_.IsOverdue(kBegin + 2 * kOverdueAfter - Duration(1)));
  EXPECT_TRUE(budget_.IsOverdue(kBegin + 2 * kOverdueAfter));
  Send(a_, 0);
  EXPECT_FALSE(budget_.IsOverdue(kBegin + 2 * kOverdueAfter));
}

TEST_F(BufferBudgetTest, AClientThatReadsPreventsOverdue) {
  Send(a_, kHalf);
  Send(b_, kHalf);
  for (int i = 0; i < 10; ++i) {
    ASSERT_FALSE(budget_.IsOverdue(kBegin + i * (kOverdueAfter - Duration(1))));
    budget_.CountRead(b_, 1000);
  }
  // Until `last` client b_ has read often enough, so the requests that wait for
  // buffer memory are not overdue. After `last` no client reads, so the waiting
  // requests must be overdue after a further kOverdueAfter.
  const Instant last = kBegin + 10 * (kOverdueAfter - Duration(1));
  EXPECT_FALSE(budget_.IsOverdue(last));
  EXPECT_TRUE(budget_.IsOverdue(last + kOverdueAfter));
}

TEST_F(BufferBudgetTest, AByteNowAndThenIsNoReading) {
  Send(a_, kHalf + 1);
  int i = 0;
  while (!budget_.IsOverdue(kBegin + i * (kOverdueAfter / 10))) {
    budget_.CountRead(a_, 1);
    ASSERT_LT(++i, 20);
  }
}

TEST_F(BufferBudgetTest, EveryWaitIsLookedAtByItself) {
  Send(a_, kHalf + 1);
  EXPECT_FALSE(budget_.IsOverdue(kBegin));
  // Client a_ reads all its replies, so requests wait no longer. Then the
  // unread replies of b_ make requests wait again. The time kOverdueAfter,
  // after which a wait is overdue, must be counted from the start of this
  // second wait.
  Send(a_, 0);
  Send(b_, kHalf + 1);
  EXPECT_FALSE(budget_.IsOverdue(kBegin + kOverdueAfter));
  EXPECT_TRUE(budget_.IsOverdue(kBegin + 2 * kOverdueAfter));
}

TEST_F(BufferBudgetTest, AClientThatDoesNotReadBlocksBeforeOneThatReads) {
  Send(a_, kHalf);
  Send(b_, kHalf - 1);
  Send(c_, 100);
  EXPECT_FALSE(budget_.IsOverdue(kBegin));
  budget_.CountRead(a_, 1);
  budget_.CountRead(b_, 0);
  ASSERT_TRUE(budget_.IsOverdue(kBegin + kOverdueAfter));
  EXPECT_TRUE(budget_.BlocksBefore(b_, a_));
  EXPECT_FALSE(budget_.BlocksBefore(a_, b_));
  EXPECT_TRUE(budget_.BlocksBefore(b_, c_));
  EXPECT_TRUE(budget_.BlocksBefore(c_, a_));
  const BufferShare idle;
  EXPECT_TRUE(budget_.BlocksBefore(a_, idle));
  EXPECT_FALSE(budget_.BlocksBefore(idle, a_));
  // While the unread replies exceed half of the limit, requests wait. The first
  // two calls of Send end this wait, and the next two begin a new wait. Client
  // a_ has read only during the earlier wait, which does not count now. So the
  // connection of a_ is closed first, because it has more unread replies.
  Send(b_, 0);
  Send(c_, 0);
  Send(c_, kHalf - 1);
  Send(b_, kHalf);
  EXPECT_FALSE(budget_.IsOverdue(kBegin + kOverdueAfter));
  EXPECT_TRUE(budget_.BlocksBefore(a_, c_));
}

TEST_F(BufferBudgetTest, HalfARequestFillsBeforeAnAnswer) {
  budget_.Charge(a_, kHalf, kHalf);
  budget_.Charge(b_, kHalf + 100, 0);
  ASSERT_TRUE(budget_.IsFull());
  EXPECT_TRUE(budget_.FillsBefore(b_, a_));
  EXPECT_FALSE(budget_.FillsBefore(a_, b_));
  // The unread reply to a_ is now larger than the incomplete request of b_. But
  // it is smaller than the incomplete requests of b_ and c_ together. So b_ is
  // still closed before a_.
  budget_.Charge(a_, kHalf + 200, kHalf + 200);
  budget_.Charge(c_, 400, 0);
  EXPECT_TRUE(budget_.FillsBefore(b_, a_));
  // The reply to a_ now exceeds the limit of all buffers by itself, so the
  // connection of a_ is closed first.
  budget_.Charge(a_, 2 * kMax, 2 * kMax);
  EXPECT_TRUE(budget_.FillsBefore(a_, b_));
}

constexpr size_t kLeast = MemoryWatermark::kLeast;

TEST(MemoryWatermark, GrowthReturnsNothing) {
  MemoryWatermark mark;
  for (size_t bytes : {size_t{0}, kLeast, 10 * kLeast, 10 * kLeast}) {
    EXPECT_FALSE(mark.Falls(bytes));
  }
}

TEST(MemoryWatermark, AFallToHalfIsReturnedOnce) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(10 * kLeast));
  EXPECT_FALSE(mark.Falls(5 * kLeast + 1));
  EXPECT_TRUE(mark.Falls(5 * kLeast));
  EXPECT_FALSE(mark.Falls(5 * kLeast));
  EXPECT_FALSE(mark.Falls(3 * kLeast));
  EXPECT_TRUE(mark.Falls(0));
}

TEST(MemoryWatermark, SmallAmountsAreKept) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(kLeast - 1));
  EXPECT_FALSE(mark.Falls(0));
  EXPECT_FALSE(mark.Falls(kLeast));
  EXPECT_FALSE(mark.Falls(1));
  EXPECT_TRUE(mark.Falls(0));
}

TEST(MemoryWatermark, ANewMaximumCountsAfresh) {
  MemoryWatermark mark;
  EXPECT_FALSE(mark.Falls(2 * kLeast));
  EXPECT_TRUE(mark.Falls(0));
  EXPECT_FALSE(mark.Falls(2 * kLeast));
  EXPECT_TRUE(mark.Falls(kLeast));
}

}  // namespace
}  // namespace muster::store
