#include "agent/gpus/xid.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(XidTest, KindsFollowTheCatalogue) {
  for (const int xid : {48, 62, 64, 74, 79, 95, 119, 140}) {
    EXPECT_EQ(KindOf(xid), XidKind::kHardware) << xid;
    EXPECT_STRNE(MeaningOf(xid), "") << xid;
  }
  for (const int xid : {13, 31, 43, 45, 68}) {
    EXPECT_EQ(KindOf(xid), XidKind::kApplication) << xid;
    EXPECT_STREQ(MeaningOf(xid), "") << xid;
  }
  // 63, 92, 94 and 109 must count as neither hardware nor application errors:
  // after 63, 92 and 94 the GPU continues to work, and 109 has several causes.
  // The other numbers are no Xids.
  for (const int xid : {63, 92, 94, 109, 0, -1, 9999}) {
    EXPECT_EQ(KindOf(xid), XidKind::kOther) << xid;
  }
}

TEST(XidTest, TextNamesGpuNumberKindAndMeaning) {
  EXPECT_EQ(XidText({.xid = 79, .gpu = 3, .uuid = "GPU-5f"}),
            "GPU 3 (GPU-5f): XID 79, hardware: the GPU has fallen off the bus");
  EXPECT_EQ(XidText({.xid = 31, .gpu = 0, .uuid = "GPU-5f"}),
            "GPU 0 (GPU-5f): XID 31, application");
  EXPECT_EQ(XidText({.xid = 94}), "a GPU: XID 94, other");
}

TEST(XidTest, CountsAreByKindAndTheNewestXidIsKept) {
  XidCounts counts;
  EXPECT_EQ(counts.last, 0);
  for (const int xid : {31, 79, 48, 94}) Count(xid, counts);
  EXPECT_EQ(counts.last, 94);
  EXPECT_EQ(counts.by_kind, (std::array<int64_t, kXidKinds>{2, 1, 1}));
}

}  // namespace
}  // namespace muster::agent
