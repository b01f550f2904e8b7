#include "system/transfer/transfer_queue.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

namespace {

constexpr std::uint32_t kNoGroup = 0xffffffffU;
// The bytes of a merged collective, and so of an iteration: 64 PiB, as of any collective.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 56U;

constexpr std::uint64_t pack(std::uint32_t high, std::uint32_t low) {
    return (std::uint64_t{high} << 32U) | low;
}
constexpr std::uint32_t high_of(std::uint64_t argument) {
    return static_cast<std::uint32_t>(argument >> 32U);
}

template <class T>
std::uint32_t take_from(std::deque<T>& pool, std::vector<std::uint32_t>& free) {
    if (free.empty()) {
        free.push_back(static_cast<std::uint32_t>(pool.size()));
        pool.emplace_back();
    }
    const std::uint32_t number = free.back();
    free.pop_back();
    pool[number] = T{};
    return number;
}

}  // namespace

TransferQueue::TransferQueue(EventQueue& queue,
                             CollectiveEngine& collectives,
                             const TransferPolicy& policy,
                             CollectiveTimer& timer)
    : queue_(queue), collectives_(collectives), policy_(policy), timer_(timer) {}

void TransferQueue::add_group(std::uint32_t job,
                              GroupId id,
                              const GroupForecast& forecast,
                              const CollectiveRequest& like,
                              std::uint64_t first_launch) {
    const ProcessGroup& members = collectives_.group(id);
    Bytes total;
    for (const TransferForecast& transfer : forecast.transfers) {
        total = {saturating_add(total.count, transfer.bytes.count)};
    }
    if (total.count > kMostBytes) {
        throw ConfigError(fmt::format(
            "group '{}': the gradients of an iteration are {} B, beyond the {} B of one collective",
            members.name(),
            total.count,
            kMostBytes));
    }
    by_group_.resize(std::max<std::size_t>(by_group_.size(), index(id) + 1), kNoGroup);
    by_group_[index(id)] = static_cast<std::uint32_t>(groups_.size());
    Group& group = groups_.emplace_back();
    group.job = job;
    group.id = id;
    group.forecast = forecast;
    group.next_launch = first_launch;
    const MeasuredTime* measured = collectives_.measured(id, like);
    group.serial = measured != nullptr;
    if (group.serial) {
        const Bytes small{total.count / 16};
        group.cost = line_through(small,
                                  measured->at(small),
                                  {std::max<std::uint64_t>(total.count, 1)},
                                  measured->at(total));
        group.cost.measured = measured;
    } else {
        group.cost = measure_cost(timer_, members, like, {total.count / 2});
    }
    if (policy_.queues()) {
        group.schedule = policy_.schedule(group.forecast, group.cost);
    }
}

void TransferQueue::request(GroupId id,
                            std::uint32_t position,
                            const TransferPiece& transfer,
                            const CollectiveRequest& request,
                            Callback done) {
    const std::uint32_t number_of_group = by_group_[index(id)];
    const std::uint32_t number = tensor_for(number_of_group, position, transfer, request);
    Tensor& tensor = tensors_[number];
    Group& group = groups_[number_of_group];
    ASTRA_CHECK(!tensor.done[position], "a member asks for a transfer once");
    tensor.done[position] = done;
    const bool complete = ++tensor.asked == tensor.done.size();
    tensor.asked_at[position] = queue_.now();
    if (complete) {
        tensor.ready = queue_.now();
        tensor.last = RankId{collectives_.group(id).rank(position)};
    }
    if (recorder_ != nullptr) {
        record_asking(tensor, position);
    }
    if (!waits()) {
        const std::uint64_t argument = pack(number, position);
        collectives_.join(
            id, position, request, Callback::to<&TransferQueue::passed>(*this, argument));
    } else if (complete) {
        group.schedule->ready({transfer.iteration, transfer.transfer, request.bytes, queue_.now()});
        plan_asking(number_of_group);
    }
}

