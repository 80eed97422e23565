#include "trainer_sdk/flight_recorder/pickle_value.h"

#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
// The maximum size in bytes of the JSON value that ParsePickle returns:
// kMaxPerByte for each byte of the pickle, plus kMaxRepeated for values that
// occur several times. Each value counts as 16 bytes, plus the length of its
// string (see Machine::Expand).
constexpr size_t kMaxPerByte = 16;
constexpr size_t kMaxRepeated = 64 << 20;

// The pickle opcodes that ParsePickle accepts, with the names of Python's
// pickletools. These opcodes only create plain values; they run no code.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinUnicode = 'X',
  kAppend = 'a',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyList = ']',
  kEmptyDict = '}',
  kEmptyTuple = ')',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// The name of an opcode that looks up or calls a Python object; null for any
// other opcode.
const char* CodeName(uint8_t opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 'P':
    case 'Q':
      return "PERSID";
    case 0x81:
      return "NEWOBJ";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x93:
      return "STACK_GLOBAL";
    default:
      return nullptr;
  }
}

absl::Status Unsound(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("not a sound pickle: ", why));
}

// Pickle's stack machine. Values are kept by reference, because a pickle may
// store a list, use it in several places and append to it later.
class Machine {
 public:
  explicit Machine(std::string_view bytes)
      : rest_(bytes), room_(bytes.size() * kMaxPerByte + kMaxRepeated) {}

  absl::StatusOr<Json> Run() {
    if (rest_.empty() || static_cast<uint8_t>(rest_[0]) != kProto) {
      return Unsound("it does not begin with PROTO");
    }
    while (!is_done_) {
      const absl::Status step = Step(static_cast<uint8_t>(Number(1)));
      if (!step.ok()) return step;
      if (is_cut_off_) return Unsound("it is cut off");
    }
    if (!rest_.empty()) return Unsound("bytes follow its end");
    if (stack_.size() != 1 || !marks_.empty()) {
      return Unsound("it does not end with one value");
    }
    return Expand(*stack_.back(), kMaxDepth);
  }

 private:
  // A value on the stack. For an array or object, `json` is empty and the
  // elements are in `items`; the elements of an object are stored as key,
  // value, key, value, ... For any other value, `json` is the value itself.
  struct Node {
    Json json;
    std::vector<Node*> items;
  };

  absl::Status Step(uint8_t opcode) {
    switch (opcode) {
      case kProto: {
        const uint64_t version = Number(1);
        if (version < 2 || version > 5) {
          return Unsound(absl::StrCat("protocol ", version));
        }
        return absl::OkStatus();
      }
      case kFrame:
        Number(8);
        return absl::OkStatus();
      case kStop:
        is_done_ = true;
        return absl::OkStatus();
      case kMark:
        marks_.push_back(stack_.size());
        return absl::OkStatus();
      case kNone:
        return Push(nullptr);
      case kNewTrue:
        return Push(true);
      case kNewFalse:
        return Push(false);
      case kBinInt1:
        return Push(Number(1));
      case kBinInt2:
        return Push(Number(2));
      case kBinInt:
        return Push(static_cast<int32_t>(Number(4)));
      case kLong1:
        return Long(Number(1));
      case kBinFloat:
        return Push(std::bit_cast<double>(__builtin_bswap64(Number(8))));
      case kShortBinUnicode:
        return Push(Text(Number(1)));
      case kBinUnicode:
        return Push(Text(Number(4)));
      case kBinUnicode8:
        return Push(Text(Number(8)));
      case kEmptyList:
      case kEmptyTuple:
        return Push(Json::array());
      case kEmptyDict:
        return Push(Json::object());
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return Tuple(static_cast<size_t>(opcode - kTuple1) + 1);
      case kTuple: {
        size_t count = 0;
        if (!PopMark(&count)) return Unsound("a mark is missing");
        return Tuple(count);
      }
      case kAppend:
        return Append(1);
      case kAppends: {
        size_t count = 0;
        if (!PopMark(&count)) return Unsound("a mark is missing");
        return Append(count);
      }
      case kSetItem:
        return SetItems(2);
      case kSetItems: {
        size_t count = 0;
        if (!PopMark(&count)) return Unsound("a mark is missing");
        return SetItems(count);
      }
      case kBinPut:
        return Remember(Number(1));
      case kLongBinPut:
        return Remember(Number(4));
      case kMemoize:
        return Remember(memo_.size());
      case kBinGet:
        return Recall(Number(1));
      case kLongBinGet:
        return Recall(Number(4));
      default:
        break;
    }
    if (const char* code = CodeName(opcode); code != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the pickle would run Python code (", code, "); nothing was run"));
    }
    return Unsound(absl::StrCat("opcode ", opcode, " is not of plain data"));
  }

  // Reads the next `bytes` bytes of the pickle, at most 8, as a little-endian
  // number.
  uint64_t Number(size_t bytes) {
    const std::string_view taken = Take(bytes);
    uint64_t number = 0;
    for (size_t i = taken.size(); i-- > 0;) {
      number = number << 8 | static_cast<uint8_t>(taken[i]);
    }
    return number;
  }

  std::string Text(uint64_t bytes) { return std::string(Take(bytes)); }

