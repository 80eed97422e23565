#include "trainer_sdk/tcp/socket_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace muster {
namespace {

TEST(SocketError, ReachedLimitIsNamed) {
  EXPECT_TRUE(absl::IsResourceExhausted(SocketError("taking a call", EMFILE)));
  EXPECT_THAT(std::string(SocketError("taking a call", EMFILE).message()),
              testing::HasSubstr("ulimit -n"));
  EXPECT_TRUE(absl::IsResourceExhausted(SocketError("taking a call", ENFILE)));
  EXPECT_TRUE(absl::IsUnavailable(SocketError("taking a call", ECONNRESET)));
}

TEST(AcceptFailure, PeerErrorsAreRetriedAndOwnErrorsAreFatal) {
  EXPECT_EQ(AcceptFailureOf(EAGAIN), AcceptFailure::kNobody);
  for (const int error : {EINTR, ECONNABORTED, EPROTO, ENETDOWN, EPERM}) {
    EXPECT_EQ(AcceptFailureOf(error), AcceptFailure::kAgain) << error;
  }
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EBADF, EINVAL}) {
    EXPECT_EQ(AcceptFailureOf(error), AcceptFailure::kFatal) << error;
  }
}

}  // namespace
}  // namespace muster