// Until the last member has its gradient, the others wait for it. Where nothing is queued, the
// collective says so itself.
void TransferQueue::record_asking(Tensor& tensor, std::uint32_t position) {
    if (tensor.asked < tensor.done.size()) {
        return;
    }
    tensor.cause = recorder_->current();
    const ProcessGroup& members = collectives_.group(groups_[tensor.group].id);
    for (std::uint32_t p = 0; waits() && p < members.size(); ++p) {
        if (tensor.asked_at[p] < queue_.now()) {
            Span span;
            span.kind = SpanKind::Waiting;
            span.rank = RankId{members.rank(p)};
            span.peer = RankId{members.rank(position)};
            span.begin = tensor.asked_at[p];
            span.end = queue_.now();
            recorder_->add(span);
        }
    }
}

Span TransferQueue::span_of(std::uint32_t group, Bytes bytes) const {
    Span span;
    span.kind = SpanKind::Transfer;
    span.number = group;
    span.name = collectives_.group(groups_[group].id).name();
    span.bytes = bytes;
    return span;
}

std::uint32_t TransferQueue::tensor_for(std::uint32_t number_of_group,
                                        std::uint32_t position,
                                        const TransferPiece& transfer,
                                        const CollectiveRequest& request) {
    Group& group = groups_[number_of_group];
    const ProcessGroup& members = collectives_.group(group.id);
    const auto [found, is_new] =
        group.tensors.emplace(pack(transfer.iteration, transfer.transfer), 0);
    if (!is_new) {
        check_same(group, tensors_[found->second], members.rank(position), request);
        return found->second;
    }
    const std::uint32_t number = take_from(tensors_, free_tensors_);
    found->second = number;
    Tensor& tensor = tensors_[number];
    tensor.group = number_of_group;
    tensor.whole = transfer;
    tensor.whole.bytes = request.bytes;
    tensor.request = request;
    tensor.first_rank = members.rank(position);
    tensor.asked_at.assign(members.size(), {});
    tensor.done.assign(members.size(), {});
    tensor.left.assign(members.size(), request.bytes.count);
    return number;
}

void TransferQueue::check_same(const Group& group,
                               const Tensor& tensor,
                               std::uint32_t rank,
                               const CollectiveRequest& request) const {
    const CollectiveRequest& first = tensor.request;
    if (first.plan_key() == request.plan_key() && first.bytes == request.bytes) {
        return;
    }
    throw InputError(fmt::format(
        "at {} ps: the ranks of group '{}' disagree about gradient {} of iteration {}: rank {} "
        "(node {}) asks for {} of {} B, rank {} (node {}) for {} of {} B",
        queue_.now().ps,
        collectives_.group(group.id).name(),
        tensor.whole.transfer,
        tensor.whole.iteration,
        tensor.first_rank,
        first.node_id,
        name_of(first.kind),
        first.bytes.count,
        rank,
        request.node_id,
        name_of(request.kind),
        request.bytes.count));
}

// Without a queue: a member is through.
void TransferQueue::passed(std::uint64_t argument) {
    const std::uint32_t number = high_of(argument);
    Tensor& tensor = tensors_[number];
    const Callback done = tensor.done[static_cast<std::uint32_t>(argument)];
    if (++tensor.finished == tensor.done.size()) {
        tensor.start = tensor.ready;
        tensor.pieces = 1;
        records_.push_back({tensor.group,
                            tensor.whole.iteration,
                            tensor.ready,
                            queue_.now(),
                            tensor.whole.bytes,
                            1});
        record_launch(tensor.group, {tensor.whole}, tensor.ready);
        if (recorder_ != nullptr) {
            Span span = span_of(tensor.group, tensor.whole.bytes);
            span.begin = tensor.ready;
            span.end = queue_.now();
            recorder_->add(span);
        }
        finish_tensor(number);
    }
    wait_ = collectives_.wait();
    done();
}

// After everything else that happens at this instant, so that what becomes ready together can be
// merged.
void TransferQueue::plan_asking(std::uint32_t group) {
    if (!groups_[group].asking) {
        groups_[group].asking = true;
        queue_.schedule_after({}, Callback::to<&TransferQueue::ask>(*this, group));
    }
}

void TransferQueue::plan_waking(std::uint32_t group, SimTime when) {
    if (when < groups_[group].wake) {
        groups_[group].wake = when;
        queue_.schedule_at(when, Callback::to<&TransferQueue::wake>(*this, group));
    }
}

void TransferQueue::wake(std::uint64_t group) {
    groups_[group].wake = {kMaxPs};
    plan_asking(static_cast<std::uint32_t>(group));
}

