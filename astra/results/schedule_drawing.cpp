#include "astra/results/schedule_drawing.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "astra/config/units.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::uint32_t kTextMembers = 16;
constexpr std::size_t kTextWidth = 110;
constexpr std::size_t kNamedInACell = 2;

// Nothing of a message that carries nothing, as in a barrier.
std::string blocks_of(const ProgramMessage& message) {
    if (message.blocks == 0) {
        return "";
    }
    return message.blocks == 1 ? fmt::format("b{}", message.block)
                               : fmt::format("b{}*{}", message.block, message.blocks);
}

std::string escape(const std::string& text) {
    std::string result;
    for (const char c : text) {
        result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return result;
}

// What a member sends in a round: ">1 b0" to member 1 block 0, ">1 +b0" to be
// added there.
class Grid {
  public:
    Grid(const std::vector<ProgramMessage>& messages, std::uint32_t members, std::uint32_t rounds)
        : members_(std::min(members, kTextMembers)), all_members_(members), all_rounds_(rounds) {
        cells_.resize(members_);
        for (const ProgramMessage& message : messages) {
            if (message.from < members_ && message.round < kTextWidth) {
                add(message);
            }
        }
        choose_rounds();
    }

    std::string text() const {
        std::string text = fmt::format("{:<9}", "round");
        for (std::uint32_t round = 0; round < rounds_; ++round) {
            fmt::format_to(Out(text), "{:<{}}", round, width_ + 2);
        }
        end_line(text);
        for (std::uint32_t member = 0; member < members_; ++member) {
            fmt::format_to(Out(text), "{:<9}", member);
            for (std::uint32_t round = 0; round < rounds_; ++round) {
                fmt::format_to(Out(text), "{:<{}}", cell(member, round), width_ + 2);
            }
            end_line(text);
        }
        if (members_ < all_members_ || rounds_ < all_rounds_) {
            fmt::format_to(Out(text),
                           "         ({} of {} members, {} of {} rounds)\n",
                           members_,
                           all_members_,
                           rounds_,
                           all_rounds_);
        }
        return text;
    }

  private:
    struct Cell {
        std::string text;
        std::size_t messages = 0;
    };

    void add(const ProgramMessage& message) {
        auto& row = cells_[message.from];
        if (row.size() <= message.round) {
            row.resize(message.round + 1);
        }
        Cell& cell = row[message.round];
        if (cell.messages++ < kNamedInACell) {
            fmt::format_to(Out(cell.text),
                           "{}>{}{}{}{}",
                           cell.text.empty() ? "" : " ",
                           message.to,
                           message.blocks > 0 ? " " : "",
                           message.reduce && message.blocks > 0 ? "+" : "",
                           blocks_of(message));
        }
    }

    std::string cell(std::uint32_t member, std::uint32_t round) const {
        if (cells_[member].size() <= round) {
            return "";
        }
        const Cell& cell = cells_[member][round];
        return cell.messages <= kNamedInACell
                   ? cell.text
                   : fmt::format("{} & {}", cell.text, cell.messages - kNamedInACell);
    }

    // As many rounds as fit beside each other, in columns of the width of the
    // widest cell.
    void choose_rounds() {
        for (std::uint32_t round = 0; round < all_rounds_; ++round) {
            std::size_t width = std::max<std::size_t>(width_, fmt::formatted_size("{}", round));
            for (std::uint32_t member = 0; member < members_; ++member) {
                width = std::max(width, cell(member, round).size());
            }
            if (round > 0 && 9 + (width + 2) * (round + 1) > kTextWidth) {
                break;
            }
            width_ = width;
            rounds_ = round + 1;
        }
    }

    static void end_line(std::string& text) {
        text.resize(text.find_last_not_of(' ') + 1);
        text += '\n';
    }

    std::uint32_t members_;
    std::uint32_t all_members_;
    std::uint32_t all_rounds_;
    std::uint32_t rounds_ = 0;
    std::size_t width_ = 1;
    std::vector<std::vector<Cell>> cells_;  // a member, a round
};

// Lengths in pixels.
class Picture {
  public:
    Picture(std::uint32_t members, std::uint32_t rounds)
        : members_(members),
          rounds_(rounds),
          round_(std::clamp(12'000.0 / std::max(rounds, 1U), 14.0, 90.0)) {}

    std::string draw(const std::vector<ProgramMessage>& messages, const std::string& title) const {
        const double width = x(rounds_) + 20;
        const double height = y(members_) + 10;
        std::string svg = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"{0:.0f}\" height=\"{1:.0f}\" "
            "viewBox=\"0 0 {0:.0f} {1:.0f}\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            "<text x=\"10\" y=\"18\" font-size=\"14\">{2}</text>\n",
            width,
            height,
            escape(title));
        const std::uint32_t every = round_ < 30 ? 10 : 1;
        for (std::uint32_t round = 0; round <= rounds_; round += every) {
            fmt::format_to(Out(svg),
                           "<line x1=\"{0:.1f}\" y1=\"40\" x2=\"{0:.1f}\" y2=\"{1:.1f}\" "
                           "stroke=\"#eee\"/><text x=\"{0:.1f}\" y=\"36\" "
                           "text-anchor=\"middle\" fill=\"#888\">{2}</text>\n",
                           x(round),
                           y(members_) - 6,
                           round);
        }
        for (std::uint32_t member = 0; member < members_; ++member) {
            fmt::format_to(Out(svg),
                           "<line x1=\"{1:.1f}\" y1=\"{2:.1f}\" x2=\"{3:.1f}\" y2=\"{2:.1f}\" "
                           "stroke=\"#ccc\"/><text x=\"10\" y=\"{4:.1f}\">{0}</text>\n",
                           member,
                           x(0),
                           y(member),
                           x(rounds_),
                           y(member) + 4);
        }
        for (const ProgramMessage& message : messages) {
            add_arrow(svg, message);
        }
        return svg + "</svg>\n";
    }

  private:
    double x(std::uint32_t round) const { return 60 + round * round_; }
    double y(std::uint32_t member) const { return 54 + member * 22.0; }

    void add_arrow(std::string& svg, const ProgramMessage& message) const {
        const double x1 = x(message.round);
        const double y1 = y(message.from);
        const double x2 = x(message.round + 1);
        const double y2 = y(message.to);
        const double length = std::hypot(x2 - x1, y2 - y1);
        const double dx = 6 * (x2 - x1) / length;
        const double dy = 6 * (y2 - y1) / length;
        // Steps of the golden angle: neighbouring blocks get unlike colours.
        const std::uint64_t hue = std::uint64_t{message.block} * 137U % 360U;
        const std::string colour = fmt::format("hsl({},70%,42%)", hue);
        fmt::format_to(Out(svg),
                       "<g stroke=\"{0}\" fill=\"{1}\"><title>{2} to {3}, round {4}, "
                       "block{5}, "
                       "{6}{7}</title><line x1=\"{8:.1f}\" y1=\"{9:.1f}\" x2=\"{10:.1f}\" "
                       "y2=\"{11:.1f}\"/>",
                       colour,
                       message.reduce ? "white" : colour,
                       message.from,
                       message.to,
                       message.round,
                       message.blocks == 1
                           ? fmt::format(" {}", message.block)
                           : fmt::format("s {} and {} more", message.block, message.blocks - 1),
                       to_text(message.bytes),
                       message.reduce ? ", added" : "",
                       x1,
                       y1,
                       x2 - dx,
                       y2 - dy);
        fmt::format_to(Out(svg),
                       "<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/></g>\n",
                       x2,
                       y2,
                       x2 - dx - dy / 2,
                       y2 - dy + dx / 2,
                       x2 - dx + dy / 2,
                       y2 - dy - dx / 2);
    }

    std::uint32_t members_;
    std::uint32_t rounds_;
    double round_;
};

}  // namespace

std::string schedule_text(const std::vector<ProgramMessage>& messages,
                          std::uint32_t members,
                          std::uint32_t rounds) {
    return Grid(messages, members, rounds).text();
}

std::string schedule_svg(const std::vector<ProgramMessage>& messages,
                         std::uint32_t members,
                         std::uint32_t rounds,
                         const std::string& title) {
    return Picture(members, rounds).draw(messages, title);
}

}  // namespace astra
