// Flow sets as text.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace astra::test {

// A ring all-reduce of `bytes` a rank as 2(n-1) steps of n flows: in step s rank r sends bytes/n to
// rank r+1, as soon as it has received what rank r-1 sent it in step s-1.
inline std::string ring_flows(std::uint32_t ranks, std::uint64_t bytes) {
    std::string text = fmt::format("# {} ranks\n", ranks);
    for (std::uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const std::uint32_t before = (rank + ranks - 1) % ranks;
            text += fmt::format("{} {} {} {} {}\n",
                                step * ranks + rank + 1,
                                rank,
                                (rank + 1) % ranks,
                                bytes / ranks,
                                step == 0 ? 0 : (step - 1) * ranks + before + 1);
        }
    }
    return text;
}

}  // namespace astra::test
