#include "trainer_sdk/safetensors/safetensors_header.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Returns the reason why a header is rejected; empty if it is accepted.
std::string Refusal(const std::string& json, int64_t data_bytes) {
  const auto header = ParseSafetensorsHeader(json, data_bytes);
  if (header.ok()) return "";
  EXPECT_EQ(header.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_LT(header.status().message().size(), 400u);
  EXPECT_EQ(header.status().message().find('\n'), absl::string_view::npos);
  return std::string(header.status().message());
}

std::string Entry(const std::string& name, const std::string& dtype,
                  const std::string& shape, const std::string& offsets) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype,
                      "\",\"shape\":", shape, ",\"data_offsets\":", offsets,
                      "}");
}

TEST(ParseTest, ReadsWhatTheReferenceWrites) {
  const auto header = ParseSafetensorsHeader(
      "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"b\"}," +
          Entry("wte.weight", "F32", "[2,3]", "[0,24]") + "," +
          Entry("scalar", "I64", "[]", "[26,34]") + "," +
          Entry("half", "BF16", "[1]", "[24,26]") + "," +
          Entry("none", "F16", "[0,7]", "[34,34]") + "}   ",
      34);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->metadata,
            (std::map<std::string, std::string>{{"format", "pt"}, {"a", "b"}}));
  ASSERT_EQ(header->tensors.size(), 4u);
  EXPECT_EQ(
      header->tensors[0],
      (SafetensorsTensor{"wte.weight", SafetensorsType::kF32, {2, 3}, 0, 24}));
  EXPECT_EQ(header->tensors[1].name, "half");
  ASSERT_NE(header->Find("scalar"), nullptr);
  EXPECT_TRUE(header->Find("scalar")->shape.empty());
  EXPECT_EQ(header->Find("none")->bytes(), 0);
  EXPECT_EQ(header->Find("absent"), nullptr);
}

TEST(ParseTest, AFileMayHaveNoTensors) {
  EXPECT_EQ(Refusal("{}", 0), "");
  EXPECT_THAT(Refusal("{}", 1), HasSubstr("0 bytes, and the file 1"));
}

TEST(ParseTest, PlacesMustTileTheData) {
  const std::string a = Entry("a", "U8", "[4]", "[0,4]");
  EXPECT_THAT(
      Refusal("{" + a + "," + Entry("b", "U8", "[4]", "[3,7]") + "}", 7),
      HasSubstr("'b' begins at byte 3, inside tensor 'a'"));
  EXPECT_THAT(
      Refusal("{" + a + "," + Entry("b", "U8", "[4]", "[5,9]") + "}", 9),
      HasSubstr("no tensor has the bytes 4 to 5"));
  EXPECT_THAT(
      Refusal("{" + a + "," + Entry("b", "U8", "[4]", "[0,4]") + "}", 4),
      HasSubstr("inside tensor 'a'"));
  EXPECT_THAT(Refusal("{" + Entry("b", "U8", "[4]", "[4,8]") + "}", 8),
              HasSubstr("no tensor has the bytes 0 to 4"));
  EXPECT_THAT(Refusal("{" + a + "}", 5), HasSubstr("4 bytes, and the file 5"));
  EXPECT_THAT(Refusal("{" + a + "}", 3), HasSubstr("4 bytes, and the file 3"));
}

TEST(ParseTest, SizesMustFitTheShape) {
  for (const char* offsets : {"[0,15]", "[0,17]", "[16,0]", "[0,0]"}) {
    EXPECT_THAT(Refusal("{" + Entry("a", "F32", "[2,2]", offsets) + "}", 16),
                HasSubstr("'a' of 16 bytes has the bytes"))
        << offsets;
  }
  // Invalid: five elements of four bits each do not fill whole bytes.
  EXPECT_THAT(Refusal("{" + Entry("a", "F4", "[5]", "[0,3]") + "}", 3),
              HasSubstr("no whole bytes"));
  EXPECT_EQ(Refusal("{" + Entry("a", "F4", "[3,2]", "[0,3]") + "}", 3), "");
  EXPECT_EQ(Refusal("{" + Entry("a", "F6_E2M3", "[4]", "[0,3]") + "}", 3), "");
}

TEST(ParseTest, ProductsThatOverflowAreRefused) {
  for (const char* shape :
       {"[4294967296,4294967296]", "[9223372036854775807,2]",
        "[9223372036854775807]", "[65536,65536,65536,65536]"}) {
    EXPECT_THAT(Refusal("{" + Entry("a", "F64", shape, "[0,0]") + "}", 0),
                HasSubstr("too many"))
        << shape;
  }
  // A dimension of 0 makes the tensor empty, so the header is valid.
  EXPECT_EQ(
      Refusal(
          "{" + Entry("a", "F64", "[9223372036854775807,9,0]", "[0,0]") + "}",
          0),
      "");
}

