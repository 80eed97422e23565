#include "trainer_sdk/reduce/reduce.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

// Reduces two elements according to the definition of the operation. The tests
// compare the results of Reduce with the results of this function.
template <class T>
T Combined(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (op == ReduceOp::kProd) {
      return static_cast<T>(uint64_t{static_cast<U>(a)} *
                            uint64_t{static_cast<U>(b)});
    }
    if (op == ReduceOp::kSum || op == ReduceOp::kAvg) {
      return static_cast<T>(uint64_t{static_cast<U>(a)} +
                            uint64_t{static_cast<U>(b)});
    }
  }
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return a + b;
    case ReduceOp::kMin:
      if (a != a || b != b) return a != a ? a : b;
      return a < b ? a : b;
    case ReduceOp::kMax:
      if (a != a || b != b) return a != a ? a : b;
      return a > b ? a : b;
    case ReduceOp::kProd:
      return a * b;
  }
  return a;
}

template <class T>
T Value(int source, int64_t i) {
  const int64_t bits = (i * 2654435761 + source * 40503 + 17) % 100003;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(bits - 50000) / T{1024};
  } else {
    return static_cast<T>(bits * bits * 7919 - bits);
  }
}

template <class T>
void ExpectPlainResult(DType dtype) {
  for (int op = 0; op < kReduceOps; ++op) {
    const ReduceOp reduce_op = static_cast<ReduceOp>(op);
    for (const int sources : {1, 2, 3, 8}) {
      for (const int destinations : {1, 2, 3}) {
        for (const int64_t count : {0, 1, 7, 512, 1537}) {
          std::vector<std::vector<T>> from(sources, std::vector<T>(count));
          std::vector<const void*> source_data;
          std::vector<T> expected(count);
          for (int s = 0; s < sources; ++s) {
            for (int64_t i = 0; i < count; ++i) {
              from[s][i] = Value<T>(s, i);
              expected[i] = s == 0
                                ? from[s][i]
                                : Combined(reduce_op, expected[i], from[s][i]);
            }
            source_data.push_back(from[s].data());
          }
          if (reduce_op == ReduceOp::kAvg) {
            for (T& one : expected) one = static_cast<T>(one / sources);
          }
          // Each destination has one extra element after its end, which Reduce
          // must leave unchanged.
          std::vector<std::vector<T>> to(destinations,
                                         std::vector<T>(count + 1, T{42}));
          std::vector<void*> destination_data;
          for (auto& one : to) destination_data.push_back(one.data());
          Reduce(dtype, reduce_op, source_data.data(), sources,
                 destination_data.data(), destinations, count);
          expected.push_back(T{42});
          for (const auto& one : to) {
            ASSERT_EQ(one, expected) << Name(dtype) << " " << Name(reduce_op)
                                     << " " << sources << " " << count;
          }
        }
      }
    }
  }
}

TEST(Reduce, EqualsThePlainResult) {
  ExpectPlainResult<float>(DType::kFloat32);
  ExpectPlainResult<double>(DType::kFloat64);
  ExpectPlainResult<int8_t>(DType::kInt8);
  ExpectPlainResult<int32_t>(DType::kInt32);
  ExpectPlainResult<int64_t>(DType::kInt64);
}

TEST(Reduce, ADestinationMayBeASource) {
  for (int own = 0; own < 3; ++own) {
    std::vector<std::vector<float>> data(3, std::vector<float>(1000));
    for (int s = 0; s < 3; ++s) {
      for (int i = 0; i < 1000; ++i) data[s][i] = static_cast<float>(s * i);
    }
    const void* const sources[] = {data[0].data(), data[1].data(),
                                   data[2].data()};
    void* const destination = data[own].data();
    Reduce(DType::kFloat32, ReduceOp::kSum, sources, 3, &destination, 1, 1000);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(data[own][i], 3.0F * i);
  }
}

TEST(Reduce, HasAFixedOrder) {
  // With these values, the order of additions changes the float32 result: (1e8
  // + 1) - 1e8 is 0, but (1e8 - 1e8) + 1 is 1.
  const float big = 1e8F;
  const float one = 1;
  const float minus = -1e8F;
  float result = -1;
  void* const destination = &result;
  const void* const lost[] = {&big, &one, &minus};
  Reduce(DType::kFloat32, ReduceOp::kSum, lost, 3, &destination, 1, 1);
  EXPECT_EQ(result, 0);
  const void* const kept[] = {&big, &minus, &one};
  Reduce(DType::kFloat32, ReduceOp::kSum, kept, 3, &destination, 1, 1);
  EXPECT_EQ(result, 1);
}

