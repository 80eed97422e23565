#include "trainer_sdk/flight_recorder/pickle_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Returns the whole literal as a string, including the null bytes in it.
template <size_t kSize>
std::string Bytes(const char (&literal)[kSize]) {
  return std::string(literal, kSize - 1);
}

// The output of Python's pickle.dumps in protocol 2 for this dictionary:
//   {'none': None, 't': True, 'f': False, 'i': [1, 300, -5, 2**40, -2**40],
//    'd': 1.5, 's': 'aé', 'tuple': (1, 'x'), 'four': (1, 2, 3, 4),
//    'e': [[], {}, ()], 7: 'seven', 'again': 'none'}
const std::string& OfProtocol2() {
  static const auto* const bytes = new std::string(Bytes(
      "\200\002\175\161\000\050\130\004\000\000\000\156\157\156\145\161"
      "\001\116\130\001\000\000\000\164\161\002\210\130\001\000\000\000"
      "\146\161\003\211\130\001\000\000\000\151\161\004\135\161\005\050"
      "\113\001\115\054\001\112\373\377\377\377\212\006\000\000\000\000"
      "\000\001\212\006\000\000\000\000\000\377\145\130\001\000\000\000"
      "\144\161\006\107\077\370\000\000\000\000\000\000\130\001\000\000"
      "\000\163\161\007\130\003\000\000\000\141\303\251\161\010\130\005"
      "\000\000\000\164\165\160\154\145\161\011\113\001\130\001\000\000"
      "\000\170\161\012\206\161\013\130\004\000\000\000\146\157\165\162"
      "\161\014\050\113\001\113\002\113\003\113\004\164\161\015\130\001"
      "\000\000\000\145\161\016\135\161\017\050\135\161\020\175\161\021"
      "\051\145\113\007\130\005\000\000\000\163\145\166\145\156\161\022"
      "\130\005\000\000\000\141\147\141\151\156\161\023\150\001\165\056"));
  return *bytes;
}
const std::string& OfProtocol4() {
  static const auto* const bytes = new std::string(
      Bytes("\200\004\225\223\000\000\000\000\000\000\000\175\224\050\214\004"
            "\156\157\156\145\224\116\214\001\164\224\210\214\001\146\224\211"
            "\214\001\151\224\135\224\050\113\001\115\054\001\112\373\377\377"
            "\377\212\006\000\000\000\000\000\001\212\006\000\000\000\000\000"
            "\377\145\214\001\144\224\107\077\370\000\000\000\000\000\000\214"
            "\001\163\224\214\003\141\303\251\224\214\005\164\165\160\154\145"
            "\224\113\001\214\001\170\224\206\224\214\004\146\157\165\162\224"
            "\050\113\001\113\002\113\003\113\004\164\224\214\001\145\224\135"
            "\224\050\135\224\175\224\051\145\113\007\214\005\163\145\166\145"
            "\156\224\214\005\141\147\141\151\156\224\150\001\165\056"));
  return *bytes;
}
Json Expected() {
  return {{"none", nullptr},
          {"t", true},
          {"f", false},
          {"i", {1, 300, -5, int64_t{1} << 40, -(int64_t{1} << 40)}},
          {"d", 1.5},
          {"s", "a\xc3\xa9"},
          {"tuple", {1, "x"}},
          {"four", {1, 2, 3, 4}},
          {"e", {Json::array(), Json::object(), Json::array()}},
          {"7", "seven"},
          {"again", "none"}};
}

std::string Refusal(const std::string& bytes) {
  const auto value = ParsePickle(bytes);
  EXPECT_FALSE(value.ok());
  return std::string(value.status().message());
}

TEST(PickleValueTest, ReadsWhatPythonWrites) {
  for (const std::string& bytes : {OfProtocol2(), OfProtocol4()}) {
    const auto value = ParsePickle(bytes);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, Expected());
  }
}

TEST(PickleValueTest, CodeIsNamedAndNotRun) {
  // Python would run a command when it loads this pickle: the __reduce__ of the
  // pickled object returns (os.system, ('echo bad',)).
  EXPECT_THAT(
      Refusal(Bytes(
          "\200\002\143\160\157\163\151\170\012\163\171\163\164\145\155\012"
          "\161\000\130\010\000\000\000\145\143\150\157\040\142\141\144\161"
          "\001\205\161\002\122\161\003\056")),
      HasSubstr("would run Python code (GLOBAL); nothing was run"));
  EXPECT_THAT(
      Refusal(Bytes(
          "\200\004\225\043\000\000\000\000\000\000\000\214\005\160\157\163"
          "\151\170\224\214\006\163\171\163\164\145\155\224\223\224\214\010"
          "\145\143\150\157\040\142\141\144\224\205\224\122\224\056")),
      HasSubstr("would run Python code (STACK_GLOBAL)"));
}

