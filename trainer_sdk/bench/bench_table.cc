#include "trainer_sdk/bench/bench_table.h"

#include <cstdio>

#include "trainer_sdk/bench/bench_options.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// Formats a time with at most five significant digits, as nccl-tests does.
std::string TimeText(double microseconds) {
  char text[32];
  const int digits = microseconds >= 10000 ? 0 : microseconds >= 100 ? 1 : 2;
  std::snprintf(text, sizeof(text), "%.*f", digits, microseconds);
  return text;
}

std::string HalfLine(const BenchRow& row,
                     const std::optional<BenchMeasurement>& measurement) {
  char text[128];
  if (!measurement) {
    std::snprintf(text, sizeof(text), "  %7s  %6s  %6s  %5s", "N/A", "N/A",
                  "N/A", "N/A");
    return text;
  }
  // The bandwidth in GB/s. One byte per microsecond is 1 MB/s, and 1000 MB/s
  // are 1 GB/s.
  const double bandwidth =
      measurement->microseconds > 0
          ? static_cast<double>(row.bytes) / measurement->microseconds / 1e3
          : 0;
  std::snprintf(
      text, sizeof(text), "  %7s  %6.2f  %6.2f  %5s",
      TimeText(measurement->microseconds).c_str(), bandwidth,
      bandwidth * BusFactor(row.kind, row.ranks),
      measurement->wrong ? std::to_string(*measurement->wrong).c_str() : "N/A");
  return text;
}

}  // namespace

double BusFactor(OperationKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case OperationKind::kAllReduce:
      return 2 * (n - 1) / n;
    case OperationKind::kReduceScatter:
    case OperationKind::kAllGather:
    case OperationKind::kAllToAll:
    case OperationKind::kGather:
    case OperationKind::kScatter:
      return (n - 1) / n;
    default:
      return 1;
  }
}

std::string BenchHead() {
  char text[512];
  std::snprintf(text, sizeof(text),
                "#\n# %10s  %12s  %8s  %6s  %6s  %-31s  %-31s\n"
                "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %5s  %7s  %6s  "
                "%6s  %5s\n"
                "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %5s  %7s  %6s  "
                "%6s  %5s\n",
                "", "", "", "", "", "         out-of-place",
                "           in-place", "size", "count", "type", "redop", "root",
                "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw",
                "#wrong", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
                "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
  // The table's header, without blanks at the ends of its lines.
  std::string head;
  for (const char* c = text; *c != 0; c++) {
    if (*c == '\n') {
      while (!head.empty() && head.back() == ' ') head.pop_back();
    }
    head += *c;
  }
  return head;
}

std::string BenchLine(const BenchRow& row) {
  char text[128];
  std::snprintf(text, sizeof(text), "  %10lld  %12lld  %8s  %6s  %6d",
                static_cast<long long>(row.bytes),
                static_cast<long long>(row.count), BenchName(row.dtype),
                IsReduction(row.kind) ? Name(row.op) : "none",
                HasRoot(row.kind) ? row.root : -1);
  return text + HalfLine(row, row.out_of_place) + HalfLine(row, row.in_place) +
         "\n";
}

}  // namespace muster
