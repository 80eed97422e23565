#include "rendezvous/dashboard/dashboard.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "rendezvous/dashboard/page_files.h"
#include "rendezvous/events/status_json.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/output_tail.h"

namespace muster::rendezvous {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kReadInterval = std::chrono::milliseconds(900);
// Limits how often the dashboard reads the jobs. If reading and formatting took
// the time t, the next reading begins at least kRest * t after the start of the
// last one. So reading and formatting take at most 1 / kRest of the time.
constexpr int kRest = 20;
constexpr size_t kMaxShared = 64;
constexpr char kJsonType[] = "application/json";
constexpr char kStreamType[] = "text/event-stream";
// Interval at which a stream of a rank's output sends the new lines.
constexpr Duration kOutputInterval = std::chrono::milliseconds(250);
// Time without new lines after which a stream of a rank's output sends a
// keep-alive (an empty comment).
constexpr Duration kOutputSilence = std::chrono::seconds(5);
// Maximum number of bytes (kMaxOutputRead) and of updates (kMaxUpdatesRead)
// that an output stream takes at a time from the nodes' answers. Both exceed
// what an InquirySession buffers, so each reading empties the buffer.
constexpr size_t kMaxOutputRead = 512 << 10;
constexpr size_t kMaxUpdatesRead = 4096;
// Time after which the dashboard says that a node has not begun to send the
// output that the dashboard has asked for.
constexpr Duration kNodeIsLate = std::chrono::seconds(10);

// Content-Security-Policy: the page loads nothing from other hosts, runs no
// inline scripts, and cannot be shown in a frame of another page.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
    "'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

ProbeAnswer WithHeaders(ProbeAnswer answer) {
  answer.headers = {{"Content-Security-Policy", kPolicy},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Resource-Policy", "same-origin"}};
  return answer;
}

ProbeAnswer Refusal(int status, absl::string_view why) {
  return WithHeaders(
      {.status = status,
       .body = std::make_shared<const std::string>(absl::StrCat(why, "\n")),
       .more = nullptr});
}

ProbeAnswer Document(Page text, std::string type) {
  return WithHeaders({.body = std::move(text),
                      .content_type = std::move(type),
                      .more = nullptr});
}

// Decodes %XX. A malformed sequence stays as it is.
std::string Unescaped(absl::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() &&
        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2]))) {
      unsigned int byte = 0;
      // Ignore the result: the text is two hexadecimal digits, which are always
      // a number.
      (void)absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte);
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Returns a parameter of the request's query string; empty: none.
std::string Parameter(absl::string_view target, absl::string_view name) {
  const size_t at = target.find('?');
  if (at == absl::string_view::npos) return "";
  for (absl::string_view pair : absl::StrSplit(target.substr(at + 1), '&')) {
    if (absl::ConsumePrefix(&pair, absl::StrCat(name, "="))) {
      return Unescaped(pair);
    }
  }
  return "";
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

std::string HistoryJson(const JobHistory* history) {
  if (history == nullptr) return "null";
  Json at = Json::array(), step = Json::array(), loss = Json::array(),
       rate = Json::array(), spans = Json::array();
  for (const JobHistory::Sample& sample : history->samples()) {
    at.push_back(sample.at_s);
    step.push_back(OrNull(sample.step));
    // NaN and infinity are written as null.
    loss.push_back(OrNull(sample.loss));
    rate.push_back(OrNull(sample.tokens_per_s));
  }
  for (const JobHistory::Span& span : history->spans()) {
    spans.push_back(
        {span.round, PhaseText(span.phase), span.from_s, span.to_s});
  }
  return Dump({{"at_seconds", at},
               {"step", step},
               {"loss", loss},
               {"tokens_per_s", rate},
               {"spans", spans},
               {"spans_dropped", history->spans_dropped()}});
}

std::string Event(absl::string_view name, absl::string_view data) {
  return absl::StrCat("event: ", name, "\ndata: ", data, "\n\n");
}

std::string OutputJson(const OutputTail& tail) {
  Json lines = Json::array();
  for (const OutputLine& line : tail.lines()) {
    lines.push_back(
        {{"round", line.round},
         {"stream",
          line.stream == OutputLine::Stream::kErr ? "stderr" : "stdout"},
         {"text", line.text}});
  }
  return Dump(
      {{"lines", lines}, {"dropped", tail.dropped()}, {"note", tail.note()}});
}

size_t BytesOf(const InquiryUpdate& update) {
  size_t bytes = 0;
  for (const OutputLine& line : update.part.lines) bytes += line.text.size();
  return bytes;
}

// The answer to a request for output that the coordinator refuses with `error`.
ProbeAnswer RefusedOutput(const absl::Status& error) {
  // Do not forward the NotFound message: it lists the ids of other jobs.
  if (absl::IsNotFound(error)) return Refusal(404, "no such job");
  const int status = absl::IsFailedPrecondition(error) ? 409
                     : absl::IsInvalidArgument(error)  ? 400
                                                       : 503;
  return Refusal(status, absl::string_view(error.message()));
}

}  // namespace

