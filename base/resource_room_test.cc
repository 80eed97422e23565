#include "base/resource_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>
#include <string>
#include <system_error>
#include <thread>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The stderr and the wait status of a child process that ran under a resource
// limit.
struct Ended {
  std::string said;
  int status = 0;
};
Ended InChild(__rlimit_resource resource, rlim_t value,
              const std::function<void()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    const rlimit limit = {value, value};
    if (value != RLIM_INFINITY) setrlimit(resource, &limit);
    body();
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char bytes[1024];
  ssize_t got;
  while ((got = read(ends[0], bytes, sizeof bytes)) > 0) {
    ended.said.append(bytes, static_cast<size_t>(got));
  }
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

void Say(const absl::Status& status) {
  const std::string text(status.message());
  (void)!write(STDERR_FILENO, text.data(), text.size());
}

TEST(CheckRoom, EnoughIsOk) {
  EXPECT_TRUE(CheckRoom({.threads = 4, .descriptors = 10}).ok());
  EXPECT_EQ(CheckRoom({.threads = 4, .descriptors = 1 << 30}).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CheckRoom, DescriptorsAreGivenBack) {
  const Ended ended = InChild(RLIMIT_NOFILE, 40, [] {
    for (int i = 0; i < 100; ++i) Say(CheckRoom({.descriptors = 20}));
  });
  EXPECT_EQ(ended.said, "");
}

TEST(CheckRoom, TooFewDescriptorsAreNamedWithTheLimit) {
  const Ended ended =
      InChild(RLIMIT_NOFILE, 20, [] { Say(CheckRoom({.descriptors = 64})); });
  EXPECT_EQ(ended.said,
            "too few file descriptors: this process may have 20, and needs 64 "
            "more than it has open; raise the limit (ulimit -n)");
}

TEST(CheckRoom, TooFewAddressesForThreadsAreNamedWithTheLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory alone exceeds the limit";
#endif
  const Ended ended =
      InChild(RLIMIT_AS, 300 << 20, [] { Say(CheckRoom({.threads = 1000})); });
  EXPECT_THAT(ended.said, HasSubstr(" of 1000 threads can be started: the "
                                    "address space is limited to 307200 KiB; "
                                    "raise it (ulimit -v)"));
}

TEST(ReduceThreadMemory, ThreadsTakeLittleOfIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory alone exceeds the limit";
#endif
  const Ended ended = InChild(RLIMIT_AS, 300 << 20, [] {
    ReduceThreadMemory();
    Say(CheckRoom({.threads = 64}));
  });
  EXPECT_EQ(ended.said, "");
}

TEST(InstallOutOfResourceHandler, AThreadThatCannotBeStartedIsOneLine) {
  const Ended ended = InChild(RLIMIT_AS, RLIM_INFINITY, [] {
    InstallOutOfResourceHandler("launch");
    std::thread([] {
      throw std::system_error(
          std::make_error_code(std::errc::resource_unavailable_try_again));
    }).join();
  });
  EXPECT_THAT(ended.said,
              StartsWith("launch: no more threads can be started: "));
  EXPECT_EQ(WEXITSTATUS(ended.status), 1);
}

TEST(InstallOutOfResourceHandler, MemoryToo) {
  const Ended ended = InChild(RLIMIT_AS, RLIM_INFINITY, [] {
    InstallOutOfResourceHandler("launch");
    std::thread([] { throw std::bad_alloc(); }).join();
  });
  EXPECT_THAT(ended.said, StartsWith("launch: out of memory"));
  EXPECT_EQ(WEXITSTATUS(ended.status), 1);
}

TEST(InstallOutOfResourceHandler, AnythingElseAborts) {
  const Ended ended = InChild(RLIMIT_CORE, 0, [] {
    InstallOutOfResourceHandler("launch");
    std::thread([] { throw 1; }).join();
  });
  EXPECT_EQ(WTERMSIG(ended.status), SIGABRT);
}

}  // namespace
}  // namespace muster
