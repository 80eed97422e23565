#include "launcher/rank_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

rendezvous::InquiryUpdate Line(const std::string& text) {
  rendezvous::InquiryUpdate update{.node_id = "a", .host = "host-a"};
  update.part.lines = {{.text = text}};
  return update;
}

// Waits until a stop is requested.
absl::Status UntilStopped(const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  std::condition_variable_any changed;
  changed.wait_for(lock, stop, std::chrono::seconds(60), [] { return false; });
  return absl::CancelledError("stopped");
}

// Waits until the last line is `last`, for at most 30 s. Returns the texts of
// all lines.
std::vector<std::string> LinesUpTo(RankOutput& output,
                                   const std::string& last) {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  while (true) {
    std::vector<std::string> texts;
    for (const auto& line : output.Look().lines()) texts.push_back(line.text);
    const bool is_there = !texts.empty() && texts.back() == last;
    if (is_there || MonotonicNow() > deadline) return texts;
    std::this_thread::yield();
  }
}

// Waits up to 30 s until the output has a note (OutputTail::note), and returns
// it.
std::string NoteOf(RankOutput& output) {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  while (output.Look().note().empty() && MonotonicNow() < deadline) {
    std::this_thread::yield();
  }
  return output.Look().note();
}

TEST(RankOutputTest, ShowsTheLinesOfTheRankThatIsFollowed) {
  RankOutput output(
      [](int rank, const std::stop_token& stop, const RankOutput::Take& take) {
        take(Line("rank " + std::to_string(rank)));
        take(Line("end"));
        return UntilStopped(stop);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(output.Look().empty());
  output.Follow(3);
  EXPECT_THAT(LinesUpTo(output, "end"), ElementsAre("rank 3", "end"));
  output.Follow(4);
  EXPECT_THAT(LinesUpTo(output, "end"), ElementsAre("rank 4", "end"));
  output.Follow(std::nullopt);
  EXPECT_TRUE(output.Look().empty());
}

TEST(RankOutputTest, AnErrorIsTheNoteAndTheInquiryIsRepeated) {
  int calls = 0;
  RankOutput output(
      [&](int, const std::stop_token& stop, const RankOutput::Take& take) {
        if (++calls == 1) {
          take(Line("old"));
          return absl::UnavailableError("lost");
        }
        take(Line("new"));
        return UntilStopped(stop);
      },
      std::chrono::milliseconds(1));
  output.Follow(0);
  EXPECT_THAT(LinesUpTo(output, "new"), ElementsAre("new"));
}

TEST(RankOutputTest, TheEndOfTheOutputIsTheNote) {
  RankOutput output([](int, const std::stop_token&,
                       const RankOutput::Take&) { return absl::OkStatus(); },
                    std::chrono::seconds(60));
  output.Follow(0);
  EXPECT_EQ(NoteOf(output), "the output has ended");
}

TEST(RankOutputTest, APauseAfterAnErrorEndsAtOnce) {
  RankOutput output(
      [](int, const std::stop_token&, const RankOutput::Take&) {
        return absl::UnavailableError("no coordinator");
      },
      std::chrono::hours(1));
  output.Follow(0);
  EXPECT_EQ(NoteOf(output), "no coordinator");
  output.Follow(std::nullopt);
  EXPECT_TRUE(output.Look().empty());
}

}  // namespace
}  // namespace muster::launcher