TEST(ParseTest, NamesComeOnce) {
  const std::string a = Entry("a", "U8", "[0]", "[0,0]");
  EXPECT_THAT(Refusal("{" + a + "," + a + "}", 0),
              HasSubstr("'a' comes twice"));
  EXPECT_THAT(Refusal("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0),
              HasSubstr("'k' comes twice in the metadata"));
  EXPECT_THAT(Refusal("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
              HasSubstr("'__metadata__' comes twice"));
  EXPECT_THAT(Refusal("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0),
              HasSubstr("has its dtype twice"));
}

TEST(ParseTest, OtherFormsAreRefusedWithTheirPlace) {
  const struct {
    const char* json;
    const char* reason;
  } kCases[] = {
      {"", "no JSON"},
      {"[]", "is a list, not an object"},
      {"7", "is a number, not an object"},
      {"{\"a\":7}", "a number under 'a'"},
      {"{\"a\":null}", "null under 'a'"},
      {"{\"a\":[]}", "a list under 'a'"},
      {"{} {}", "no JSON"},
      {"{\"a\":{}}", "lacks one of"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", "lacks one of"},
      {"{\"a\":{\"dtype\":7}}", "a number in its dtype"},
      {"{\"a\":{\"dtype\":[]}}", "a list in its dtype"},
      {"{\"a\":{\"dtype\":\"F33\"}}", "unknown dtype 'F33'"},
      {"{\"a\":{\"shape\":[-1]}}", "a negative number in its shape"},
      {"{\"a\":{\"shape\":[1.0]}}", "not a whole one"},
      {"{\"a\":{\"shape\":[18446744073709551615]}}", "beyond 2^63"},
      {"{\"a\":{\"shape\":[99999999999999999999]}}", "too large"},
      {"{\"a\":{\"shape\":[[]]}}", "a list in its shape"},
      {"{\"a\":{\"shape\":[{}]}}", "an object in its shape"},
      {"{\"a\":{\"shape\":7}}", "a number in its shape"},
      {"{\"a\":{\"shape\":[\"7\"]}}", "a string in its shape"},
      {"{\"a\":{\"data_offsets\":[0]}}", "not two numbers"},
      {"{\"a\":{\"data_offsets\":[0,0,0]}}", "a number in its data_offsets"},
      {"{\"a\":{\"data_offsets\":[true,0]}}", "true or false"},
      {"{\"a\":{\"stride\":[1]}}", "unknown field 'stride'"},
      {"{\"__metadata__\":{\"k\":7}}", "a number under 'k'"},
      {"{\"__metadata__\":{\"k\":{}}}", "an object under 'k'"},
      {"{\"__metadata__\":[]}", "a list under '__metadata__'"},
      {"{\"a\":{\"shape\":[1,]}}", "no JSON"},
      {"{\"\xff\":{}}", "no JSON"},
  };
  for (const auto& [json, reason] : kCases) {
    EXPECT_THAT(Refusal(json, 0), HasSubstr(reason)) << json;
  }
}

TEST(ParseTest, DeepAndLongInputIsRefused) {
  EXPECT_NE(Refusal(std::string(5'000'000, '['), 0), "");
  std::string deep = "{\"a\":{\"shape\":";
  EXPECT_NE(Refusal(deep + std::string(5'000'000, '['), 0), "");
  // The error message must contain a truncated name instead of the whole
  // megabyte.
  const std::string name(1'000'000, 'n');
  EXPECT_THAT(Refusal("{\"" + name + "\":7}", 0), HasSubstr("nnn...'"));
  std::string flat = "{\"a\":{\"shape\":[1";
  for (int i = 0; i < 64; ++i) flat += ",1";
  EXPECT_THAT(Refusal(flat, 0), HasSubstr("more than 64 dimensions"));
}

TEST(LengthTest, IsBoundedByTheFormatAndTheFile) {
  const auto length = [](uint64_t value, int64_t file_bytes) {
    std::string bytes(reinterpret_cast<const char*>(&value), sizeof(value));
    return SafetensorsHeaderBytes(bytes, file_bytes);
  };
  EXPECT_EQ(length(2, 10).value(), 2);
  EXPECT_EQ(length(0, 8).value(), 0);
  EXPECT_EQ(length(100'000'000, 100'000'008).value(), 100'000'000);
  EXPECT_THAT(length(3, 10).status().message(), HasSubstr("cut off"));
  EXPECT_THAT(length(100'000'001, int64_t{1} << 40).status().message(),
              HasSubstr("at most 100000000"));
  EXPECT_THAT(length(~uint64_t{0}, 10).status().message(),
              HasSubstr("18446744073709551615"));
  EXPECT_THAT(SafetensorsHeaderBytes("All the world's", 15).status().message(),
              HasSubstr("no safetensors file"));
  EXPECT_THAT(SafetensorsHeaderBytes("1234567", 7).status().message(),
              HasSubstr("7 bytes has no header"));
}

TEST(WriteTest, ComesBackAsItWas) {
  SafetensorsHeader header;
  header.metadata = {{"format", "pt"}, {"quote\"", "\n\xc3\xa9"}};
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    header.tensors.push_back({.name = absl::StrCat("t/", Name(type), "\\"),
                              .type = type,
                              .shape = {4, 3}});
  }
  header.tensors.push_back({.name = "", .shape = {}});
  ASSERT_TRUE(PlaceSafetensors(&header.tensors).ok());
  const auto bytes = WriteSafetensorsHeader(header);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->size() % 8, 0u);
  const int64_t file_bytes =
      static_cast<int64_t>(bytes->size()) + header.data_bytes();
  EXPECT_EQ(SafetensorsHeaderBytes(*bytes, file_bytes).value(),
            static_cast<int64_t>(bytes->size()) - 8);
  const auto read = ParseSafetensorsHeader(std::string_view(*bytes).substr(8),
                                           header.data_bytes());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, header);
}

TEST(WriteTest, EveryTensorIsAligned) {
  std::vector<SafetensorsTensor> tensors;
  for (int i = 0; i < kDTypes; ++i) {
    tensors.push_back({.name = absl::StrCat("odd", i),
                       .type = SafetensorsTypeOf(static_cast<DType>(i)),
                       .shape = {3}});
  }
  ASSERT_TRUE(PlaceSafetensors(&tensors).ok());
  for (const SafetensorsTensor& tensor : tensors) {
    EXPECT_EQ(tensor.begin % (BitsOf(tensor.type) / 8), 0) << tensor.name;
  }
}

TEST(WriteTest, RefusesWhatCouldNotBeRead) {
  std::vector<SafetensorsTensor> twice = {{.name = "a"}, {.name = "a"}};
  EXPECT_THAT(PlaceSafetensors(&twice).message(), HasSubstr("name 'a'"));
  std::vector<SafetensorsTensor> huge = {
      {.name = "a", .shape = {int64_t{1} << 40, int64_t{1} << 40}}};
  EXPECT_THAT(PlaceSafetensors(&huge).message(), HasSubstr("too many"));
  const auto refusal = [](const SafetensorsHeader& header) {
    return std::string(WriteSafetensorsHeader(header).status().message());
  };
  EXPECT_THAT(refusal({.tensors = {{.name = "__metadata__", .end = 4}}}),
              HasSubstr("__metadata__"));
  EXPECT_THAT(refusal({.tensors = {{.name = "\xff", .end = 4}}}),
              HasSubstr("no tensor can have the name '\\xff'"));
  EXPECT_THAT(refusal({.metadata = {{"a", "\xff"}}}), HasSubstr("no UTF-8"));
  EXPECT_THAT(refusal({.tensors = {{.name = "a", .begin = 4, .end = 8}}}),
              HasSubstr("no tensor has the bytes 0 to 4"));
}

TEST(SafetensorsTypeTest, EveryTypeIsFoundByItsName) {
  std::set<std::string> names;
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    EXPECT_TRUE(names.insert(Name(type)).second) << Name(type);
    EXPECT_EQ(SafetensorsTypeOf(std::string_view(Name(type))), type);
  }
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("F128")), std::nullopt);
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("")), std::nullopt);
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("f32")), std::nullopt);
}

TEST(SafetensorsTypeTest, NameGivesTheBits) {
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    const std::string name = Name(type);
    if (name == "BOOL") {
      EXPECT_EQ(BitsOf(type), 8);
      continue;
    }
    const size_t digit = name.find_first_of("0123456789");
    EXPECT_EQ(BitsOf(type), std::stoi(name.substr(digit))) << name;
  }
}

TEST(SafetensorsTypeTest, OurTypesGoThereAndBackWithTheirSize) {
  std::set<SafetensorsType> types;
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const SafetensorsType type = SafetensorsTypeOf(dtype);
    EXPECT_EQ(BitsOf(type), SizeOf(dtype) * 8) << Name(dtype);
    EXPECT_EQ(DTypeOf(type), dtype);
    types.insert(type);
  }
  EXPECT_EQ(types.size(), static_cast<size_t>(kDTypes));
  EXPECT_EQ(SafetensorsTypeOf(DType::kBFloat16), SafetensorsType::kBF16);
  EXPECT_EQ(DTypeOf(SafetensorsType::kU16), std::nullopt);
}

}  // namespace
}  // namespace muster