TEST(PickleValueTest, EveryPrefixIsRefused) {
  for (const std::string& bytes : {OfProtocol2(), OfProtocol4()}) {
    for (size_t size = 0; size < bytes.size(); size++) {
      EXPECT_FALSE(ParsePickle(bytes.substr(0, size)).ok()) << size;
    }
    EXPECT_THAT(Refusal(bytes + "."), HasSubstr("bytes follow its end"));
  }
}

TEST(PickleValueTest, UnsoundStacksAreRefused) {
  const std::string begin = "\x80\x02";
  EXPECT_THAT(Refusal(""), HasSubstr("does not begin with PROTO"));
  EXPECT_THAT(Refusal("\x80\x09N."), HasSubstr("protocol 9"));
  EXPECT_THAT(Refusal(begin + "."), HasSubstr("one value"));
  EXPECT_THAT(Refusal(begin + "NN."), HasSubstr("one value"));
  EXPECT_THAT(Refusal(begin + "(N."), HasSubstr("one value"));
  EXPECT_THAT(Refusal(begin + "N\x87."), HasSubstr("lacks elements"));
  EXPECT_THAT(Refusal(begin + "]N(\x85."), HasSubstr("lacks elements"));
  EXPECT_THAT(Refusal(begin + "t."), HasSubstr("mark is missing"));
  EXPECT_THAT(Refusal(begin + "Na."), HasSubstr("no list to append to"));
  EXPECT_THAT(Refusal(begin + "}Na."), HasSubstr("appends to no list"));
  EXPECT_THAT(Refusal(begin + "}(Nu."), HasSubstr("lacks a key or a value"));
  EXPECT_THAT(Refusal(begin + "}NNs."), HasSubstr("a key is neither"));
  EXPECT_THAT(Refusal(begin + "]NNs."), HasSubstr("adds to no dictionary"));
  EXPECT_THAT(Refusal(begin + "h\x01."), HasSubstr("no earlier value"));
  EXPECT_THAT(Refusal(begin + "q\x01."), HasSubstr("nothing to store"));
  EXPECT_THAT(Refusal(begin + "\x8a\x09"), HasSubstr("more than 64 bits"));
  EXPECT_THAT(Refusal(begin + "\x8f."), HasSubstr("not of plain data"));
}

TEST(PickleValueTest, DeepNestingIsRefused) {
  const auto nested = [](int levels) {
    return "\x80\x02" + std::string(levels, ']') +
           std::string(levels - 1, 'a') + ".";
  };
  EXPECT_TRUE(ParsePickle(nested(64)).ok());
  EXPECT_THAT(Refusal(nested(65)), HasSubstr("nests too deep"));
}

TEST(PickleValueTest, AListThatIsUsedTwiceIsCopiedWhole) {
  // The pickle of (a, a, 7), where `a` is the list [7]. The pickle stores `a`
  // while this list is empty, refers to it a second time, and then appends the
  // 7 to it.
  const auto value = ParsePickle("\x80\x02]q\x01h\x01K\x07\x61K\x07\x87.");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, Json({{7}, {7}, 7}));
}

TEST(PickleValueTest, AListInItselfIsRefused) {
  EXPECT_THAT(Refusal("\x80\x02]q\x01h\x01\x61."), HasSubstr("too deep"));
}

TEST(PickleValueTest, ValuesThatAreRepeatedTooOftenAreRefused) {
  // A list that contains one string of 1 MiB 100 times, and so exceeds the
  // maximum size of the result.
  std::string bytes =
      Bytes("\x80\x02](X\0\0\x10\0") + std::string(1 << 20, 'x');
  bytes += Bytes("q\0");
  for (int i = 0; i < 99; i++) bytes += Bytes("h\0");
  EXPECT_THAT(Refusal(bytes + "e."), HasSubstr("repeats too much"));
  // Nested pairs: each of 40 pairs contains the previous value twice, so the
  // result would have 2^40 innermost values.
  bytes = Bytes("\x80\x02]q\0");
  for (int i = 0; i < 40; i++) bytes += Bytes("h\0\x86q\0");
  EXPECT_THAT(Refusal(bytes + "."), HasSubstr("repeats too much"));
}

}  // namespace
}  // namespace muster
