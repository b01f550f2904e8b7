#include "system/run/sandbox.h"

#include "astra/core/check.h"
#include "astra/core/transfer_clock.h"
#include "system/run/collective_run.h"

namespace astra {

namespace {

class Members final : public RunOwner {
  public:
    explicit Members(Callback finished) : finished_(finished) {}
    void member_finished(CollectiveRun&, std::uint32_t, bool) override { finished_(); }
    void member_left(CollectiveRun&, std::uint32_t) override {}

  private:
    Callback finished_;
};

}  // namespace

Sandbox::Sandbox(const Topology& topology, const BackendInfo& backend, const ConfigView& network)
    : info_(backend),
      keys_(network),
      its_routing_(read_routing(network, topology, backend)),
      routing_(*its_routing_),
      backend_(backend.build(queue_, routing_, network)) {}

Sandbox::Sandbox(Routing& routing, const BackendInfo& backend, const ConfigView& network)
    : info_(backend),
      keys_(network),
      routing_(routing),
      backend_(backend.build(queue_, routing_, network)) {}

Sandbox::~Sandbox() = default;

Duration Sandbox::time(const Program& program,
                       const std::vector<std::uint32_t>& ranks,
                       Bytes size,
                       const MessageCosts& costs,
                       const EndpointCosts& endpoint) {
    RunContext context{queue_,
                       *backend_,
                       endpoint.delay,
                       TransferClock(endpoint.memory),
                       endpoint.sends_in_order && info_.shares_links(),
                       endpoint.run_ahead};
    CollectiveRun run;
    std::optional<Members> members;
    const Duration length = time([&](Callback finished) {
        members.emplace(finished);
        run.begin(context, *members, 0, program, ranks, size, costs);
        for (std::uint32_t member = 0; member < ranks.size(); ++member) {
            run.start(member);
        }
    });
    ASTRA_CHECK(run.everyone_finished(), "a program alone on a network comes to its end");
    return length;
}

}  // namespace astra