// One client's stream of events.
class Dashboard::Stream {
 public:
  Stream(Dashboard* dashboard, std::string job, Principal principal)
      : dashboard_(dashboard),
        job_(std::move(job)),
        principal_(std::move(principal)),
        end_(dashboard->clock_.now() + kStreamTime) {
    ++dashboard_->streams_;
  }
  ~Stream() { --dashboard_->streams_; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::optional<Text> Next() {
    if (is_over_ || dashboard_->clock_.now() >= end_) return std::nullopt;
    if (seen_ == dashboard_->generation_) return Text();
    seen_ = dashboard_->generation_;
    if (job_.empty()) return dashboard_->JobsEvent(principal_);
    const JobStatus* const job = dashboard_->FindJob(job_);
    if (job == nullptr) {
      is_over_ = true;
      return std::make_shared<const std::string>(Event("gone", "{}"));
    }
    const uint64_t seen_history = seen_history_;
    const JobHistory* const history = dashboard_->histories_.Find(job_);
    if (history != nullptr) seen_history_ = history->version();
    return dashboard_->JobEvent(*job, seen_history);
  }

 private:
  Dashboard* const dashboard_;
  const std::string job_;  // the stream's job; empty: all jobs
  const Principal principal_;
  const Instant end_;
  // value of Dashboard::generation_ (the number of times that the jobs' states
  // were read) when this stream last sent a state
  uint64_t seen_ = 0;
  // the version (JobHistory::version) of the history that was sent last
  uint64_t seen_history_ = 0;
  bool is_over_ = false;
};

// One client's stream of a rank's output. While this object lives, nodes are
// asked to send the output (an open Inquiry).
class Dashboard::OutputStream {
 public:
  OutputStream(Dashboard* dashboard, std::string job,
               DashboardInquirer::Session session)
      : dashboard_(dashboard),
        job_(std::move(job)),
        session_(std::move(session)),
        begin_(dashboard->clock_.now()),
        newest_(begin_) {
    ++dashboard_->output_streams_;
  }
  ~OutputStream() {
    --dashboard_->output_streams_;
    dashboard_->inquirer_.end(job_, session_);
  }
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  std::optional<Text> Next() {
    const Instant now = dashboard_->clock_.now();
    if (is_over_ || now >= begin_ + kStreamTime) return std::nullopt;
    if (now < next_look_) return Text();
    next_look_ = now + kOutputInterval;
    std::string text = News() + Waiting(now);
    if (session_->IsOver() || dashboard_->FindJob(job_) == nullptr) {
      text += Event("over", "{}");
      is_over_ = true;
    }
    if (text.empty()) {
      if (now < newest_ + kOutputSilence) return Text();
      text = ":\n\n";  // keep-alive: an empty comment of server-sent events
    }
    newest_ = now;
    return std::make_shared<const std::string>(std::move(text));
  }

 private:
  // Returns a server-sent event with the lines that have arrived since the last
  // call; empty: no line has arrived.
  std::string News() {
    OutputTail tail;
    size_t bytes = 0;
    for (size_t i = 0; i < kMaxUpdatesRead && bytes < kMaxOutputRead; ++i) {
      std::optional<InquiryUpdate> update = session_->Next();
      if (!update.has_value()) break;
      bytes += BytesOf(*update);
      tail.Add(*std::move(update));
    }
    return tail.empty() ? "" : Event("output", OutputJson(tail));
  }

