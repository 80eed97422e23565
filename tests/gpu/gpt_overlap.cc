#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/cuda/open_device.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_step_timeline.h"
#include "tests/gpu/gpt_124m.h"
#include "tests/gpu/gpt_passes.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/timeline/overlap.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/timeline/trace_events.h"
#include "trainer_sdk/transports/new_transport.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

using models::cuda::Bfloat16;
using models::cuda::CudaGptMicroBatch;
using models::cuda::CudaGptStage;
using models::cuda::CudaGptWeights;
using models::cuda::CudaStepTimeline;

// A training of GPT-2 124M on this rank's GPU.
class Training {
 public:
  Training(CudaGptWeights<Bfloat16>& weights, Optimizer& optimizer,
           const CudaGptStage<Bfloat16>& stage,
           CudaGptMicroBatch<Bfloat16>& micro_batch, Bfloat16* gradient,
           Reducer& reducer, CudaStepTimeline& timeline)
      : weights_(weights),
        optimizer_(optimizer),
        stage_(stage),
        micro_batch_(micro_batch),
        gradient_(gradient),
        reducer_(reducer),
        parts_(models::GptPartsOf(weights.tensors(), weights.config())),
        timeline_(timeline) {}

  // Runs training step number `step` (from 0) and returns its timeline spans.
  absl::StatusOr<std::vector<TimelineSpan>> Step(int64_t step) {
    timeline_.BeginStep(step);
    weights_.ZeroGradients();
    timeline_.Begin(SpanKind::kForward);
    stage_.Forward(&micro_batch_, nullptr);
    stage_.Loss(&micro_batch_, 1);
    timeline_.End();
    timeline_.Begin(SpanKind::kBackward);
    absl::Status status = reducer_.Begin(GradientSync::kReduce);
    stage_.Backward(&micro_batch_, gradient_, [&](int tensor) {
      status.Update(reducer_.MarkReady(tensor));
      timeline_.MadeGradientOf(parts_[static_cast<size_t>(tensor)]);
    });
    timeline_.End();
    if (status.ok()) status = reducer_.Finish();
    if (!status.ok()) return status;
    timeline_.Begin(SpanKind::kUpdate);
    status = optimizer_.Step({.step = step + 1, .learning_rate = 3e-4});
    if (!status.ok()) return status;
    timeline_.End();
    std::vector<TimelineSpan> spans = timeline_.EndStep();
    if (status = reducer_.Confirm(); !status.ok()) return status;
    return spans;
  }

 private:
  CudaGptWeights<Bfloat16>& weights_;
  Optimizer& optimizer_;
  const CudaGptStage<Bfloat16>& stage_;
  CudaGptMicroBatch<Bfloat16>& micro_batch_;
  Bfloat16* const gradient_;
  Reducer& reducer_;
  const std::vector<int64_t> parts_;
  CudaStepTimeline& timeline_;
};

// Checks in a step's timeline that the GPU's compute stream and communication
// stream waited for each other. The reduction of each bucket must begin after
// the kernels that filled the bucket. It must end before the step's last wait
// for reductions ends.
absl::Status CheckOrder(const std::vector<TimelineSpan>& step) {
  // Tolerance in nanoseconds for the comparison of two times: each is the time
  // of a CUDA event, which has a resolution of half a microsecond.
  constexpr int64_t kResolution = 1000;
  int64_t waited_until = 0;
  for (const TimelineSpan& span : step) {
    if (span.kind == SpanKind::kWait) waited_until = span.end;
  }
  for (const TimelineSpan& span : step) {
    if (span.kind == SpanKind::kReduce &&
        (span.begin + kResolution < span.asked ||
         span.end > waited_until + kResolution)) {
      return absl::FailedPreconditionError(
          absl::StrCat("bucket ", span.number, " was full at ", span.asked,
                       " ns, reduced from ", span.begin, " to ", span.end,
                       ", and waited for until ", waited_until));
    }
  }
  return absl::OkStatus();
}

absl::Status Show(const Timeline& timeline, const std::string& file) {
  std::ofstream out(file);
  WriteTraceEvents(timeline, out);
  out.close();
  if (!out) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", file));
  }
  std::vector<CommunicationOverlap> overlaps;
  for (const auto& spans : timeline.ranks) {
    overlaps.push_back(OverlapOf(spans));
  }
  std::printf("GPT-2 124M, bfloat16, %zu ranks over NCCL: %s; %s\n",
              timeline.ranks.size(), DescribeOverlap(overlaps).c_str(),
              file.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status ShowGptOverlap(int64_t batch, int steps, const std::string& file) {
  constexpr int kWarmUp = 5;
  const models::GptConfig config;
  auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  auto device = models::cuda::OpenDevice(0);
  if (!device.ok()) return device.status();
  auto group = NewProcessGroup({.rank = (*session)->rank(),
                                .size = (*session)->world_size(),
                                .store = (*session)->store(),
                                .name = "nccl"},
                               TransportChoice::kNccl);
  if (!group.ok()) return group.status();
  // Use a second process group, on the CPU: it gathers the ranks' timelines,
  // which are in host memory.
  const auto hosts = NewWorld(**session);
  if (!hosts.ok()) return hosts.status();

  auto gpt = MakeGpt124m(**device, batch,
                         1 + static_cast<unsigned>((*session)->rank()));
  if (!gpt.ok()) return gpt.status();
  auto& [weights, optimizer, stage, micro_batch] = *gpt;
  models::cuda::DeviceArrays arrays(**device);
  auto* const gradient = arrays.Add<Bfloat16>(stage->stream_count());
  if (!arrays.status().ok()) return arrays.status();
  const auto step_timeline = std::make_shared<CudaStepTimeline>(**device);
  auto reducer = Reducer::Create(**group, weights->DeviceTensors(),
                                 {.device = device->get(),
                                  .place = GradientPlace::kInPlace,
                                  .order = BucketOrder::kReverse,
                                  .observer = step_timeline});
  if (!reducer.ok()) return reducer.status();
  Training training(*weights, *optimizer, *stage, *micro_batch, gradient,
                    **reducer, *step_timeline);
  std::vector<TimelineSpan> last;
  for (int64_t step = 0; step < kWarmUp + steps; ++step) {
    const auto spans = training.Step(step);
    if (!spans.ok()) return spans.status();
    if (absl::Status wrong = CheckOrder(*spans); !wrong.ok()) return wrong;
    if (step >= kWarmUp) last.insert(last.end(), spans->begin(), spans->end());
  }
  auto ranks = GatherTimeline(**hosts, std::move(last));
  if (!ranks.ok()) return ranks.status();
  if ((*session)->rank() != 0) return absl::OkStatus();
  return Show({*std::move(ranks), models::GptPartNames(config)}, file);
}

}  // namespace muster
