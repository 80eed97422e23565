#include "models/trainer/text/gpt_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

TEST(GptTextTest, WhyThereIsNoTextIsSaid) {
  EXPECT_THAT(LoadText({.data = "/dev/null"}).status().ToString(),
              HasSubstr("the text '/dev/null' is empty"));
  EXPECT_THAT(LoadText({.data = "/nowhere/text"}).status().ToString(),
              HasSubstr("cannot read the text '/nowhere/text': No such file"));
  EXPECT_THAT(
      PrepareText({.data = "/dev/null"}, "/dev/null").status().ToString(),
      HasSubstr("the text '/dev/null' is empty"));
}

}  // namespace
}  // namespace muster::models
