#include "system/transfer/forecast_run.h"

#include <algorithm>
#include <vector>

#include "astra/core/check.h"

namespace astra {

namespace {

// Where the computation of an iteration meets a transfer: it waits for that of the iteration
// before, or hands over another.
struct Meeting {
    Duration offset;
    std::uint32_t transfer = 0;
    bool waits = false;
};

std::vector<Meeting> meetings(const GroupForecast& forecast, bool barrier) {
    std::vector<Meeting> list;
    for (std::uint32_t t = 0; t < forecast.transfers.size(); ++t) {
        const TransferForecast& transfer = forecast.transfers[t];
        const std::uint64_t needed = std::max(transfer.needed, forecast.iteration).ps;
        const Duration reader{barrier ? 0 : needed - forecast.iteration.ps};
        if (reader < forecast.iteration) {
            list.push_back({reader, t, true});
        }
        list.push_back({std::min(transfer.ready, forecast.iteration), t, false});
    }
    std::stable_sort(list.begin(), list.end(), [](const Meeting& a, const Meeting& b) {
        return a.offset != b.offset ? a.offset < b.offset : a.waits && !b.waits;
    });
    return list;
}

class Run {
  public:
    Run(const GroupForecast& forecast,
        const TransferCost& cost,
        bool barrier,
        TransferSchedule& schedule)
        : forecast_(forecast),
          cost_(cost),
          schedule_(schedule),
          meetings_(meetings(forecast, barrier)) {}

    Duration steady();

  private:
    bool held() const;
    SimTime computes_until() const;
    void begin_iteration();
    void compute();
    void finish_launch();
    void launch();
    bool done(std::uint32_t iteration, std::uint32_t transfer) const {
        return left_[iteration][transfer] == 0;
    }
    bool repeats() const {
        const std::size_t n = ends_.size();
        return n >= 4 && ends_[n - 1] - ends_[n - 2] == ends_[n - 2] - ends_[n - 3] &&
               ends_[n - 2] - ends_[n - 3] == ends_[n - 3] - ends_[n - 4];
    }

    const GroupForecast& forecast_;
    const TransferCost& cost_;
    TransferSchedule& schedule_;
    std::vector<Meeting> meetings_;
    SimTime now_;
    SimTime reached_;    // when the computation was at `position_`
    Duration position_;  // in its iteration
    std::size_t next_ = 0;
    std::vector<std::vector<std::uint64_t>> left_;  // bytes, by iteration and transfer
    std::vector<SimTime> ends_;
    std::vector<TransferPiece> under_way_;
    Bytes bytes_under_way_;
    SimTime free_{kMaxPs};  // when the launch that runs ends
    SimTime ask_again_{kMaxPs};
};

// The first iteration waits for nothing.
bool Run::held() const {
    if (next_ == meetings_.size() || ends_.empty()) {
        return false;
    }
    const Meeting& meeting = meetings_[next_];
    return meeting.waits && !done(static_cast<std::uint32_t>(ends_.size()) - 1, meeting.transfer);
}

SimTime Run::computes_until() const {
    if (next_ == meetings_.size()) {
        return reached_ + Duration{forecast_.iteration.ps - position_.ps};
    }
    const Meeting& meeting = meetings_[next_];
    const SimTime at = reached_ + Duration{meeting.offset.ps - position_.ps};
    return held() ? SimTime{kMaxPs} : std::max(at, now_);
}

void Run::begin_iteration() {
    position_ = {};
    next_ = 0;
    left_.emplace_back();
    for (const TransferForecast& transfer : forecast_.transfers) {
        left_.back().push_back(std::max<std::uint64_t>(transfer.bytes.count, 1));
    }
}

void Run::compute() {
    reached_ = now_;
    if (next_ == meetings_.size()) {
        ends_.push_back(now_);
        begin_iteration();
        return;
    }
    const Meeting& meeting = meetings_[next_++];
    position_ = meeting.offset;
    if (!meeting.waits) {
        const auto iteration = static_cast<std::uint32_t>(ends_.size());
        schedule_.ready({iteration, meeting.transfer, {left_[iteration][meeting.transfer]}, now_});
    }
}

void Run::finish_launch() {
    for (const TransferPiece& piece : under_way_) {
        left_[piece.iteration][piece.transfer] -= piece.bytes.count;
    }
    under_way_.clear();
    bytes_under_way_ = {};
    free_ = {kMaxPs};
}

void Run::launch() {
    if (!under_way_.empty()) {
        return;
    }
    Launch launch = schedule_.next({now_, 0, {}});
    ask_again_ = launch.ask_again;
    ASTRA_CHECK(!launch.pieces.empty() || ask_again_ > now_,
                "a schedule waits for what is to come");
    for (const TransferPiece& piece : launch.pieces) {
        bytes_under_way_ = bytes_under_way_ + piece.bytes;
    }
    if (!launch.pieces.empty()) {
        under_way_ = std::move(launch.pieces);
        free_ = now_ + launch.before + cost_.at(bytes_under_way_) + launch.after;
        ask_again_ = {kMaxPs};
    }
}

Duration Run::steady() {
    begin_iteration();
    while (ends_.size() < kMostForecastIterations && !repeats()) {
        const SimTime computes = computes_until();
        now_ = std::min({computes, free_, ask_again_});
        if (now_.ps == kMaxPs) {
            ASTRA_CHECK(!under_way_.empty() || !held(),
                        "a schedule launches what the computation waits for");
            return {kMaxPs};
        }
        if (free_ == now_) {
            finish_launch();
        }
        while (ends_.size() < kMostForecastIterations && computes_until() == now_) {
            compute();
        }
        launch();
    }
    const std::size_t n = ends_.size();
    return repeats() ? ends_[n - 1] - ends_[n - 2] : Duration{(ends_[n - 1] - ends_[n - 4]).ps / 3};
}

}  // namespace

Duration steady_iteration(const GroupForecast& forecast,
                          const TransferCost& cost,
                          bool barrier,
                          TransferSchedule& schedule) {
    return Run(forecast, cost, barrier, schedule).steady();
}

}  // namespace astra
