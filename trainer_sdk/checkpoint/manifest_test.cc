#include "trainer_sdk/checkpoint/manifest.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/checksum.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

Manifest Sound() {
  Manifest manifest = {.step = 100, .serial = 3, .ranks = 2};
  manifest.files = {{"rank-00000.safetensors", 100, 17},
                    {"rank-00001.safetensors", 90, ~uint64_t{0}},
                    {"state", 0, 1}};
  manifest.tensors = {{{"a", DType::kFloat32, {3, 2}}, {{0, 4, 0}, {4, 6, 1}}},
                      {{"b \"\xc3\xa9", DType::kInt64, {}}, {{0, 1, 1}}},
                      {{"c", DType::kInt8, {0}}, {}}};
  return manifest;
}

// Makes a manifest of `rest` by adding the first line, which has the checksum
// of `rest`.
std::string Sealed(const std::string& rest) {
  Checksum checksum;
  checksum.Add(rest);
  return absl::StrCat("{\"xxh3\":\"", ChecksumText(checksum.value()), "\",\n",
                      rest);
}

std::string Body(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(ManifestTest, IsTextThatPeopleCanRead) {
  EXPECT_EQ(
      Body(WriteManifest(Sound())),
      "\"checkpoint\":{\"format\":\"muster-checkpoint\",\"version\":1,"
      "\"step\":100,\"serial\":3,\"ranks\":2,\"files\":["
      "{\"name\":\"rank-00000.safetensors\",\"bytes\":100,"
      "\"xxh3\":\"0000000000000011\"},"
      "{\"name\":\"rank-00001.safetensors\",\"bytes\":90,"
      "\"xxh3\":\"ffffffffffffffff\"},"
      "{\"name\":\"state\",\"bytes\":0,\"xxh3\":\"0000000000000001\"}],"
      "\"tensors\":[{\"name\":\"a\",\"dtype\":\"float32\",\"shape\":[3,2],"
      "\"parts\":[[0,4,0],[4,6,1]]},"
      "{\"name\":\"b \\\"\xc3\xa9\",\"dtype\":\"int64\",\"shape\":[],"
      "\"parts\":[[0,1,1]]},"
      "{\"name\":\"c\",\"dtype\":\"int8\",\"shape\":[0],\"parts\":[]}]}}\n");
}

TEST(ManifestTest, ComesBackAsItWas) {
  const auto manifest = ParseManifest(WriteManifest(Sound()));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(*manifest, Sound());
}

// Checks that the checksum is XXH3-64, by published values for an empty input
// and for some bytes.
TEST(ChecksumTest, IsXxh3) {
  EXPECT_EQ(ChecksumText(Checksum().value()), "2d06800538d394c2");
  Checksum pieces;
  pieces.Add("ab");
  pieces.Add("c");
  Checksum whole;
  whole.Add("abc");
  EXPECT_EQ(pieces.value(), whole.value());
  EXPECT_EQ(ChecksumText(whole.value()), "78af5f94892f3950");
}

TEST(ManifestTest, EveryBitIsUnderTheChecksum) {
  const std::string text = WriteManifest(Sound());
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(absl::IsDataLoss(ParseManifest(damaged).status())) << bit;
  }
  for (size_t length = 0; length < text.size(); ++length) {
    ASSERT_FALSE(ParseManifest(text.substr(0, length)).ok()) << length;
  }
}

TEST(ManifestTest, InconsistentManifestIsRefused) {
  const struct {
    const char* from;
    const char* to;
    const char* reason;
  } kCases[] = {
      {"[4,6,1]", "[5,6,1]", "do not follow each other"},
      {"[4,6,1]", "[4,7,1]", "lacks the end of tensor 'a'"},
      {",[4,6,1]", "", "lacks the end of tensor 'a'"},
      {"[4,6,1]", "[4,6,3]", "is no manifest"},
      {"[4,6,1]", "[4,6]", "is no manifest"},
      {"[4,6,1]", "[4,-6,1]", "is no manifest"},
      {"[4,6,1]", "[4,6.5,1]", "is no manifest"},
      {"[4,6,1]", "[4,99999999999999999999,1]", "is no manifest"},
      {"[0,4,0]", "[0,0,0]", "do not follow each other"},
      {"[3,2]", "[4294967296,4294967296]", "too many elements"},
      {"float32", "float31", "is no manifest"},
      {"rank-00001.", "rank-00000.", "no name of its own"},
      {"\"state\"", "\"../../etc/passwd\"", "no name of its own"},
      {"\"state\"", "\".hidden\"", "no name of its own"},
      {"\"state\"", "\"\"", "no name of its own"},
      {"\"state\"", "\"stale\"", "has no state"},
      {"\"c\"", "\"a\"", "out of order"},
      {"\"c\"", "\"\"", "out of order|has a tensor"},
      {"muster-checkpoint", "another", "is no manifest"},
      {"\"step\":100", "\"step\":-1", "is no manifest"},
      {"\"step\":100", "\"step\":\"100\"", "is no manifest"},
      {"\"step\":100,", "", "is no manifest"},
      {"}}\n", "}\n", "is no manifest"},
      {"ffffffffffffffff", "FFFFFFFFFFFFFFFF", "is no manifest"},
  };
  for (const auto& [from, to, reason] : kCases) {
    const std::string body =
        absl::StrReplaceAll(Body(WriteManifest(Sound())), {{from, to}});
    const auto manifest = ParseManifest(Sealed(body));
    EXPECT_TRUE(absl::IsDataLoss(manifest.status()))
        << from << " " << to << manifest.status();
    if (std::string(reason).find('|') != std::string::npos) continue;
    EXPECT_THAT(manifest.status().message(), HasSubstr(reason)) << to;
  }
  const auto later = ParseManifest(Sealed(absl::StrReplaceAll(
      Body(WriteManifest(Sound())), {{"\"version\":1", "\"version\":2"}})));
  EXPECT_EQ(later.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(later.status().message(), HasSubstr("version 2"));
}

TEST(StoredTensorsTest, RanksThatWroteNothingHaveNoFile) {
  const CheckpointTensor a = {"a", DType::kFloat32, {6}};
  SharePlan plan;
  plan.tensors = {a};
  plan.shares = {{{a, 4, 6}}, {}, {{a, 0, 4}}};
  std::vector<FileRecord> files = {{"r0", 1, 1}, {"r1", 0, 0}, {"r2", 2, 2}};
  const std::vector<StoredTensor> stored = StoredTensors(plan, &files);
  EXPECT_EQ(files, (std::vector<FileRecord>{{"r0", 1, 1}, {"r2", 2, 2}}));
  EXPECT_EQ(stored, (std::vector<StoredTensor>{{a, {{0, 4, 1}, {4, 6, 0}}}}));
}

}  // namespace
}  // namespace muster
