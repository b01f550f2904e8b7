// What an event does: a member function of a live object and one word of argument.
#pragma once

#include <cstdint>
#include <type_traits>

namespace astra {

// Trivially copyable, 24 bytes, never allocates. The target must outlive the event.
class Callback {
  public:
    // Method is `void T::method(std::uint64_t)`.
    template <auto Method, class T>
    static Callback to(T& target, std::uint64_t argument = 0) {
        return Callback{
            [](void* object, std::uint64_t value) { (static_cast<T*>(object)->*Method)(value); },
            &target,
            argument};
    }

    Callback() = default;
    void operator()() const { function_(target_, argument_); }
    explicit operator bool() const { return function_ != nullptr; }

  private:
    using Function = void (*)(void*, std::uint64_t);
    Callback(Function function, void* target, std::uint64_t argument)
        : function_(function), target_(target), argument_(argument) {}

    Function function_ = nullptr;
    void* target_ = nullptr;
    std::uint64_t argument_ = 0;
};
static_assert(sizeof(Callback) == 24 && std::is_trivially_copyable_v<Callback>);

}  // namespace astra
