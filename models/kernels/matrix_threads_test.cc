#include "models/kernels/matrix_threads.h"

#include <cblas.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/matrix_product.h"

namespace muster::models {
namespace {

TEST(MatrixThreadsCountTest, FitTheCoresThatAreTheProcess) {
  struct Case {
    const char* what;
    MatrixThreadFacts facts;
    int expected;
  };
  const Case cases[] = {
      {"nothing is known", {}, 1},
      {"alone on a machine", {.allotted_cores = 16, .machine_cores = 16}, 16},
      {"four ranks share a machine",
       {.allotted_cores = 16, .machine_cores = 16, .processes = 4},
       4},
      {"a share that is no whole number",
       {.allotted_cores = 16, .machine_cores = 16, .processes = 5},
       3},
      {"more ranks than cores",
       {.allotted_cores = 2, .machine_cores = 2, .processes = 4},
       1},
      {"bound to cores of its own",
       {.allotted_cores = 4, .machine_cores = 16, .processes = 4},
       4},
      {"launch has assigned the cores",
       {.omp = 3, .allotted_cores = 16, .machine_cores = 16, .processes = 4},
       3},
      {"OpenMP's number is of a larger machine",
       {.omp = 64, .allotted_cores = 16, .machine_cores = 16},
       16},
      {"what was set for this library is meant",
       {.openblas = 5, .omp = 3, .allotted_cores = 2, .machine_cores = 2},
       5},
      {"a container's share of a large machine",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 8},
       8},
      {"two ranks in such a container",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 8, .processes = 2},
       4},
      {"less than a core for each",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 1, .processes = 2},
       1},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ChooseMatrixThreads(c.facts), c.expected) << c.what;
  }
}

TEST(MatrixThreadsCountTest, FactsAreThisMachines) {
  const MatrixThreadFacts facts = ReadMatrixThreadFacts(3);
  EXPECT_GE(facts.allotted_cores, 1);
  EXPECT_GE(facts.machine_cores, facts.allotted_cores);
  EXPECT_EQ(facts.processes, 3);
}

template <typename T>
class MatrixThreadsTest : public testing::Test {
 protected:
  struct Shape {
    int64_t rows, columns, inner;
  };

  static std::vector<T> Some(int64_t count, int seed) {
    const std::vector<double> numbers = Numbers(count, seed);
    return {numbers.begin(), numbers.end()};
  }

  // Returns a b + beta c, computed on `threads` threads.
  std::vector<T> Product(Form a_form, Form b_form, T beta, const Shape& shape,
                         int threads) const {
    const auto view = [](Form form, const std::vector<T>& of, int64_t rows,
                         int64_t columns) {
      return form == Form::kPlain
                 ? MatrixView<const T>::Dense(of.data(), rows, columns)
                 : MatrixView<const T>::Dense(of.data(), columns, rows);
    };
    std::vector<T> c = c_;
    UseMatrixThreads(threads);
    MatrixProduct(a_form, view(a_form, a_, shape.rows, shape.inner), b_form,
                  view(b_form, b_, shape.inner, shape.columns), T{1}, beta,
                  MatrixView<T>::Dense(c.data(), shape.rows, shape.columns));
    return c;
  }

 private:
  static constexpr int64_t kMax = 400'000;
  const std::vector<T> a_ = Some(kMax, 1);
  const std::vector<T> b_ = Some(kMax, 2);
  const std::vector<T> c_ = Some(kMax, 3);
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixThreadsTest, Types);

// Products must be bit-identical on any number of threads. The shapes are tall,
// wide and deep; some sizes are not multiples of the kernels' tile sizes. The
// last product is so small that OpenBLAS would multiply a part of it with
// another kernel, which rounds differently.
TYPED_TEST(MatrixThreadsTest, ChangeNoBit) {
  using Shape = typename TestFixture::Shape;
  for (const Shape& shape :
       {Shape{601, 129, 520}, Shape{256, 777, 300}, Shape{389, 96, 1001},
        Shape{768, 128, 128}, Shape{224, 7, 704}}) {
    // Each case: the forms of the two factors (plain or transposed) in one of
    // the products that a linear layer computes, and beta.
    for (const auto& [a_form, b_form, beta] :
         {std::tuple(Form::kPlain, Form::kPlain, TypeParam{0}),
          std::tuple(Form::kPlain, Form::kTransposed, TypeParam{0}),
          std::tuple(Form::kTransposed, Form::kPlain, TypeParam{1})}) {
      const std::vector<TypeParam> alone =
          this->Product(a_form, b_form, beta, shape, 1);
      for (const int threads : {2, 3, 4}) {
        // EXPECT_TRUE instead of EXPECT_EQ, which would print pages of
        // elements.
        EXPECT_TRUE(this->Product(a_form, b_form, beta, shape, threads) ==
                    alone)
            << shape.rows << " x " << shape.inner << " x " << shape.columns
            << " on " << threads << " threads";
      }
    }
  }
}

// OpenBLAS must use one thread, because its rounding depends on the number of
// its threads.
TEST(MatrixThreadsCountTest, OpenBlasIsLeftWithOneThread) {
  UseMatrixThreads(3);
  EXPECT_EQ(MatrixThreads(), 3);
  EXPECT_EQ(openblas_get_num_threads(), 1);
  UseMatrixThreads(0);
  EXPECT_EQ(MatrixThreads(), 1);
}

}  // namespace
}  // namespace muster::models
