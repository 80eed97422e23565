// The pieces of code in docs/SDK.md, so that a test compiles them. Each piece
// is the body of a function, whose parameters are the variables that the piece
// uses.

#include <algorithm>
#include <iostream>

#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/data/distributed_sampler.h"
#include "trainer_sdk/data_parallel/data_parallel.h"
#include "trainer_sdk/ddp/broadcast_parameters.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/nccl/unique_id.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"
#include "trainer_sdk/pipeline/schedule/schedule_svg.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/device_mesh.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/safetensors/safetensors_file.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/new_transport.h"
#include "trainer_sdk/transports/session_world.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

using namespace muster;

struct Model {
  std::vector<float> weight, gradient;
};

int Join() {
  absl::StatusOr<std::unique_ptr<muster::Session>> joined =
      muster::Session::FromEnvironment();
  if (!joined.ok()) {
    std::cerr << joined.status() << "\n";
    return 1;
  }
  muster::Session& session = **joined;
  session.rank();        // this rank, 0 to session.world_size() - 1
  session.local_rank();  // the rank on this node, 0 to local_world_size() - 1
  session.group_rank();  // the node, 0 to session.group_world_size() - 1
  session.store();       // the store of this world and this round
  session.progress();    // sends progress to the agent
  return 0;
}

void Tell(Session& session, int64_t step, double loss) {
  session.progress().Send({.step = step, .loss = loss});
  session.progress().Send({.watchdog = std::chrono::seconds(30)});
  session.progress().Alive();  // call it in a long phase without steps
}

absl::Status Groups(Session& session, std::vector<float>& gradient, void* data,
                    int64_t count, DType dtype) {
  auto world = muster::NewWorld(session);
  if (!world.ok()) return world.status();

  absl::Status status = (*world)->Run(muster::AllReduce(gradient));

  std::shared_ptr<muster::Work> work =
      (*world)->Start(muster::Broadcast(data, data, count, dtype, /*root=*/0));
  // Code that does not need the result runs here.
  status.Update(work->Wait());
  return status;
}

absl::Status Half(Session& session, int rank) {
  auto half = muster::NewProcessGroup(
      {rank % 2, 2, session.store(), rank < 2 ? "front" : "back"},
      muster::TransportChoice::kAutomatic);
  return half.status();
}

absl::Status Mesh(ProcessGroup& world, const float* in, float* out,
                  int64_t count) {
  auto mesh = muster::DeviceMesh::Create(world, {{"dp", 2}, {"pp", 4}});
  if (!mesh.ok()) return mesh.status();
  const int stage = (*mesh)->coordinate("pp");
  absl::Status status = (*mesh)->group("dp").Run(
      muster::AllReduce(in, out, count, muster::DType::kFloat32));
  std::cout << stage << "\n";
  return status;
}

absl::Status OverNccl(int rank, int size, const std::shared_ptr<Store>& store,
                      Instant deadline) {
  muster::NcclOptions options;
  options.unique_id = muster::TakeWorldNcclId();  // for the world's group only
  auto transport =
      muster::NewNcclTransport({rank, size, store, "world"}, options, deadline);
  return transport.status();
}

absl::Status Train(ProcessGroup& world, CheckpointWriter& writer,
                   int64_t step) {
  std::vector<float> weight(6000), weight_gradient(6000);
  std::vector<float> bias(60), bias_gradient(60);
  auto model =
      DataParallel::Create(world,
                           {{"weight", {60, 100}, weight, weight_gradient},
                            {"bias", {60}, bias, bias_gradient}},
                           AdamWRule({.weight_decay = 0.1}));
  if (!model.ok()) return model.status();

  // Begin, Finish and Step are called in each step.
  absl::Status status = (*model)->Begin();
  // The backward pass runs here. Optional: mark each gradient once complete.
  status.Update((*model)->MarkReady(1));
  status.Update((*model)->Finish());
  status.Update((*model)->Step({.step = step, .learning_rate = 1e-3}));

  // For a checkpoint: save the values and the optimizer's state.
  status.Update(writer.Save(step, (*model)->State(), ""));
  return status;
}

absl::Status OnADevice(ProcessGroup& world, Device& device,
                       const std::vector<Tensor>& tensors, int64_t step) {
  auto model =
      DataParallel::Create(world, tensors, AdamWRule({.weight_decay = 0.1}),
                           {.ddp = {.device = &device,
                                    .place = GradientPlace::kInPlace,
                                    .order = BucketOrder::kReverse},
                            .state = DataParallelOptions::State::kSharded});
  if (!model.ok()) return model.status();

  // In each step, the passes are enqueued on the stream kCompute.
  absl::Status status = (*model)->Begin();
  // Enqueue the backward pass here; mark each gradient once it is enqueued.
  status.Update((*model)->MarkReady(0));
  status.Update((*model)->Finish());
  status.Update((*model)->Step({.step = step, .learning_rate = 1e-3}));
  // Confirm must succeed before weights or losses are copied from the device.
  status.Update((*model)->reducer().Confirm());
  return status;
}

