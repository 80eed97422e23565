#include "base/search_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace muster {
namespace {

TEST(SearchPath, WithoutPathTheSystemsDefaultHoldsTheShell) {
  const std::string path = SearchPath({{"HOME", "/root"}});
  EXPECT_EQ(path, DefaultSearchPath());
  EXPECT_EQ(access((path.substr(0, path.find(':')) + "/sh").c_str(), X_OK), 0)
      << path;
}

TEST(SearchPath, IsPathEvenIfThatIsEmpty) {
  EXPECT_EQ(SearchPath({{"PATH", "/opt/bin:/bin"}}), "/opt/bin:/bin");
  EXPECT_EQ(SearchPath({{"PATH", ""}}), "");
}

}  // namespace
}  // namespace muster