void TransferQueue::ask(std::uint64_t number) {
    Group& group = groups_[number];
    group.asking = false;
    while (!group.serial || group.load.launches == 0) {
        group.load.now = queue_.now();
        Launch launch = group.schedule->next(group.load);
        if (launch.pieces.empty()) {
            if (launch.ask_again.ps < kMaxPs) {
                ASTRA_CHECK(launch.ask_again > queue_.now(),
                            "a schedule waits for what is to come");
                plan_waking(static_cast<std::uint32_t>(number), launch.ask_again);
            }
            return;
        }
        start(static_cast<std::uint32_t>(number), std::move(launch));
    }
}

void TransferQueue::start(std::uint32_t number_of_group, Launch launch) {
    Group& group = groups_[number_of_group];
    const std::uint32_t number = take_from(launches_, free_launches_);
    Started& started = launches_[number];
    started.group = number_of_group;
    started.pieces = std::move(launch.pieces);
    started.after = launch.after;
    started.members_left = collectives_.group(group.id).size();
    for (const TransferPiece& piece : started.pieces) {
        const std::uint32_t tensor_number = group.tensors.at(pack(piece.iteration, piece.transfer));
        Tensor& tensor = tensors_[tensor_number];
        tensor.start = tensor.pieces == 0 ? queue_.now() : tensor.start;
        ++tensor.pieces;
        tensor.launched = tensor.launched + piece.bytes;
        ASTRA_CHECK(tensor.launched <= tensor.whole.bytes, "no byte is launched twice");
        started.tensors.push_back(tensor_number);
        if (tensor.ready >= started.last.at) {
            started.last = {tensor.ready, tensor.last};
        }
        started.bytes = started.bytes + piece.bytes;
    }
    ++group.load.launches;
    group.load.bytes = group.load.bytes + started.bytes;
    started.start = queue_.now();
    if (recorder_ != nullptr) {
        // The last of its pieces to get ready made it possible.
        const auto last = std::max_element(
            started.tensors.begin(), started.tensors.end(), [&](std::uint32_t a, std::uint32_t b) {
                return tensors_[a].ready < tensors_[b].ready;
            });
        const Recorder::Because because(recorder_, tensors_[*last].cause);
        started.span = recorder_->begin(span_of(number_of_group, started.bytes));
    }
    if (launch.before.ps == 0) {
        join_all(number);
    } else {
        queue_.schedule_after(launch.before, Callback::to<&TransferQueue::join_all>(*this, number));
    }
}

void TransferQueue::join_all(std::uint64_t number) {
    const Started& started = launches_[number];
    const GroupId id = groups_[started.group].id;
    CollectiveRequest request = tensors_[started.tensors.front()].request;
    request.bytes = started.bytes;
    request.sequence = groups_[started.group].next_launch++;
    const Recorder::Because because(recorder_, started.span);
    for (std::uint32_t p = 0; p < collectives_.group(id).size(); ++p) {
        const std::uint64_t argument = pack(static_cast<std::uint32_t>(number), p);
        collectives_.join(id, p, request, Callback::to<&TransferQueue::reduced>(*this, argument));
    }
}

void TransferQueue::reduced(std::uint64_t argument) {
    const Duration after = launches_[high_of(argument)].after;
    if (after.ps == 0) {
        finish_member(argument);
    } else {
        queue_.schedule_after(after, Callback::to<&TransferQueue::finish_member>(*this, argument));
    }
}

// A member has the result of a launch. Its ops run last: they may come back with more requests.
void TransferQueue::finish_member(std::uint64_t argument) {
    const std::uint32_t number = high_of(argument);
    const auto position = static_cast<std::uint32_t>(argument);
    Started& started = launches_[number];
    // After a delay of the policy's: on behalf of the transfer.
    const Recorder::Because because(recorder_,
                                    recorder_ != nullptr && recorder_->current() != kNoCause
                                        ? recorder_->current()
                                        : started.span);
    std::vector<std::pair<Callback, PeerWait>> done;
    for (std::size_t i = 0; i < started.pieces.size(); ++i) {
        Tensor& tensor = tensors_[started.tensors[i]];
        std::uint64_t& left = tensor.left[position];
        ASTRA_CHECK(left >= started.pieces[i].bytes.count, "no byte is reduced twice");
        left -= started.pieces[i].bytes.count;
        if (left == 0) {
            done.emplace_back(tensor.done[position],
                              PeerWait{tensor.asked_at[position], started.last});
            if (++tensor.finished == tensor.done.size()) {
                finish_tensor(started.tensors[i]);
            }
        }
    }
    if (--started.members_left == 0) {
        finish_launch(number);
    }
    for (const auto& [callback, wait] : done) {
        wait_ = wait;
        callback();
    }
}

