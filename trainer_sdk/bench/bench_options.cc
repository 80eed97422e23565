#include "trainer_sdk/bench/bench_options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 30;

template <typename T>
absl::StatusOr<T> Named(const std::string& name, int values,
                        const std::string& what) {
  for (int i = 0; i < values; i++) {
    const auto value = static_cast<T>(i);
    if (name == Name(value)) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown ", what, " '", name, "'"));
}

absl::StatusOr<int64_t> Number(const std::string& text, int64_t least,
                               int64_t most) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < least || number > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no number from ", least, " to ", most));
  }
  return number;
}

absl::Status IntoTypes(const std::string& text, BenchOptions& options) {
  options.dtypes.clear();
  for (int i = 0; i < kDTypes; i++) {
    const auto dtype = static_cast<DType>(i);
    if (text == "all" || text == BenchName(dtype) || text == Name(dtype)) {
      options.dtypes.push_back(dtype);
    }
  }
  return options.dtypes.empty()
             ? absl::InvalidArgumentError(absl::StrCat(
                   "unknown type '", text,
                   "'; write float, double, half, bfloat16, int8, int32, "
                   "int64 or all"))
             : absl::OkStatus();
}

absl::Status IntoOps(const std::string& text, BenchOptions& options) {
  options.ops.clear();
  for (int i = 0; i < kReduceOps; i++) {
    const auto op = static_cast<ReduceOp>(i);
    if (text == "all" || text == Name(op)) options.ops.push_back(op);
  }
  return options.ops.empty() ? absl::InvalidArgumentError(absl::StrCat(
                                   "unknown reduction '", text,
                                   "'; write sum, avg, min, max, prod or all"))
                             : absl::OkStatus();
}

using Setter = std::function<absl::Status(const std::string&, BenchOptions&)>;

template <typename T>
Setter NumberInto(T BenchOptions::*field, int64_t least, int64_t most) {
  return [=](const std::string& text, BenchOptions& options) {
    const absl::StatusOr<int64_t> number = Number(text, least, most);
    if (number.ok()) options.*field = static_cast<T>(*number);
    return number.status();
  };
}

Setter SizeInto(int64_t BenchOptions::*field) {
  return [=](const std::string& text, BenchOptions& options) {
    const absl::StatusOr<int64_t> size = ParseBenchSize(text);
    if (size.ok()) options.*field = *size;
    return size.status();
  };
}

struct BenchFlag {
  std::string letter;  // short name, such as "-b"; empty: none
  std::string name;    // long name, such as "--minbytes"
  Setter set;
};

std::vector<BenchFlag> Flags() {
  return {
      {"-b", "--minbytes", SizeInto(&BenchOptions::least_bytes)},
      {"-e", "--maxbytes", SizeInto(&BenchOptions::max_bytes)},
      {"-f", "--stepfactor",
       NumberInto(&BenchOptions::step_factor, 2, 1 << 20)},
      {"-i", "--stepbytes",
       [](const std::string& text, BenchOptions& options) {
         options.step_factor = 0;
         return SizeInto(&BenchOptions::step_bytes)(text, options);
       }},
      {"-n", "--iters", NumberInto(&BenchOptions::iterations, 1, 1 << 30)},
      {"-w", "--warmup-iters", NumberInto(&BenchOptions::warm_up, 0, 1 << 30)},
      {"-d", "--datatype", IntoTypes},
      {"-o", "--op", IntoOps},
      {"-r", "--root", NumberInto(&BenchOptions::root, 0, 1 << 30)},
      {"-c", "--check", NumberInto(&BenchOptions::check, 0, 1)},
      {"", "--transport",
       [](const std::string& text, BenchOptions& options) {
         const auto choice = ParseTransportChoice(text);
         if (choice.ok()) options.transport = *choice;
         return choice.status();
       }},
      {"", "--memory",
       [](const std::string& text, BenchOptions& options) {
         options.memory =
             text == "plain" ? BenchMemory::kPlain : BenchMemory::kTransports;
         return text == "plain" || text == "transport"
                    ? absl::OkStatus()
                    : absl::InvalidArgumentError(absl::StrCat(
                          "'", text, "' is neither transport nor plain"));
       }},
  };
}

absl::StatusOr<OperationKind> KindOf(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::string names;
  for (int i = 0; i < kOperationKinds; i++) {
    const auto kind = static_cast<OperationKind>(i);
    if (kind == OperationKind::kSend || kind == OperationKind::kReceive) {
      continue;
    }
    if (name == BenchName(kind)) return kind;
    absl::StrAppend(&names, names.empty() ? "" : ", ", BenchName(kind));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown operation '", name, "'; write one of ", names));
}

absl::Status Validate(const BenchOptions& options) {
  if (options.least_bytes > options.max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "-b ", options.least_bytes, " is more than -e ", options.max_bytes));
  }
  if (options.step_factor == 0 && options.step_bytes == 0) {
    return absl::InvalidArgumentError("-i 0 is no step");
  }
  if (BenchSizes(options).size() > 10000) {
    return absl::InvalidArgumentError("more than 10000 sizes");
  }
  return absl::OkStatus();
}

}  // namespace

