// Gives equal names one number. Meant for a million names: an open hash table of numbers beside the
// names themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

class NamePool {
  public:
    std::uint32_t intern(std::string_view name) {
        if (names_.size() * 2 >= table_.size()) {
            grow();
        }
        std::uint32_t& number = find(name);
        if (number == kFree) {
            number = static_cast<std::uint32_t>(names_.size());
            names_.emplace_back(name);
        }
        return number;
    }
    std::vector<std::string> take() {
        table_ = {};
        return std::move(names_);
    }

  private:
    static constexpr std::uint32_t kFree = 0xffffffffU;

    std::uint32_t& find(std::string_view name) {
        std::size_t i = std::hash<std::string_view>{}(name) & (table_.size() - 1);
        while (table_[i] != kFree && names_[table_[i]] != name) {
            i = (i + 1) & (table_.size() - 1);
        }
        return table_[i];
    }
    void grow() {
        const std::size_t size = table_.empty() ? 64 : table_.size() * 2;
        table_ = {};  // frees the old table before the new one is made
        table_.assign(size, kFree);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            find(names_[i]) = static_cast<std::uint32_t>(i);
        }
    }

    std::vector<std::string> names_;
    std::vector<std::uint32_t> table_;
};

}  // namespace astra
