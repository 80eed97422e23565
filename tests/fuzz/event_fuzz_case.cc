// Fuzzes the reader of event logs and the page of `launch report`. Applies the
// edits in `input` (EditedBytes) to three valid lines, and makes a report of
// the result. The page must have a bounded size and no control characters. Text
// of the lines must not become HTML elements of the page.

#include <string>
#include <string_view>

#include "base/check.h"
#include "launcher/run_report/recorded_event.h"
#include "launcher/run_report/report_page.h"
#include "launcher/run_report/run_report.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

constexpr std::string_view kSound =
    R"({"time":"2026-03-01T14:05:09.250Z","run_id":"a","round":1,"kind":"assign","node":null,"reason":"round 1 begins: 2 nodes"}
{"time":"2026-03-01T14:05:19.250Z","run_id":"a","round":1,"kind":"break","node":"n1","reason":"round 1 is broken","failure":{"kind":"signal","host":"h","node_id":"n1","group_rank":0,"rank":1,"local_rank":1,"pid":7,"exit_code":0,"signal":9,"unix_time":1772373919.0,"message":"m","error_file":"/e","traceback":"T","stderr_tail":["x"],"stack":["f"]}}
{"time":"2026-03-01T14:05:29.250Z","run_id":"a","round":1,"kind":"state","node":null,"reason":"r","state":{"phase":"finished","age_seconds":20.0,"world_size":2,"restarts_used":0,"max_restarts":1,"progress":{"ranks":2,"least_step":3,"max_step":4,"slowest_rank":0,"loss":2.5,"tokens_per_s":7.0},"time":{"node_seconds":{"productive":9.0},"interruptions":{"worker":{"count":1,"lost_seconds":2.0}},"newest_interruptions":[{"round":1,"cause":"worker","host":"h","reason":"w","lost_seconds":2.0}]},"slow_ranks":[{"rank":1,"host":"h","phase":"data","ratio":1.5}],"verdict":{"outcome":"failed","exit_code":3,"reason":"w","seconds":20.0,"rounds":1,"restarts_used":0},"settings":{"command":"c","max_nodes":2},"nodes":[{"node_id":"n1","host":"h","group_rank":0,"first_rank":0,"slots":2,"unhealthy":"u","seconds":{"productive":9.0}}],"nodes_omitted":0}}
)";

}  // namespace

void RunFuzzCase(std::string_view input) {
  const std::string text = EditedBytes(kSound, input);
  launcher::ReportBuilder builder;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const auto event = launcher::ParseEvent(rest.substr(0, end));
    if (event.has_value()) builder.Add(*event);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const launcher::RunReport report = builder.Take();
  MUSTER_CHECK(launcher::WantedOutputs(report).size() <=
               launcher::kMaxWantedOutputs);
  const std::string page = launcher::ReportPage(report, 1);
  MUSTER_CHECK(page.size() < 200'000 + 16 * text.size()) << page.size();
  for (const std::string_view markup : {"<script", "<img", "<iframe", "<a x"}) {
    MUSTER_CHECK(page.find(markup) == std::string::npos) << std::string(markup);
  }
  for (const char c : page) {
    MUSTER_CHECK(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  }
}

}  // namespace muster
