#include "trainer_sdk/tcp/frame_connection.h"

#include <gtest/gtest.h>

#include <cstring>

namespace muster {
namespace {

FrameHeader Part() {
  FrameHeader header;
  header.signature.sequence = uint64_t{1} << 40;
  header.signature.kind = OperationKind::kReduceScatter;
  header.signature.dtype = DType::kBFloat16;
  header.signature.reduce_op = ReduceOp::kProd;
  header.signature.root = 7;
  header.signature.count = int64_t{1} << 33;
  header.signature.counts_hash = ~uint64_t{0};
  header.bytes = 12345;
  return header;
}

TEST(Frame, APartComesOutAsItWentIn) {
  const auto decoded = DecodeFrameHeader(EncodeFrameHeader(Part()).data());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->type, FrameType::kPart);
  EXPECT_EQ(decoded->signature, Part().signature);
  EXPECT_EQ(decoded->bytes, 12345);
}

TEST(Frame, AMessageComesOutAsItWentIn) {
  FrameHeader header;
  header.type = FrameType::kMessage;
  header.label = MessageLabel{-3, DType::kInt64, 5};
  header.bytes = 40;
  const auto decoded = DecodeFrameHeader(EncodeFrameHeader(header).data());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->type, FrameType::kMessage);
  EXPECT_EQ(decoded->label.tag, -3);
  EXPECT_EQ(decoded->label.dtype, DType::kInt64);
  EXPECT_EQ(decoded->label.count, 5);
  EXPECT_EQ(decoded->bytes, 40);
}

TEST(Frame, EveryByteOfTheHeadIsJudged) {
  const EncodedFrameHeader sound = EncodeFrameHeader(Part());
  // Bytes 0 to 7 of a frame header are the magic, type, kind, dtype and
  // reduction. DecodeFrameHeader must reject a wrong value of any of these
  // bytes.
  for (int at = 0; at < 8; ++at) {
    EncodedFrameHeader broken = sound;
    broken[at] = '\x7f';
    EXPECT_FALSE(DecodeFrameHeader(broken.data()).ok()) << at;
  }
}

TEST(Frame, LengthsThatCannotBeAreRefused) {
  FrameHeader header = Part();
  header.bytes = -1;
  EXPECT_FALSE(DecodeFrameHeader(EncodeFrameHeader(header).data()).ok());
  header = Part();
  header.type = FrameType::kAnnounce;
  EXPECT_FALSE(DecodeFrameHeader(EncodeFrameHeader(header).data()).ok());
  header.type = FrameType::kMessage;
  // 2^62 elements of 4 bytes have 2^64 bytes. In a 64-bit integer this size
  // would overflow to 0, so the header must be rejected.
  header.label.count = int64_t{1} << 62;
  header.bytes = 0;
  EXPECT_FALSE(DecodeFrameHeader(EncodeFrameHeader(header).data()).ok());
}

}  // namespace
}  // namespace muster