const char* BenchName(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "half";
    default:
      return Name(dtype);
  }
}

const char* BenchName(OperationKind kind) {
  return kind == OperationKind::kBatch ? "sendrecv" : Name(kind);
}

absl::StatusOr<int64_t> ParseBenchSize(const std::string& text) {
  std::string digits = text;
  int shift = 0;
  if (!digits.empty()) {
    const std::string units = "KMG";
    const size_t unit = units.find(static_cast<char>(digits.back() & ~0x20));
    if (unit != std::string::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      digits.pop_back();
    }
  }
  const absl::StatusOr<int64_t> number = Number(digits, 0, kMaxBytes >> shift);
  if (number.ok()) return *number << shift;
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is no size up to 64G, such as 4096, 4K or 128M"));
}

std::vector<int64_t> BenchSizes(const BenchOptions& options) {
  if (options.kind == OperationKind::kBarrier) return {0};
  std::vector<int64_t> sizes;
  for (int64_t size = options.least_bytes; size <= options.max_bytes;) {
    sizes.push_back(size);
    const int64_t next = options.step_factor > 0 ? size * options.step_factor
                                                 : size + options.step_bytes;
    if (next <= size || sizes.size() > 10000) break;
    size = next;
  }
  return sizes;
}

absl::StatusOr<BenchOptions> ParseBenchOptions(
    const std::vector<std::string>& arguments) {
  BenchOptions options;
  bool has_operation = false;
  const std::vector<BenchFlag> flags = Flags();
  for (size_t i = 0; i < arguments.size(); i++) {
    std::string argument = arguments[i];
    if (argument == "-h" || argument == "--help") {
      options.help = true;
      return options;
    }
    if (argument.empty() || argument[0] != '-') {
      const absl::StatusOr<OperationKind> kind = KindOf(argument);
      if (!kind.ok()) return kind.status();
      if (has_operation) {
        return absl::InvalidArgumentError(
            absl::StrCat("one operation at a time, not ", argument, " too"));
      }
      options.kind = *kind;
      has_operation = true;
      continue;
    }
    std::string value;
    const size_t equals = argument.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) {
      value = argument.substr(equals + 1);
      argument.resize(equals);
    }
    const std::string dashed =
        argument.substr(0, 2) +
        absl::StrReplaceAll(argument.substr(2), {{"_", "-"}});
    const auto flag =
        std::find_if(flags.begin(), flags.end(), [&](const BenchFlag& f) {
          return dashed == f.name || dashed == f.letter;
        });
    if (flag == flags.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ": unknown flag"));
    }
    if (!has_value) {
      if (++i >= arguments.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(argument, " needs a value"));
      }
      value = arguments[i];
    }
    const absl::Status status = flag->set(value, options);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ": ", std::string(status.message())));
    }
  }
  if (!has_operation) {
    return absl::InvalidArgumentError("name an operation, such as all_reduce");
  }
  const absl::Status status = Validate(options);
  if (!status.ok()) return status;
  return options;
}

std::string BenchHelp() {
  return R"(Usage:
  launch bench [FLAGS] OPERATION [OPTIONS]
      Outside of a job: run one on this node and measure in it; FLAGS are
      launch's, such as --nproc-per-node=2. As a worker of a job (of launch,
      torchrun, mpirun or srun): measure in that.

OPERATION: all_reduce, reduce_scatter, all_gather, broadcast, reduce,
all_to_all, gather, scatter, barrier or sendrecv (each to the next one).

Options, as nccl-tests has them:
  -b, --minbytes SIZE      Least size (default: 4K).
  -e, --maxbytes SIZE      Greatest size (default: 128M).
  -f, --stepfactor N       Each size is N times the last one (default: 4).
  -i, --stepbytes SIZE     Each size is SIZE more than the last one.
  -n, --iters N            Operations that are timed for each size (20).
  -w, --warmup-iters N     Operations before that (5).
  -d, --datatype TYPE      float, double, half, bfloat16, int8, int32, int64
                           or all (default: float).
  -o, --op OP              sum, avg, min, max, prod or all (default: sum).
  -r, --root RANK          Root of broadcast, reduce, gather and scatter (0).
  -c, --check 0|1          Compare every element once for each size (1).
  --transport NAME         A transport of docs/SDK.md, such as shm, tcp, gloo
                           or nccl (default: auto).
  --memory transport|plain Where the buffers lie (default: transport).

Sizes are bytes of the longer buffer, with K, M or G. algbw is size / time;
busbw is what a link must carry: algbw times 2(n-1)/n for all_reduce, (n-1)/n
for reduce_scatter, all_gather, all_to_all, gather and scatter, else 1.
)";
}

}  // namespace muster
