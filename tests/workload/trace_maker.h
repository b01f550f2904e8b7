// Makes trace files byte by byte, apart from the code under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "workload/chakra/trace_loader.h"

namespace astra::test {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    while (value >= 0x80U) {
        bytes += static_cast<char>(static_cast<std::uint8_t>(value | 0x80U));
        value >>= 7U;
    }
    return bytes + static_cast<char>(value);
}

inline std::string number_field(std::uint32_t field, std::uint64_t value) {
    return varint(std::uint64_t{field} << 3U) + varint(value);
}

inline std::string text_field(std::uint32_t field, std::string_view text) {
    return varint(std::uint64_t{field} << 3U | 2U) + varint(text.size()) + std::string(text);
}

template <typename T>
std::string fixed_field(std::uint32_t field, T value) {
    std::string bytes = varint(std::uint64_t{field} << 3U | (sizeof(T) == 8 ? 1U : 5U));
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    return bytes.append(raw, sizeof(T));
}

// An attribute with the value that `value` encodes.
inline std::string attribute(std::string_view name, const std::string& value) {
    return text_field(10, text_field(1, name) + value);
}
inline std::string int64_attribute(std::string_view name, std::int64_t value) {
    return attribute(name, number_field(9, static_cast<std::uint64_t>(value)));
}
inline std::string text_attribute(std::string_view name, std::string_view value) {
    return attribute(name, text_field(29, value));
}
inline std::string flags_attribute(std::string_view name, std::initializer_list<bool> flags) {
    std::string packed;
    for (const bool flag : flags) {
        packed += flag ? '\1' : '\0';
    }
    return attribute(name, text_field(28, packed.empty() ? "" : text_field(1, packed)));
}

enum NodeType : std::uint8_t { Invalid, Metadata, Load, Store, Comp, Send, Recv, Coll };

inline std::string node(std::uint64_t id,
                        std::string_view name,
                        NodeType type,
                        const std::vector<std::uint64_t>& parents = {},
                        const std::string& rest = "") {
    std::string packed;
    for (const std::uint64_t parent : parents) {
        packed += varint(parent);
    }
    std::string message = id == 0 ? "" : number_field(1, id);
    message += text_field(2, name) + number_field(3, type);
    message += packed.empty() ? "" : text_field(5, packed);
    message += rest;
    return varint(message.size()) + message;
}

inline std::string metadata(std::string_view version) {
    const std::string message = text_field(1, version);
    return varint(message.size()) + message;
}

inline std::string all_reduce(std::uint64_t id, const std::string& rest = "") {
    return node(id,
                "ar",
                Coll,
                {},
                int64_attribute("comm_type", 0) + int64_attribute("comm_size", 1048576) + rest);
}

// A folder that is gone afterwards.
class Folder {
  public:
    Folder() {
        const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
        std::string name = std::string("astra_") + test->test_suite_name() + "_" + test->name();
        for (char& c : name) {
            c = c == '/' ? '_' : c;
        }
        path_ = std::filesystem::path(testing::TempDir()) / name;
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string write(const std::string& name, std::string_view bytes) const {
        std::ofstream out(file(name), std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return file(name);
    }
    std::string read(const std::string& name) const {
        std::ifstream in(file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    std::filesystem::path path_;
};

inline Workload load(const Folder& folder,
                     std::uint32_t ranks,
                     Warnings& warnings,
                     const std::string& group_file = "",
                     std::uint64_t element_bytes = 1) {
    return load_traces({folder.file("t"), group_file, ranks, element_bytes}, warnings);
}

// Loads `bytes` as the trace of rank 0 of `ranks`; the other ranks are empty.
inline Workload load_bytes(std::string_view bytes,
                           Warnings& warnings,
                           std::uint32_t ranks = 1,
                           std::uint64_t element_bytes = 1) {
    const Folder folder;
    folder.write("t.0.et", bytes);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
        folder.write("t." + std::to_string(rank) + ".et", metadata("0.0.4"));
    }
    return load(folder, ranks, warnings, "", element_bytes);
}

// What the loader complains of, "" if of nothing.
inline std::string complaint(std::string_view bytes,
                             std::uint32_t ranks = 1,
                             std::uint64_t element_bytes = 1) {
    Warnings warnings;
    try {
        load_bytes(bytes, warnings, ranks, element_bytes);
    } catch (const TraceError& error) {
        return error.what();
    }
    return "";
}

}  // namespace astra::test