TEST(Reduce, RoundsHalvesOnce) {
  // The sum 256 + 1 + 1 in bfloat16 must be 258. If each addition were rounded,
  // the sum would be 256.
  const std::vector<uint16_t> big(20, 0x4380);
  const std::vector<uint16_t> one(20, 0x3f80);
  const void* const sources[] = {big.data(), one.data(), one.data()};
  std::vector<uint16_t> result(20);
  void* const destination = result.data();
  Reduce(DType::kBFloat16, ReduceOp::kSum, sources, 3, &destination, 1, 20);
  // the bfloat16 value 258
  EXPECT_EQ(result, std::vector<uint16_t>(20, 0x4381));
  // Each element is about 60000. The sum of two exceeds the range of float16,
  // but AVG must return 60000, because it computes in float32.
  const std::vector<uint16_t> huge(20, 0x7b53);
  const void* const pair[] = {huge.data(), huge.data()};
  Reduce(DType::kFloat16, ReduceOp::kAvg, pair, 2, &destination, 1, 20);
  EXPECT_EQ(result, huge);
  Reduce(DType::kFloat16, ReduceOp::kSum, pair, 2, &destination, 1, 20);
  EXPECT_EQ(result, std::vector<uint16_t>(20, 0x7c00));  // infinity in float16
}

TEST(Reduce, MinimumAndMaximumKeepNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {nan, 1, 2, nan};
  const std::vector<float> b = {1, nan, 1, nan};
  const void* const sources[] = {a.data(), b.data()};
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    std::vector<float> result(4);
    void* const destination = result.data();
    Reduce(DType::kFloat32, op, sources, 2, &destination, 1, 4);
    EXPECT_TRUE(std::isnan(result[0]));
    EXPECT_TRUE(std::isnan(result[1]));
    EXPECT_EQ(result[2], op == ReduceOp::kMin ? 1 : 2);
    EXPECT_TRUE(std::isnan(result[3]));
  }
}

TEST(Reduce, IntegersWrapAndAveragesTruncate) {
  const std::vector<int8_t> a = {127, -128, -3, 100};
  const std::vector<int8_t> b = {1, -1, -4, 3};
  const void* const sources[] = {a.data(), b.data()};
  std::vector<int8_t> result(4);
  void* const destination = result.data();
  Reduce(DType::kInt8, ReduceOp::kSum, sources, 2, &destination, 1, 4);
  EXPECT_EQ(result, (std::vector<int8_t>{-128, 127, -7, 103}));
  Reduce(DType::kInt8, ReduceOp::kAvg, sources, 2, &destination, 1, 4);
  EXPECT_EQ(result, (std::vector<int8_t>{-64, 63, -3, 51}));
}

TEST(Accumulate, AddsToTheDestinationAndAveragesAtTheEnd) {
  std::vector<float> total = {1, 2, 3};
  const std::vector<float> more = {10, 20, 30};
  Accumulate(DType::kFloat32, ReduceOp::kAvg, total.data(), more.data(), 3);
  EXPECT_EQ(total, (std::vector<float>{11, 22, 33}));
  Divide(DType::kFloat32, total.data(), 3, 2);
  EXPECT_EQ(total, (std::vector<float>{5.5, 11, 16.5}));
  Accumulate(DType::kFloat32, ReduceOp::kMax, total.data(), more.data(), 3);
  EXPECT_EQ(total, (std::vector<float>{10, 20, 30}));
}

TEST(Divide, TruncatesAndTakesAnyDivisor) {
  std::vector<int8_t> small = {-128, 127, -7};
  Divide(DType::kInt8, small.data(), 3, 128);
  EXPECT_EQ(small, (std::vector<int8_t>{-1, 0, 0}));
  std::vector<int64_t> wide = {-7, 7, std::numeric_limits<int64_t>::min()};
  Divide(DType::kInt64, wide.data(), 3, 2);
  EXPECT_EQ(wide, (std::vector<int64_t>{
                      -3, 3, std::numeric_limits<int64_t>::min() / 2}));
  std::vector<uint16_t> halves(17, 0x4200);  // the float16 value 3
  Divide(DType::kFloat16, halves.data(), 17, 2);
  // the float16 value 1.5
  EXPECT_EQ(halves, std::vector<uint16_t>(17, 0x3e00));
}

}  // namespace
}  // namespace muster
