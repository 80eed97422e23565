#include "trainer_sdk/store/store_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace muster {
namespace {

TEST(NameSome, ListsThemAsAPersonWould) {
  EXPECT_EQ(NameSome({"a"}, 8), "'a'");
  EXPECT_EQ(NameSome({"a", "b"}, 8), "'a' and 'b'");
  EXPECT_EQ(NameSome({"a", "b", "c"}, 3), "'a', 'b' and 'c'");
  EXPECT_EQ(NameSome({"a", "b", "c", "d"}, 2), "'a', 'b' and 2 more");
}

TEST(NameSome, ShowsBytesAndCutsLongNames) {
  EXPECT_EQ(NameSome({std::string("a\n\x01", 3)}, 1), "'a\\n\\x01'");
  const std::string name = NameSome({std::string(5000, 'k')}, 1);
  EXPECT_LT(name.size(), 300u);
  EXPECT_EQ(name.substr(name.size() - 5), "k...'");
}

TEST(AbsentKeysError, SaysHowLongWhatAndWhere) {
  absl::Status error = AbsentKeysError(
      {"a", "b"}, std::chrono::milliseconds(2500), "the store at h:1");
  EXPECT_TRUE(absl::IsDeadlineExceeded(error));
  EXPECT_EQ(std::string(error.message()),
            "waited 2.5 s for keys 'a' and 'b', which no client has set in the "
            "store at h:1");
}

TEST(RoundOverError, SaysOnceWhatAStoreThatIsGoneMeans) {
  const absl::Status over =
      RoundOverError(absl::UnavailableError("closed the connection"));
  EXPECT_EQ(over,
            absl::UnavailableError("the round is over, or its store is gone: "
                                   "closed the connection"));
  EXPECT_EQ(RoundOverError(over), over);
  const absl::Status late = absl::DeadlineExceededError("late");
  EXPECT_EQ(RoundOverError(late), late);
  EXPECT_EQ(RoundOverError(absl::OkStatus()), absl::OkStatus());
}

}  // namespace
}  // namespace muster
