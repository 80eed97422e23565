#include "trainer_sdk/examples/gpt/gpt_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "trainer_sdk/data/random_windows.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// Validation draws other windows than training with the same seed.
constexpr uint64_t kValidationSeed = 0x76616c6964617465;

}  // namespace

GptTrainer::GptTrainer(const GptTrainingOptions& options,
                       std::vector<int32_t> tokens, ProcessGroup& world)
    : options_(options),
      tokens_(std::move(tokens)),
      held_back_(static_cast<int64_t>(tokens_.size()) * 9 / 10),
      world_(world),
      weights_(options.model, {0, options.model.layers}),
      model_(weights_, options.batch, options.model.context),
      mean_(static_cast<size_t>(weights_.count())),
      square_(static_cast<size_t>(weights_.count())) {}

absl::StatusOr<std::unique_ptr<GptTrainer>> GptTrainer::Create(
    const GptTrainingOptions& options, std::vector<int32_t> tokens,
    ProcessGroup& world) {
  if (absl::Status wrong = options.model.Check(); !wrong.ok()) return wrong;
  const auto length = static_cast<int64_t>(tokens.size());
  // Windows have a target behind their last token.
  if (length - length * 9 / 10 < options.model.context + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a text of ", length, " tokens: its last tenth, for validation, has ",
        "no window of ", options.model.context));
  }
  if (options.micro_batches % world.size() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.micro_batches, " micro-batches a step cannot be dealt out to ",
        world.size(), " ranks alike"));
  }
  std::unique_ptr<GptTrainer> trainer(
      new GptTrainer(options, std::move(tokens), world));
  if (absl::Status status = trainer->Prepare(); !status.ok()) return status;
  return trainer;
}

absl::Status GptTrainer::Prepare() {
  weights_.Initialize(options_.seed);
  // The reducer has a group of its own, so that what the world does between
  // its buckets is in nobody's way.
  auto group = world_.Split(0, world_.rank(), "gradients");
  if (!group.ok()) return group.status();
  gradients_group_ = *std::move(group);
  std::vector<DdpParameter> parameters;
  for (const GptTensor& tensor : weights_.tensors()) {
    parameters.push_back(
        {.name = tensor.name,
         .count = tensor.count(),
         .rows = tensor.shape.size() > 1 ? tensor.shape[0] : 1});
  }
  DdpOptions options;
  options.place = GradientPlace::kBucket;
  auto reducer =
      Reducer::Create(*gradients_group_, std::move(parameters), options);
  if (!reducer.ok()) return reducer.status();
  reducer_ = *std::move(reducer);
  PlaceGradients();
  return absl::OkStatus();
}

void GptTrainer::PlaceGradients() {
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    weights_.PlaceGradient(i, static_cast<float*>(reducer_->gradient(i)));
  }
}

GptMicroBatch GptTrainer::Batch(uint64_t seed, int64_t step, int64_t batch,
                                int64_t begin, int64_t end) const {
  const int64_t context = options_.model.context;
  GptMicroBatch micro_batch;
  for (const int64_t at : DrawWindows({seed, step, batch}, options_.batch,
                                      end - begin - context)) {
    const auto first = tokens_.begin() + begin + at;
    micro_batch.tokens.insert(micro_batch.tokens.end(), first, first + context);
    micro_batch.targets.insert(micro_batch.targets.end(), first + 1,
                               first + 1 + context);
  }
  return micro_batch;
}

absl::StatusOr<double> GptTrainer::Pass(GptMicroBatch micro_batch,
                                        GradientSync sync) {
  absl::Status status = reducer_->Begin(sync);
  if (!status.ok()) return status;
  std::vector<float> stream;
  model_.Forward(&micro_batch, &stream);
  const double loss =
      model_.Loss(&micro_batch, stream,
                  // The reducer averages over the ranks.
                  static_cast<float>(world_.size()) /
                      static_cast<float>(options_.micro_batches));
  model_.Backward(&micro_batch, &stream, [&](int tensor) {
    if (status.ok()) status = reducer_->MarkReady(tensor);
  });
  if (status.ok()) status = reducer_->Finish();
  if (!status.ok()) return status;
  return loss;
}

