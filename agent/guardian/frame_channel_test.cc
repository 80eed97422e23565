#include "agent/guardian/frame_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::agent {
namespace {

constexpr size_t kMax = 1 << 20;

struct Ends {
  Ends() {
    int fds[2];
    EXPECT_EQ(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
        0);
    left = std::make_unique<FrameChannel>(OwnedFd(fds[0]), kMax);
    right = std::make_unique<FrameChannel>(OwnedFd(fds[1]), kMax);
  }
  std::unique_ptr<FrameChannel> left;
  std::unique_ptr<FrameChannel> right;
};

std::string Taken(FrameChannel* channel) {
  const auto frame = channel->TakeFrame();
  return frame.ok() ? frame->value_or("(none)") : "(broken)";
}

bool SameFile(int a, int b) {
  struct stat one = {};
  struct stat other = {};
  return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
         one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

TEST(FrameChannel, FramesComeInOrderAndWhole) {
  Ends ends;
  ends.left->Queue("first");
  ends.left->Queue("");
  ends.left->Queue("third");
  ASSERT_TRUE(ends.left->Flush());
  ASSERT_TRUE(ends.right->Fill());
  EXPECT_EQ(Taken(ends.right.get()), "first");
  EXPECT_EQ(Taken(ends.right.get()), "");
  EXPECT_EQ(Taken(ends.right.get()), "third");
  EXPECT_EQ(Taken(ends.right.get()), "(none)");
}

TEST(FrameChannel, AFrameLargerThanTheSocketComesInPieces) {
  Ends ends;
  const std::string large(kMax, 'x');
  ends.left->Queue(large);
  int pieces = 0;
  while (true) {
    ASSERT_TRUE(ends.left->Flush());
    ASSERT_TRUE(ends.right->Fill());
    ++pieces;
    if (ends.left->unsent() == 0) break;
    ASSERT_EQ(Taken(ends.right.get()), "(none)");
  }
  EXPECT_GT(pieces, 1);
  EXPECT_EQ(Taken(ends.right.get()), large);
}

TEST(FrameChannel, DescriptorsComeWithTheirFrames) {
  Ends ends;
  const OwnedFd null(open("/dev/null", O_RDONLY));
  const OwnedFd zero(open("/dev/zero", O_RDONLY));
  ends.left->Queue("none");
  ASSERT_TRUE(ends.left->Flush());
  ends.left->Queue("two", {null.get(), zero.get()});
  ASSERT_TRUE(ends.left->Flush());
  ends.left->Queue("one", {zero.get()});
  ASSERT_TRUE(ends.left->Flush());
  while (Taken(ends.right.get()) != "one") ASSERT_TRUE(ends.right->Fill());
  const OwnedFd first = ends.right->TakeDescriptor();
  const OwnedFd second = ends.right->TakeDescriptor();
  const OwnedFd third = ends.right->TakeDescriptor();
  EXPECT_TRUE(SameFile(first.get(), null.get()));
  EXPECT_TRUE(SameFile(second.get(), zero.get()));
  EXPECT_TRUE(SameFile(third.get(), zero.get()));
  EXPECT_NE(fcntl(first.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(ends.right->TakeDescriptor().open());
}

TEST(FrameChannel, EndOfStreamFollowsTheLastFrame) {
  Ends ends;
  ends.left->Queue("last");
  ASSERT_TRUE(ends.left->Flush());
  ends.left.reset();
  EXPECT_FALSE(ends.right->Fill());
  EXPECT_EQ(Taken(ends.right.get()), "last");
  ends.right->Queue("nobody");
  EXPECT_FALSE(ends.right->Flush());
}

TEST(FrameChannel, ALengthBeyondTheBoundIsRefused) {
  Ends ends;
  ASSERT_EQ(write(ends.left->fd(), "\xff\xff\xff\xff", 4), 4);
  ASSERT_TRUE(ends.right->Fill());
  EXPECT_EQ(Taken(ends.right.get()), "(broken)");
}

TEST(FrameChannel, UnreadFramesAreBounded) {
  Ends ends;
  const std::string chunk(1 << 16, 'x');
  size_t written = 0;
  for (int i = 0; i < 100; ++i) {
    ssize_t sent;
    while ((sent = write(ends.left->fd(), chunk.data(), chunk.size())) > 0) {
      written += static_cast<size_t>(sent);
    }
    ASSERT_TRUE(ends.right->Fill());
  }
  EXPECT_LT(written, 2 * kMax + (1 << 20));
}

TEST(FrameChannel, LostDescriptorsBreakIt) {
  Ends ends;
  const OwnedFd null(open("/dev/null", O_RDONLY));
  ends.left->Queue("one", {null.get(), null.get()});
  ASSERT_TRUE(ends.left->Flush());
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  const bool good = ends.right->Fill();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(good);
}

}  // namespace
}  // namespace muster::agent
