// A file that shows every construct the outline knows beyond those of C.
#pragma once
#include <vector>
#include "shape/base.hpp"

#define API_EXPORT __attribute__((visibility("default")))
#define CHECK(x) do { if (!(x)) fail(#x); } while (0)

using namespace std;
using std::string;
using Callback = std::function<void(int)>;

extern "C" {
int c_api(const char *text);
}
extern "C" void c_single(void);

namespace geometry {

class Forward;
enum class Color : unsigned char { Red, Green = 3 };
enum Plain { ALPHA, BETA };

inline namespace v2::detail {
constexpr int kLimit = 64;
inline constexpr std::size_t kSizes[] = {1, 2};
static thread_local Registry *current = nullptr;

template <typename T>
using Ptr = std::unique_ptr<T>;
}  // namespace v2::detail

template <typename T, std::size_t N = 4>
  requires Sortable<T>
class [[nodiscard]] Größe final : public Base<T>, private Mixin {
 public:
  using value_type = T;
  typedef T *pointer;
  static constexpr int kCount = 3;
  enum Kind { kSmall, kLarge };

  Größe() = default;
  explicit Größe(T width, int height = 2) noexcept
      : width_(width), height_(height) {
    init();
  }
  Größe(const Größe &) = delete;
  virtual ~Größe();

  [[nodiscard]] virtual double area() const = 0;
  void grow(T by) override { width_ += by; }
  const T &width() const { return width_; }
  T *data() noexcept;
  auto begin() -> Iterator<T>;
  Größe &operator=(const Größe &other);
  bool operator==(const Größe &other) const { return true; }
  operator bool() const { return true; }
  template <typename U>
  static std::vector<U> convert(const std::map<std::string, U> &from);
  friend std::ostream &operator<<(std::ostream &out, const Größe &shape);
  friend class Builder;

  struct Options {
    int depth = 3;
    std::string name{"x"};
  };

 protected:
  int (*hook_)(int) = nullptr;

 private:
  T width_, height_;
  std::atomic<int> count_{0};
  mutable std::vector<T> cache_;
  Options *options_[4];
};

struct Point {
  double x, y;
  Point operator+(const Point &other) const;
};

template <>
struct hash<Point> {
  size_t operator()(const Point &point) const noexcept;
};

union Value {
  int number;
  double real;
};

template <typename T>
concept Sortable = requires(T a) { a < a; };

template <typename T>
T largest(const std::vector<T> &items) {
  auto compare = [](int a, int b) { return a < b; };
  Registry local;
  return std::accumulate_all(items, Options::kDefault, local, Helper<T>{});
}

double area_of(const Point &point, double scale = 1.0);

}  // namespace geometry

namespace {
int hidden() { return 1; }
}

template <typename T, std::size_t N>
double geometry::Größe<T, N>::area() const {
  return shape_area(width_);
}

geometry::Store::Store(int size) : size_(size), items_(make_items(size)) {}
geometry::Store::~Store() { release(); }
Point Point::operator+(const Point &other) const { return add(*this, other); }
const std::string &Store::name() const { return name_; }
int *Store::items() { return items_; }
int Store::counter_ = 0;
std::string Point::label = "x";

int main(int argc, char **argv) {
  return geometry::run(argc);
}

TEST(PointTest, Adds) { EXPECT_EQ(1, 1); }
TEST_F(PointFixture, Subtracts) {}