void TransferQueue::add_unfinished(std::vector<UnfinishedWait>& waits) const {
    if (!this->waits()) {
        return;  // the collectives tell of them
    }
    for (const Group& group : groups_) {
        const ProcessGroup& members = collectives_.group(group.id);
        for (const auto& [key, number] : group.tensors) {
            const Tensor& tensor = tensors_[number];
            const SimTime ready = tensor.asked == tensor.done.size() ? tensor.ready : queue_.now();
            for (std::uint32_t p = 0; p < members.size(); ++p) {
                if (tensor.done[p] && tensor.left[p] > 0) {
                    waits.push_back(
                        {RankId{members.rank(p)}, {tensor.asked_at[p], {ready, tensor.last}}});
                }
            }
        }
    }
}

void TransferQueue::record_launch(std::uint32_t group,
                                  const std::vector<TransferPiece>& pieces,
                                  SimTime start) {
    if (record_launches_) {
        launch_records_.push_back({groups_[group].id, pieces, start, queue_.now()});
    }
}

void TransferQueue::finish_launch(std::uint32_t number) {
    Started& started = launches_[number];
    Group& group = groups_[started.group];
    --group.load.launches;
    group.load.bytes.count -= started.bytes.count;
    records_.push_back({started.group,
                        started.pieces.front().iteration,
                        started.start,
                        queue_.now(),
                        started.bytes,
                        static_cast<std::uint32_t>(started.pieces.size())});
    record_launch(started.group, started.pieces, started.start);
    if (recorder_ != nullptr) {
        recorder_->end(started.span);
    }
    free_launches_.push_back(number);
    plan_asking(started.group);
}

void TransferQueue::finish_tensor(std::uint32_t number) {
    const Tensor& tensor = tensors_[number];
    if (record_tensors_) {
        tensor_records_.push_back({tensor.group,
                                   tensor.whole.iteration,
                                   tensor.whole.transfer,
                                   tensor.whole.bytes,
                                   tensor.ready,
                                   tensor.start,
                                   queue_.now(),
                                   tensor.pieces});
    }
    groups_[tensor.group].tensors.erase(pack(tensor.whole.iteration, tensor.whole.transfer));
    free_tensors_.push_back(number);
}

std::vector<CommunicatorRecord> TransferQueue::communicators() const {
    std::vector<CommunicatorRecord> records;
    for (const Group& group : groups_) {
        CommunicatorRecord& record = records.emplace_back();
        const ProcessGroup& members = collectives_.group(group.id);
        record.job = group.job;
        record.group = members.name();
        record.ranks = members.size();
        record.tensors = static_cast<std::uint32_t>(group.forecast.transfers.size());
        for (const TransferForecast& transfer : group.forecast.transfers) {
            record.bytes = record.bytes + transfer.bytes;
        }
        record.alpha = group.cost.alpha;
        record.beta_ps = group.cost.beta_ps;
        record.plan = group.schedule == nullptr ? "" : group.schedule->describe();
    }
    return records;
}

std::string TransferQueue::describe_waiting(GroupId id,
                                            std::uint32_t position,
                                            const TransferPiece& transfer) const {
    const Group& group = groups_[by_group_[index(id)]];
    const auto found = group.tensors.find(pack(transfer.iteration, transfer.transfer));
    if (found == group.tensors.end() || tensors_[found->second].launched.count > 0 || !waits()) {
        return collectives_.describe_waiting(id, position);
    }
    const Tensor& tensor = tensors_[found->second];
    return fmt::format(
        "the transfer queue of group '{}': gradient {} of iteration {}, {} B, {}",
        collectives_.group(id).name(),
        transfer.transfer,
        transfer.iteration,
        tensor.whole.bytes.count,
        tensor.asked < tensor.done.size()
            ? fmt::format("asked for by {} of {} ranks", tensor.asked, tensor.done.size())
            : std::string("ready, held back by the policy"));
}

}  // namespace astra
