#include "models/text/bpe_vocabulary.h"

#include <cstddef>
#include <random>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/testing/small_bpe.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int32_t> Encoded(std::string_view text) {
  const auto tokens = SmallBpe()->Encode(text);
  EXPECT_TRUE(tokens.ok()) << tokens.status();
  return *tokens;
}

TEST(BpeVocabularyTest, MergesWithinPieces) {
  EXPECT_THAT(Encoded("hello world"), ElementsAre(259, 261, 'r', 'l', 'd'));
  // No merge joins a space with "h", so the space stays a token of its own.
  EXPECT_THAT(Encoded("he hello"), ElementsAre(256, ' ', 259));
  EXPECT_THAT(Encoded(""), ElementsAre());
}

TEST(BpeVocabularyTest, ASpecialTokensTextIsAText) {
  EXPECT_THAT(Encoded("<|e"), ElementsAre('<', '|', 'e'));
  const std::vector<int32_t> special = {262};
  EXPECT_EQ(SmallBpe()->Decode(special), "<|endoftext|>");
  EXPECT_EQ(Encoded("<|endoftext|>").size(), 13u);
}

TEST(BpeVocabularyTest, AnyBytesComeBack) {
  const auto vocabulary = SmallBpe();
  std::mt19937 draw(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += draw() % 2 == 0 ? "hello \xe4\xbd"
                              : std::string(1, static_cast<char>(draw()));
    }
    EXPECT_EQ(vocabulary->Decode(*vocabulary->Encode(text)), text);
  }
}

// Encodes more distinct pieces than the cache holds, each of them twice. The
// second time, the tokens must be the same as the first time.
TEST(BpeVocabularyTest, CacheIsBounded) {
  std::string text;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 70000; ++i) text += " " + std::to_string(i);
  }
  const auto vocabulary = SmallBpe();
  const auto tokens = vocabulary->Encode(text);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(vocabulary->Decode(*tokens), text);
  EXPECT_EQ(
      std::vector(tokens->begin(),
                  tokens->begin() + static_cast<ptrdiff_t>(tokens->size() / 2)),
      std::vector(tokens->begin() + static_cast<ptrdiff_t>(tokens->size() / 2),
                  tokens->end()));
}

TEST(BpeVocabularyTest, DescriptionHasTypeAndSize) {
  const auto vocabulary = SmallBpe();
  EXPECT_EQ(vocabulary->size(), 263);
  EXPECT_THAT(vocabulary->Describe(), HasSubstr("bpe, 263 tokens ("));
}

std::string Refusal(BpeVocabulary::Parts parts) {
  return std::string(
      BpeVocabulary::Create(std::move(parts)).status().message());
}

TEST(BpeVocabularyTest, RefusesWhatIsNotSound) {
  const BpeVocabulary::Parts sound = SmallBpeParts();
  ASSERT_EQ((*BpeVocabulary::Create(sound))->Serialize(),
            SmallBpe()->Serialize());
  BpeVocabulary::Parts parts = sound;
  parts.bytes['x'] = 'y';
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120 has no token of its own"));
  parts.bytes['x'] = 263;
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120"));
  parts.bytes['x'] = -1;
  EXPECT_THAT(Refusal(parts), HasSubstr("byte 120"));

  parts = sound;
  parts.merges[1].merged = 256;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 makes 'he' of 'l' and 'l'"));
  parts.merges[1].merged = 263;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 names token 263 of 263"));
  parts.merges[1].merged = -1;
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 2 names token -1"));

  parts = sound;
  parts.merges.push_back(parts.merges[2]);
  EXPECT_THAT(Refusal(parts), HasSubstr("merge 7 is the same as merge 3"));

  parts = sound;
  parts.tokens[262].clear();
  EXPECT_THAT(Refusal(parts), HasSubstr("token 262 has 0 bytes"));
  parts.tokens[262].resize(BpeVocabulary::kMaxTokenBytes + 1);
  EXPECT_THAT(Refusal(parts), HasSubstr("token 262 has 65537 bytes"));
}

TEST(BpeVocabularyDeathTest, TokensThatAreNoneEndTheProcess) {
  const std::vector<int32_t> tokens = {263};
  EXPECT_DEATH(SmallBpe()->Decode(tokens), "263 of 263");
}