  // Reads the next `bytes` bytes of the pickle. If fewer are left, sets
  // is_cut_off_ and returns an empty text.
  std::string_view Take(uint64_t bytes) {
    if (bytes > rest_.size()) {
      is_cut_off_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  absl::Status Push(Json json) {
    stack_.push_back(&nodes_.emplace_back(Node{std::move(json), {}}));
    return absl::OkStatus();
  }

  // Reads an integer of `bytes` bytes in two's complement from the pickle, and
  // pushes it onto the stack.
  absl::Status Long(uint64_t bytes) {
    if (bytes > 8) return Unsound("an integer has more than 64 bits");
    const std::string_view taken = Take(bytes);
    const bool is_negative = !taken.empty() && (taken.back() & 0x80) != 0;
    uint64_t number = is_negative ? ~uint64_t{0} : 0;
    for (size_t i = taken.size(); i-- > 0;) {
      number = number << 8 | static_cast<uint8_t>(taken[i]);
    }
    return Push(static_cast<int64_t>(number));
  }

  // Removes the newest mark. A mark is a position in the stack, set by an
  // opcode; a later opcode takes all values above the mark. Sets `*count` to
  // the number of values above the mark. Returns false if there is no mark.
  bool PopMark(size_t* count) {
    if (marks_.empty()) return false;
    *count = stack_.size() - marks_.back();
    marks_.pop_back();
    return true;
  }

  // Whether the stack has the values that an opcode needs. The opcode takes the
  // top `count` values. It also needs `below` values under these, such as the
  // list to which it appends the taken values. All these values must be above
  // the newest mark, if there is a mark.
  bool Holds(size_t count, size_t below) const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    return stack_.size() - floor >= count + below;
  }

  absl::Status Tuple(size_t count) {
    if (!Holds(count, 0)) return Unsound("a tuple lacks elements");
    Node& tuple = nodes_.emplace_back(Node{Json::array(), {}});
    MoveTop(count, tuple);
    stack_.push_back(&tuple);
    return absl::OkStatus();
  }

  absl::Status Append(size_t count) {
    if (!Holds(count, 1)) return Unsound("there is no list to append to");
    Node& list = *stack_[stack_.size() - count - 1];
    if (!list.json.is_array()) return Unsound("it appends to no list");
    MoveTop(count, list);
    return absl::OkStatus();
  }

  absl::Status SetItems(size_t count) {
    if (!Holds(count, 1) || count % 2 != 0) {
      return Unsound("a dictionary lacks a key or a value");
    }
    const size_t first = stack_.size() - count;
    Node& dictionary = *stack_[first - 1];
    if (!dictionary.json.is_object()) {
      return Unsound("it adds to no dictionary");
    }
    for (size_t i = first; i < stack_.size(); i += 2) {
      const Json& key = stack_[i]->json;
      if (!key.is_string() && !key.is_number_integer()) {
        return Unsound("a key is neither a string nor an integer");
      }
    }
    MoveTop(count, dictionary);
    return absl::OkStatus();
  }

  // Moves the newest `count` values from the stack to the end of `container`.
  void MoveTop(size_t count, Node& container) {
    container.items.insert(container.items.end(), stack_.end() - count,
                           stack_.end());
    stack_.resize(stack_.size() - count);
  }

  // Stores the newest value of the stack in the pickle's memo, under `number`.
  absl::Status Remember(uint64_t number) {
    if (!Holds(1, 0)) return Unsound("there is nothing to store");
    memo_[number] = stack_.back();
    return absl::OkStatus();
  }

  absl::Status Recall(uint64_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) return Unsound("it refers to no earlier value");
    stack_.push_back(found->second);
    return absl::OkStatus();
  }

  // Converts `node` and all its elements to JSON. InvalidArgument: the elements
  // nest deeper than `depth` levels, or the result would be too large.
  absl::StatusOr<Json> Expand(const Node& node, int depth) {
    const size_t text = node.json.is_string()
                            ? node.json.get_ref<const std::string&>().size()
                            : 0;
    if (room_ < kMaxPerByte + text) return Unsound("it repeats too much");
    room_ -= kMaxPerByte + text;
    if (!node.json.is_structured()) return node.json;
    if (depth == 0) return Unsound("it nests too deep");
    Json json = node.json;
    const bool is_array = json.is_array();
    for (size_t i = 0; i < node.items.size(); i += is_array ? 1 : 2) {
      absl::StatusOr<Json> item =
          Expand(*node.items[is_array ? i : i + 1], depth - 1);
      if (!item.ok()) return item.status();
      if (is_array) {
        json.push_back(*std::move(item));
        continue;
      }
      const Json& key = node.items[i]->json;
      json[key.is_string() ? key.get<std::string>() : key.dump()] =
          *std::move(item);
    }
    return json;
  }

  std::string_view rest_;
  bool is_cut_off_ = false;
  bool is_done_ = false;
  // owns all values; stack_ and memo_ point to them
  std::deque<Node> nodes_;
  std::vector<Node*> stack_;
  // for each mark, oldest first: the size of stack_ when the mark was set
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Node*> memo_;
  size_t room_;  // number of bytes by which the JSON result may still grow
};

}  // namespace

absl::StatusOr<nlohmann::json> ParsePickle(std::string_view bytes) {
  return Machine(bytes).Run();
}

}  // namespace muster
