#include "agent/guardian/start_retry.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

TEST(StartRetry, LackOfResourcesAndTroubleOfAFileServerPass) {
  for (int error : {EAGAIN, ENOMEM, ENFILE, ETXTBSY, ESTALE, EIO, ETIMEDOUT}) {
    EXPECT_TRUE(IsPassing({"exec", "/x", error}, SeenBefore::kNo)) << error;
  }
}

TEST(StartRetry, AMistypedProgramFailsAtOnce) {
  for (int error : {ENOENT, ENOTDIR}) {
    EXPECT_FALSE(IsPassing({"exec", "/x", error}, SeenBefore::kNo)) << error;
    EXPECT_TRUE(IsPassing({"exec", "/x", error}, SeenBefore::kYes)) << error;
  }
}

TEST(StartRetry, AForbiddenOrMalformedProgramStaysSo) {
  for (int error : {EACCES, ENOEXEC, EISDIR, E2BIG, EINVAL, EMFILE}) {
    EXPECT_FALSE(IsPassing({"exec", "/x", error}, SeenBefore::kYes)) << error;
  }
}

TEST(StartRetry, TheDelaysDoubleAndEnd) {
  EXPECT_EQ(DelayOfRetry(0), std::nullopt);
  Duration all = Duration::zero();
  Duration expected = milliseconds(50);
  for (int failed = 1; failed <= 7; ++failed) {
    ASSERT_EQ(DelayOfRetry(failed), expected) << failed;
    all += expected;
    expected *= 2;
  }
  EXPECT_EQ(all, milliseconds(6350));
  EXPECT_EQ(DelayOfRetry(8), std::nullopt);
}

}  // namespace
}  // namespace muster::agent
