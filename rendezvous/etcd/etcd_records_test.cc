#include "rendezvous/etcd/etcd_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SplitBatchTest, ASmallBatchIsOnePieceAndAnEmptyOneIsNone) {
  EXPECT_THAT(SplitBatch({}), IsEmpty());
  const PendingRecords::Batch batch = {{"a", "1"}, {"b", std::nullopt}};
  EXPECT_THAT(SplitBatch(batch), ElementsAre(batch));
}

TEST(SplitBatchTest, APieceHasAtMost64Changes) {
  PendingRecords::Batch batch;
  for (int i = 0; i < 130; ++i) batch[absl::StrCat(i)] = std::nullopt;
  const std::vector<PendingRecords::Batch> pieces = SplitBatch(batch);
  EXPECT_THAT(pieces, ElementsAre(SizeIs(64), SizeIs(64), SizeIs(2)));
  PendingRecords::Batch all;
  for (PendingRecords::Batch piece : pieces) all.merge(piece);
  EXPECT_EQ(all, batch);
}

TEST(SplitBatchTest, APieceHasAtMostOneMebibyteUnlessOneRecordHasMore) {
  // With a key of one byte, a record with this value has 512 KiB, so two such
  // records fill a piece (1 MiB).
  const std::string half((1 << 19) - 1, 'r');
  const std::string large(1 << 21, 'r');
  EXPECT_THAT(SplitBatch({{"a", half}, {"b", half}}), SizeIs(1));
  EXPECT_THAT(SplitBatch({{"a", half}, {"b", half}, {"c", ""}}),
              ElementsAre(SizeIs(2), SizeIs(1)));
  EXPECT_THAT(SplitBatch({{"a", half}, {"b", large}, {"c", "1"}}),
              ElementsAre(SizeIs(1), SizeIs(1), SizeIs(1)));
}

}  // namespace
}  // namespace muster::rendezvous
