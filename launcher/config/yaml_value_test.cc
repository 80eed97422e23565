#include "launcher/config/yaml_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Refused(const std::string& text) {
  const absl::StatusOr<YamlValue> value = ParseYaml(text);
  EXPECT_FALSE(value.ok()) << text;
  return std::string(value.status().message());
}

TEST(ParseYamlTest, ATreeWithLines) {
  const absl::StatusOr<YamlValue> value =
      ParseYaml("a: 1\nb:\n  c: 'no'\n  d: [x, ~]\ne:\n");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->Find("a")->text, "1");
  EXPECT_EQ(value->Find("b")->Find("c")->line, 3);
  EXPECT_TRUE(value->Find("b")->Find("c")->quoted);
  const YamlValue& list = *value->Find("b")->Find("d");
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[0].text, "x");
  EXPECT_EQ(list.items[1].kind, YamlValue::Kind::kNull);
  EXPECT_EQ(value->Find("e")->kind, YamlValue::Kind::kNull);
  EXPECT_EQ(value->Find("f"), nullptr);
  EXPECT_EQ(value->entries.size(), 3u);
}

TEST(ParseYamlTest, JsonIsYaml) {
  const absl::StatusOr<YamlValue> value = ParseYaml("{\"a\": {\"b\": [1]}}");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->Find("a")->Find("b")->items[0].text, "1");
}

TEST(ParseYamlTest, NothingGrowsBeyondItsText) {
  EXPECT_THAT(Refused("a: &x 1\nb: 2\n"), StartsWith("1: an anchor"));
  EXPECT_THAT(Refused("a: 1\nb: *x\n"), StartsWith("2: "));
  EXPECT_THAT(Refused("a: &x [1]\nb: [*x, *x]\n"), HasSubstr("anchor"));
  EXPECT_THAT(Refused("a: !!python/object:os.system x\n"), HasSubstr("a tag"));
  EXPECT_THAT(Refused("a: 1\n---\nb: 2\n"), HasSubstr("second document"));
  EXPECT_THAT(Refused(std::string(kMaxYamlBytes + 1, ' ')),
              HasSubstr("larger than 64 KiB"));
  std::string deep;
  for (int i = 0; i <= kMaxYamlDepth; ++i) deep += "- ";
  EXPECT_THAT(Refused(deep + "1\n"), HasSubstr("deeper than 16"));
  Refused(std::string(kMaxYamlBytes, '['));
  Refused(std::string(kMaxYamlBytes, '{'));
  std::string many = "a: [";
  for (int i = 0; i < kMaxYamlValues; ++i) many += "1,";
  EXPECT_THAT(Refused(many + "]"), HasSubstr("more than 4096 values"));
}

TEST(ParseYamlTest, KeysAreTextsOfTheirOwn) {
  EXPECT_EQ(Refused("a: 1\nb: 2\na: 3\n"), "3: 'a' stands there twice");
  EXPECT_THAT(Refused("[a, b]: 1\n"), HasSubstr("a key that is no text"));
  EXPECT_THAT(Refused("{a: 1}: 1\n"), HasSubstr("a key that is no text"));
  EXPECT_THAT(Refused("~: 1\n"), HasSubstr("a key that is no text"));
}

TEST(ParseYamlTest, InvalidYamlIsRefused) {
  EXPECT_THAT(Refused("a: 1\nb: [1, 2\nc: 3\n"), HasSubstr("no YAML"));
  EXPECT_THAT(Refused(std::string("a\0b", 3)), HasSubstr("not a text file"));
  EXPECT_THAT(Refused("a: \"x\\0y\"\n"), HasSubstr("a NUL character"));
}

TEST(ReadYamlTruthTest, PlainWordsOnly) {
  EXPECT_EQ(ReadYamlTruth(*ParseYaml("a: Yes\n")->Find("a")), true);
  EXPECT_EQ(ReadYamlTruth(*ParseYaml("a: off\n")->Find("a")), false);
  EXPECT_EQ(ReadYamlTruth(*ParseYaml("a: 'no'\n")->Find("a")), std::nullopt);
  EXPECT_EQ(ReadYamlTruth(*ParseYaml("a: 1\n")->Find("a")), std::nullopt);
}

}  // namespace
}  // namespace muster::launcher
