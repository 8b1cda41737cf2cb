#include <string>
#include "bell.hpp"

BELL_NAMESPACE_BEGIN

namespace tower::high {

class BELL_API Bell;

template <typename T, typename Traits = std::char_traits<T>, typename Allocator = std::allocator<T>, std::size_t Capacity = 128, bool IsBig = (Capacity > 4096), typename Enable = void>
class Rope final : public Base<T>, private Tools {
public:
    Rope() = default;
    explicit Rope(int length, const std::string &name = "rope");
    ~Rope() override;
    Rope &operator=(const Rope &) = delete;
    T operator[](std::size_t at) const { return items[at]; }
    operator bool() const noexcept;
    template <class U> U pull(U &&weight);
    static int count;
    virtual void ring() = 0;
    using value_type = T;
    enum class Knot : int { Loose, Tight = 3 };
    struct Strand { int a, b = 2, *c; };
    friend class Bell;
private:
    T *items, last;
    int length_ = 0;
    void (*callback_)(int) = nullptr;
    static constexpr int kMax = 4;
};

class Window : public QObject {
    Q_OBJECT
    Q_PROPERTY(int size READ size WRITE setSize)
public:
    Window();
    int size() const;
public slots:
    void setSize(int size);
signals:
    void sizeChanged(int size);
};

template <typename T>
concept Ringing = requires(T t) { t.ring(); };

int counter = 0, limit{3};
inline constexpr double pitch = 440.0;
auto loud = [](int a) { int inner = a; return inner; };

} // namespace tower::high

/// Rings it.
template <typename T>
void Rope<T>::ring(int times)
{
    int local = times;
}

tower::high::Window::Window() : QObject(nullptr) {}
Window::~Window() {}
int Window::size() const { return 1; }
bool Window::operator==(const Window &other) const { return true; }
std::string &Window::name() const { static std::string name; return name; }
Window::operator bool() const { return true; }
int Window::count = 3;

bool operator<(const Window &a, const Window &b) { return false; }
BELL_EXPORT void swing(Window *window);
extern "C" int bell_main(int argc, char **argv) { return 0; }
typedef std::pair<int, int> Span;
namespace { int hidden() { return 1; } }

BELL_NAMESPACE_END
class After { void still_read(); };