  // Returns a server-sent event that names the nodes that have not begun to
  // answer; empty: the text of the event has not changed since the last call.
  std::string Waiting(Instant now) {
    const std::string hosts = absl::StrJoin(session_->Silent(), ", ");
    std::string waiting;
    if (!hosts.empty()) {
      waiting = now < begin_ + kNodeIsLate
                    ? absl::StrCat("waiting for ", hosts)
                    : absl::StrCat("no answer from ", hosts, " within ",
                                   ToSeconds(kNodeIsLate), " s; waiting");
    }
    if (waiting == waiting_) return "";
    waiting_ = waiting;
    return Event("waiting", Dump({{"text", waiting}}));
  }

  Dashboard* const dashboard_;
  const std::string job_;
  const DashboardInquirer::Session session_;
  const Instant begin_;
  Instant next_look_{};
  Instant newest_;  // when the stream last sent something
  // text of the newest event that Waiting returned: which nodes do not answer
  std::string waiting_;
  bool is_over_ = false;
};

Dashboard::Dashboard(std::function<CoordinatedJobs()> read,
                     DashboardInquirer inquirer, DashboardAccess access,
                     Clock clock)
    : read_(std::move(read)),
      inquirer_(std::move(inquirer)),
      access_(std::move(access)),
      clock_(std::move(clock)) {}

Dashboard::~Dashboard() = default;

void Dashboard::Tick() {
  if (clock_.now() >= next_read_) Read();
}

void Dashboard::Read() {
  const Instant began = clock_.now();
  jobs_ = read_();
  histories_.Add(jobs_.jobs);
  shared_.clear();
  ++generation_;
  // The time that this call of Read took, plus the time that requests have
  // spent on formatting since the previous call.
  const Duration cost = clock_.now() - began + std::exchange(spent_, {});
  next_read_ = began + std::max<Duration>(kReadInterval, kRest * cost);
}

const JobStatus* Dashboard::FindJob(const std::string& run_id) const {
  const auto found =
      std::find_if(jobs_.jobs.begin(), jobs_.jobs.end(),
                   [&](const JobStatus& job) { return job.run_id == run_id; });
  return found == jobs_.jobs.end() ? nullptr : &*found;
}

Dashboard::Text Dashboard::Shared(const std::string& key,
                                  const std::function<std::string()>& make) {
  const auto found = shared_.find(key);
  if (found != shared_.end()) return found->second;
  const Instant began = clock_.now();
  Text text = std::make_shared<const std::string>(make());
  spent_ += clock_.now() - began;
  if (shared_.size() < kMaxShared) shared_.emplace(key, text);
  return text;
}

Dashboard::Text Dashboard::JobText(const JobStatus& job) {
  return Shared("job " + job.run_id, [&] {
    return absl::StrCat("{\"job\":", StatusJsonLine(job), ",\"history\":",
                        HistoryJson(histories_.Find(job.run_id)), "}\n");
  });
}

Dashboard::Text Dashboard::JobEvent(const JobStatus& job,
                                    uint64_t seen_history) {
  const JobHistory* const history = histories_.Find(job.run_id);
  const bool is_new = history != nullptr && history->version() != seen_history;
  return Shared(absl::StrCat(is_new ? "event+history " : "event ", job.run_id),
                [&] {
                  std::string text = Event("job", StatusJsonLine(job));
                  if (is_new) text += Event("history", HistoryJson(history));
                  return text;
                });
}

Dashboard::Text Dashboard::JobsText(const Principal& principal) {
  return Shared("jobs " + absl::StrJoin(principal.jobs, "\n"), [&] {
    std::string list;
    for (const JobStatus& job : jobs_.jobs) {
      if (!IncludesJob(principal, job.run_id)) continue;
      JobStatus summary = job;
      summary.nodes.clear();
      absl::StrAppend(&list, list.empty() ? "" : ",", StatusJsonLine(summary));
    }
    return absl::StrCat("{\"jobs\":[", list,
                        "],\"elsewhere\":", Dump(Json(jobs_.elsewhere)), "}");
  });
}

Dashboard::Text Dashboard::JobsEvent(const Principal& principal) {
  return Shared("jobs event " + absl::StrJoin(principal.jobs, "\n"),
                [&] { return Event("jobs", *JobsText(principal)); });
}

ProbeAnswer Dashboard::OpenStream(const std::string& job,
                                  const Principal& principal) {
  if (streams_ >= kMaxStreams) {
    return Refusal(503, "too many pages are open; ask /api/job instead");
  }
  auto stream = std::make_shared<Stream>(this, job, principal);
  ProbeAnswer answer = WithHeaders(
      {.body = std::make_shared<const std::string>("retry: 2000\n\n"),
       .content_type = kStreamType,
       .more = nullptr});
  answer.more = [stream] { return stream->Next(); };
  return answer;
}

ProbeAnswer Dashboard::OpenOutput(const JobStatus& job,
                                  const std::string& rank) {
  if (access_.output == OutputShown::kNo || inquirer_.inquire == nullptr) {
    return Refusal(403,
                   "this page does not show the output of workers, because "
                   "other hosts can reach it without a token; use launch logs");
  }
  int number = 0;
  if (!absl::SimpleAtoi(rank, &number) || number < 0) {
    return Refusal(400, "the request names no rank, as in rank=3");
  }
  if (job.world_size > 0 && number >= job.world_size) {
    return Refusal(404,
                   absl::StrCat("the job has no rank ", number,
                                "; its ranks are 0 to ", job.world_size - 1));
  }
  if (output_streams_ >= kMaxOutputStreams) {
    return Refusal(503,
                   absl::StrCat("the output is open in ", kMaxOutputStreams,
                                " pages already; use launch logs"));
  }
  const auto session = std::make_shared<InquirySession>(
      Inquiry{.ranks = {number},
              .lines = static_cast<int>(OutputTail::kMaxLines),
              .follow = Inquiry::Follow::kYes},
      /*on_news=*/[] {});
  const auto stream = std::make_shared<OutputStream>(this, job.run_id, session);
  const absl::Status opened = inquirer_.inquire(job.run_id, session);
  if (!opened.ok()) return RefusedOutput(opened);
  ProbeAnswer answer = WithHeaders(
      {.body = std::make_shared<const std::string>(Event("opened", "{}")),
       .content_type = kStreamType,
       .more = nullptr});
  answer.more = [stream] { return stream->Next(); };
  return answer;
}

ProbeAnswer Dashboard::AnswerForCaller(const std::string& target,
                                       const Principal& principal) {
  const std::string path = target.substr(0, target.find('?'));
  const std::string job = Parameter(target, "id");
  if (generation_ == 0) Read();
  if (path == "/api/jobs") return Document(JobsText(principal), kJsonType);
  if (path == "/api/events" && job.empty()) return OpenStream("", principal);
  const JobStatus* const found =
      IncludesJob(principal, job) ? FindJob(job) : nullptr;
  if (found == nullptr) return Refusal(404, "no such job");
  if (path == "/api/events") return OpenStream(job, principal);
  if (path == "/api/output") {
    return OpenOutput(*found, Parameter(target, "rank"));
  }
  return Document(JobText(*found), kJsonType);
}

std::optional<ProbeAnswer> Dashboard::Answer(const PageRequest& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool is_state = path == "/api/jobs" || path == "/api/job" ||
                        path == "/api/events" || path == "/api/output";
  const bool is_page =
      path == "/" || path == "/dashboard.css" || path == "/dashboard.js";
  if (!is_state && !is_page) return std::nullopt;
  if (!IsOwnHost(request.host, access_.host_names)) {
    return Refusal(421,
                   "this host does not answer to that name; use its IP "
                   "address, localhost, or the name in --dashboard-listen");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return Refusal(405, "GET and HEAD only");
  }
  if (path == "/")
    return Document(std::make_shared<const std::string>(kPageHtml),
                    "text/html; charset=utf-8");
  if (path == "/dashboard.css")
    return Document(std::make_shared<const std::string>(kPageCss), "text/css");
  if (path == "/dashboard.js")
    return Document(std::make_shared<const std::string>(kPageScript),
                    "text/javascript");
  const absl::StatusOr<Principal> caller =
      DashboardCaller(request.authorization, access_, clock_.unix_time());
  if (!caller.ok()) {
    const bool is_unknown = absl::IsUnauthenticated(caller.status());
    return Refusal(is_unknown ? 401 : 403,
                   absl::string_view(caller.status().message()));
  }
  return AnswerForCaller(request.target, *caller);
}

void AddDashboard(const std::shared_ptr<Dashboard>& dashboard, Probes& pages) {
  if (dashboard == nullptr) return;
  pages.pages = [dashboard](const PageRequest& request) {
    return dashboard->Answer(request);
  };
  pages.tick = [dashboard] { dashboard->Tick(); };
}

}  // namespace muster::rendezvous