absl::Status Gradients(ProcessGroup& world, Model& model) {
  const std::vector<Tensor> tensors = {
      {"weight", {60, 100}, model.weight, model.gradient}};
  // All ranks begin with rank 0's weights.
  absl::Status status = BroadcastParameters(world, tensors);
  if (!status.ok()) return status;

  DdpOptions options;
  options.hook = std::make_shared<PowerSgdHook>(PowerSgdOptions{.rank = 4});
  auto reducer = Reducer::Create(world, tensors, options);
  if (!reducer.ok()) return reducer.status();

  // Three passes add to the same gradients; only the last one communicates.
  for (int pass = 0; pass < 3; ++pass) {
    status.Update((*reducer)->Begin(pass < 2 ? GradientSync::kAccumulate
                                             : GradientSync::kReduce));
    // The backward pass runs here; mark each gradient once it is complete.
    status.Update((*reducer)->MarkReady(0));
    status.Update((*reducer)->Finish());
  }
  return status;
}

absl::Status Optimize(ProcessGroup& group, Reducer& reducer,
                      const std::vector<Tensor>& tensors, int64_t step) {
  const auto rule = AdamWRule({.weight_decay = 0.1});
  ReplicatedOptimizer optimizer(
      rule, tensors, [&](int tensor) { return reducer.average(tensor); });

  // Alternative: ZeRO-1, with a Reducer created with ForSharding(options).
  auto sharded = ShardedOptimizer::Create(group, reducer, rule, tensors);
  if (!sharded.ok()) return sharded.status();

  // A training uses one of the two optimizers, and calls it in each step after
  // reducer.Finish().
  const LearningRateSchedule rate{
      .peak = 6e-4, .floor = 6e-5, .warmup = 100, .decay_until = 10'000};
  const auto squares = (*sharded)->SumOfSquares();
  if (!squares.ok()) return squares.status();
  return (*sharded)->Step({.step = step + 1,
                           .learning_rate = rate.At(step),
                           .gradient_factor = ClipCoefficient(*squares, 1.0)});
}

absl::Status Scaled(Optimizer& optimizer, LossScaler& scaler, int64_t updates,
                    double rate) {
  // The loss was multiplied with scaler.scale() before the backward pass.
  const auto squares = optimizer.SumOfSquares();
  if (!squares.ok()) return squares.status();
  const StepPlan plan = PlanStep(*squares, /*most=*/1.0, &scaler);
  if (plan.verdict == LossScaler::Verdict::kSkip) return absl::OkStatus();
  return optimizer.Step({.step = updates + 1,
                         .learning_rate = rate,
                         .gradient_factor = plan.gradient_factor});
}

absl::Status Pictures() {
  auto schedule =
      MakeSchedule(ScheduleKind::kZeroBubble1P,
                   {.ranks = 4, .stages_per_rank = 1, .micro_batches = 8});
  if (!schedule.ok()) return schedule.status();
  std::cout << WriteScheduleCsv(*schedule);  // prints 0F0,0F1,0F2,0F3,0I0,...
  const auto timeline = Simulate(*schedule, {});
  if (!timeline.ok()) return timeline.status();
  std::cout << timeline->BubbleOverIdeal();  // prints 3 / (3 * 8)
  std::cout << DrawSchedule(*timeline, "zb1p, 4 ranks, 8 micro-batches");
  return absl::OkStatus();
}

absl::Status Pipeline(ProcessGroup& world, const PipelineSchedule& schedule,
                      PipelineStage& stage) {
  // World ranks 0 and 1 are the first stages of two pipelines.
  const auto mesh = DeviceMesh::Create(world, {{"pp", 4}, {"dp", 2}});
  if (!mesh.ok()) return mesh.status();
  auto pipeline =
      PipelineRuntime::Create((*mesh)->group("pp"), schedule, {&stage});
  if (!pipeline.ok()) return pipeline.status();
  const absl::StatusOr<double> loss = (*pipeline)->Step();
  return loss.status();
}

std::unique_ptr<PipelineStage> NewStage() {
  // The first half of a model: its input is 16 rows of 8 numbers, its output 16
  // of 32. The values that a micro-batch's backward pass needs are kept under
  // `pass.activation_slot`.
  class FirstStage : public PipelineStage {
   public:
    StreamShape InputShape() const override { return {}; }  // has no input
    StreamShape OutputShape() const override {
      return {DType::kFloat32, {16, 32}};
    }
    void ReserveActivationSlots(int slots) override { kept_.resize(slots); }
    absl::Status Forward(const PipelinePass& pass, const void* /*input*/,
                         void* output) override {
      // The stage itself reads the examples of micro-batch
      // `pass.micro_batch`.
      float* const out = static_cast<float*>(output);
      std::fill(out, out + 16 * 32, 0.5f);
      kept_[pass.activation_slot].assign(out, out + 16 * 32);
      return absl::OkStatus();
    }
    // Called only on the last stage, right after its Forward. Multiply the
    // gradient of the loss by `factor`, but not the loss itself.
    absl::StatusOr<double> Loss(const PipelinePass&, double) override {
      return absl::InternalError("not the last stage");
    }
    absl::Status Backward(const PipelinePass& pass, const void* output_gradient,
                          void* input_gradient) override {
      absl::Status status =
          BackwardInput(pass, output_gradient, input_gradient);
      status.Update(BackwardWeight(pass));
      return status;
    }
    // Some schedules (zb1p) split the backward pass and call its two parts. The
    // first one writes `input_gradient` (null here: this stage has no input).
    // The later one adds to the gradients of the weights.
    absl::Status BackwardInput(const PipelinePass&, const void*,
                               void*) override {
      return absl::OkStatus();
    }
    absl::Status BackwardWeight(const PipelinePass&) override {
      return absl::OkStatus();
    }

   private:
    std::vector<std::vector<float>> kept_;  // indexed by pass.activation_slot
  };
  return std::make_unique<FirstStage>();
}

absl::Status Checkpoints(ProcessGroup& world, Model& model,
                         Optimizer& optimizer) {
  std::vector<CheckpointSlice> slices = optimizer.State();
  slices.push_back(WholeTensor({"weight", {60, 100}, model.weight}));

  // At the beginning: reads the newest checkpoint, if there is one.
  int64_t step = 0;
  const auto newest = OpenNewestTogether(world, "checkpoints");
  absl::Status status = newest.status();
  if (newest.ok()) {
    status = ReadTogether(world, **newest, slices);
    status.Update(optimizer.OnStateLoaded());
    step = (*newest)->step();  // state() returns the string given to Save.
  } else if (absl::IsNotFound(status)) {
    status = absl::OkStatus();  // There is no checkpoint yet.
  }
  if (!status.ok()) return status;

  // Create the writer once, with a group that only the writer's thread uses.
  const auto group = world.Split(0, world.rank(), "checkpoints");
  if (!group.ok()) return group.status();
  const auto writer = CheckpointWriter::Create(
      **group, {.directory = "checkpoints", .keep = 2});
  if (!writer.ok()) return writer.status();

  // After some steps: Save returns once this rank's share has been copied.
  step += 100;
  status = (*writer)->Save(step, slices, "anything, such as the loss scale");
  // At the end of the training, wait for the last save. Wait returns OK once it
  // is complete.
  status.Update((*writer)->Wait());
  return status;
}

absl::Status HookState(ProcessGroup& world, CommHook& hook,
                       const CheckpointReader& reader,
                       const std::vector<CheckpointSlice>& weights) {
  // After the reducer's creation: the hook's state to save.
  std::vector<CheckpointSlice> saved = hook.State();
  saved.insert(saved.end(), weights.begin(), weights.end());

  // The tensors into which a checkpoint is read, on any number of ranks.
  std::vector<CheckpointSlice> read = weights;
  const auto state = hook.StateIn(reader.tensors());
  if (state.ok()) read.insert(read.end(), state->begin(), state->end());
  // NotFound: the checkpoint has no state of this hook, so the hook starts from
  // its initial state.
  if (!state.ok() && !absl::IsNotFound(state.status())) return state.status();
  absl::Status status = ReadTogether(world, reader, read);
  if (status.ok()) hook.OnStateLoaded();
  return status;
}

absl::Status Safetensors(const std::vector<float>& table) {
  absl::Status status = WriteSafetensorsFile("model.safetensors",
                                             {{.name = "wte.weight",
                                               .type = SafetensorsType::kF32,
                                               .shape = {50257, 768},
                                               .data = table.data()}},
                                             {{"format", "pt"}});
  if (!status.ok()) return status;
  const auto file = SafetensorsFile::Open("model.safetensors");
  if (!file.ok()) return file.status();
  const SafetensorsTensor* const tensor = (*file)->header().Find("wte.weight");
  std::vector<float> again(tensor == nullptr ? 0 : 50257 * 768);
  return again.empty() ? status : (*file)->Read(*tensor, again.data());
}
