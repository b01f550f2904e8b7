#include "system/transfer/policy.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "astra/config/registry_choice.h"

namespace astra {

namespace {

std::string list(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names) {
        text += text.empty() ? "" : ", ";
        text += name;
    }
    return text.empty() ? "none" : text;
}

bool has(const TransferPolicyInfo& policy, std::string_view parameter) {
    const auto& names = policy.parameters;
    return std::find(names.begin(), names.end(), parameter) != names.end();
}

void refuse_others(const ConfigView& transfers, const TransferPolicyInfo& chosen) {
    for (const TransferPolicyInfo* other : transfer_policies()) {
        for (const std::string_view parameter : other->parameters) {
            const auto found = has(chosen, parameter) ? std::nullopt : transfers.find(parameter);
            if (found) {
                found->fail(fmt::format(
                    "a parameter of the policy {}, but the policy is {}, whose parameters are: {}; "
                    "what is for another policy belongs into a section of its name: "
                    "transfers.{}.{}",
                    other->name,
                    chosen.name,
                    list(chosen.parameters),
                    other->name,
                    parameter));
            }
        }
    }
}

}  // namespace

ConfigView TransferParameters::of(std::string_view key) const {
    if (!chosen_ || !transfers_.has(key)) {
        return transfers_.section(policy_);
    }
    // What stands in the section is no mistake, though it is not used.
    if (const auto section = transfers_.find(policy_)) {
        static_cast<void>(section->find(key));
    }
    return transfers_;
}

void TransferParameters::fail(std::string_view key, std::string_view message) const {
    of(key).at(key).fail(message);
}

std::unique_ptr<const TransferPolicy> read_transfer_policy(const ConfigView& system,
                                                           std::string_view instead) {
    const ConfigView transfers = system.section("transfers");
    const TransferPolicyInfo& chosen = choose(transfers, "policy", "trace", transfer_policies());
    std::unique_ptr<const TransferPolicy> result;
    for (const TransferPolicyInfo* policy : transfer_policies()) {
        if (policy == &chosen) {
            refuse_others(transfers, *policy);
            result = policy->read({transfers, policy->name, true});
        } else if (!policy->parameters.empty() && transfers.has(policy->name)) {
            policy->read({transfers, policy->name, false});
        }
    }
    return instead.empty() || instead == chosen.name
               ? std::move(result)
               : transfer_policies().find(instead)->read({transfers, instead, false});
}

}  // namespace astra