using ::testing::ElementsAre;
using Merges = std::vector<BpeMerge>;

std::vector<int32_t> Merged(const Merges& merges, std::vector<int32_t> tokens) {
  const BpeMergeTable table(merges);
  BpeMerger(table).Merge(&tokens);
  return tokens;
}

// Merges tokens by the definition of BPE, without a heap or a cache. The result
// is the reference for BpeMerger.
std::vector<int32_t> MergedPlainly(const Merges& merges,
                                   std::vector<int32_t> tokens) {
  for (;;) {
    size_t best = merges.size();
    size_t where = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      for (size_t m = 0; m < best; ++m) {
        if (merges[m].left == tokens[i] && merges[m].right == tokens[i + 1]) {
          best = m;
          where = i;
        }
      }
    }
    if (best == merges.size()) return tokens;
    tokens[where] = merges[best].merged;
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(where) + 1);
  }
}

TEST(BpeMergeTableTest, FindsWhatIsThere) {
  const BpeMergeTable table(Merges{{1, 2, 3}, {2, 1, 4}, {3, 3, 5}});
  EXPECT_EQ(table.Find(1, 2), 0u);
  EXPECT_EQ(table.Find(2, 1), 1u);
  EXPECT_EQ(table.Find(3, 3), 2u);
  EXPECT_EQ(table.Find(1, 1), BpeMergeTable::kNone);
  EXPECT_EQ(table.Find(0, 0), BpeMergeTable::kNone);
  EXPECT_EQ(BpeMergeTable(Merges{}).Find(1, 2), BpeMergeTable::kNone);
}

TEST(BpeMergerTest, TheEarlierMergeGoesFirst) {
  EXPECT_THAT(Merged({{2, 3, 9}, {1, 2, 8}}, {1, 2, 3}), ElementsAre(1, 9));
  EXPECT_THAT(Merged({{1, 2, 8}, {2, 3, 9}}, {1, 2, 3}), ElementsAre(8, 3));
}

TEST(BpeMergerTest, OfEqualsTheLeftmost) {
  EXPECT_THAT(Merged({{1, 1, 2}}, {1, 1, 1}), ElementsAre(2, 1));
}

TEST(BpeMergerTest, MergedTokenIsMergedAgain) {
  EXPECT_THAT(Merged({{1, 1, 2}, {2, 2, 3}}, {1, 1, 1, 1}), ElementsAre(3));
  EXPECT_THAT(Merged({{1, 1, 2}}, {}), ElementsAre());
  EXPECT_THAT(Merged({{1, 1, 2}}, {1}), ElementsAre(1));
}

// Tests all lengths around kShort, above which BpeMerger uses the heap.
TEST(BpeMergerTest, IsTheDefinitionAtEveryLength) {
  std::mt19937 draw(7);
  for (int round = 0; round < 60; ++round) {
    Merges merges;
    int32_t next = 4;
    for (int i = 0; i < 30; ++i) {
      const BpeMerge merge{static_cast<int32_t>(draw() % next),
                           static_cast<int32_t>(draw() % next), next};
      if (BpeMergeTable(merges).Find(merge.left, merge.right) ==
          BpeMergeTable::kNone) {
        merges.push_back(merge);
        ++next;
      }
    }
    const BpeMergeTable table(merges);
    BpeMerger merger(table);
    for (size_t length = 0; length < 60; ++length) {
      std::vector<int32_t> tokens(length);
      for (int32_t& token : tokens) token = static_cast<int32_t>(draw() % 4);
      const std::vector<int32_t> expected = MergedPlainly(merges, tokens);
      merger.Merge(&tokens);
      ASSERT_EQ(tokens, expected) << length;
    }
  }
}

// The time to encode a long piece must be nearly linear: quadratic time would
// mean hours.
TEST(BpeMergerTest, ALongPieceIsNoTrap) {
  const size_t length = 1 << 19;
  const std::vector<int32_t> tokens = Merged({{1, 1, 2}, {2, 2, 3}, {3, 3, 4}},
                                             std::vector<int32_t>(length, 1));
  EXPECT_EQ(tokens, std::vector<int32_t>(length / 8, 4));
}

}  // namespace
}  // namespace muster::models