absl::StatusOr<GptStep> GptTrainer::Step(int64_t step) {
  weights_.ZeroGradients();
  const int64_t mine = options_.micro_batches / world_.size();
  double loss = 0;
  for (int64_t i = 0; i < mine; ++i) {
    const absl::StatusOr<double> part = Pass(
        Batch(options_.seed, step, world_.rank() * mine + i, 0, held_back_),
        i + 1 < mine ? GradientSync::kAccumulate : GradientSync::kReduce);
    if (!part.ok()) return part.status();
    loss += *part / static_cast<double>(mine);
  }
  // The first pass may have moved them.
  PlaceGradients();
  GptStep done;
  done.gradient_norm = ClipGradients();
  done.learning_rate = options_.learning_rate.At(step);
  Update(step, done.learning_rate);
  const absl::StatusOr<double> mean = MeanOverRanks(loss);
  if (!mean.ok()) return mean.status();
  done.loss = *mean;
  return done;
}

double GptTrainer::ClipGradients() {
  double squares = 0;
  for (size_t i = 0; i < weights_.tensors().size(); ++i) {
    squares += SumOfSquares(weights_.gradient(static_cast<int>(i)),
                            weights_.tensors()[i].count());
  }
  const double factor =
      options_.clip > 0 ? ClipCoefficient(squares, options_.clip) : 1;
  for (size_t i = 0; factor != 1 && i < weights_.tensors().size(); ++i) {
    Scale(weights_.gradient(static_cast<int>(i)), weights_.tensors()[i].count(),
          factor);
  }
  return std::sqrt(squares);
}

void GptTrainer::Update(int64_t step, double learning_rate) {
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    const GptTensor& tensor = weights_.tensors()[i];
    AdamWOptions options = options_.adamw;
    // Scales and biases are not pulled towards zero.
    if (tensor.shape.size() == 1) options.weight_decay = 0;
    const int64_t offset = weights_.value(i) - weights_.data();
    AdamWStep(options, learning_rate, step + 1, tensor.count(),
              weights_.value(i), weights_.gradient(i), mean_.data() + offset,
              square_.data() + offset);
  }
}

absl::StatusOr<double> GptTrainer::MeanOverRanks(double value) {
  const absl::Status status =
      world_.Run(AllReduce(&value, &value, 1, DType::kFloat64, ReduceOp::kAvg));
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<double> GptTrainer::Validate() {
  double loss = 0;
  int64_t mine = 0;
  for (int64_t i = world_.rank(); i < options_.validation_batches;
       i += world_.size()) {
    GptMicroBatch batch =
        Batch(options_.seed ^ kValidationSeed, 0, i, held_back_,
              static_cast<int64_t>(tokens_.size()));
    std::vector<float> stream;
    model_.Forward(&batch, &stream);
    loss += model_.LossOnly(&batch, stream);
    ++mine;
  }
  const absl::StatusOr<double> sum = MeanOverRanks(loss);
  if (!sum.ok()) return sum.status();
  return *sum * world_.size() /
         static_cast<double>(options_.validation_batches);
}

std::vector<int32_t> GptTrainer::Sample(std::vector<int32_t> tokens,
                                        int64_t count) {
  const int64_t context = options_.model.context;
  const int64_t classes = options_.model.vocabulary;
  std::mt19937_64 engine(options_.seed);
  for (int64_t n = 0; n < count; ++n) {
    const auto length =
        std::min<int64_t>(context, static_cast<int64_t>(tokens.size()));
    GptMicroBatch batch;
    batch.tokens.assign(tokens.end() - length, tokens.end());
    batch.targets.assign(static_cast<size_t>(length), 0);
    const GptStage model(weights_, 1, length);
    std::vector<float> stream;
    model.Forward(&batch, &stream);
    model.LossOnly(&batch, stream);
    const float* const logits = batch.logits.data() + (length - 1) * classes;
    const float most = *std::max_element(logits, logits + classes);
    std::vector<double> chances;
    for (int64_t i = 0; i < classes; ++i) {
      chances.push_back(std::exp(static_cast<double>(logits[i] - most)));
    }
    std::discrete_distribution<int32_t> draw(chances.begin(), chances.end());
    tokens.push_back(draw(engine));
  }
  return tokens;
}

uint64_t GptTrainer::WeightsHash() const {
  FnvHash hash;
  for (int64_t i = 0; i < weights_.count(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, weights_.data() + i, sizeof(bits));
    hash.AddWord(bits);
  }
  return hash.value();
}

}  // namespace muster
