#include "system/model/compute_model.h"

#include "astra/config/registry_choice.h"

namespace astra {

namespace {

const ComputeModelInfo& chosen_model(const ConfigView& system) {
    const auto& models = compute_models();
    if (!system.has("compute_model")) {
        return *models.find(system.bool_or("roofline", false) ? "roofline" : "recorded");
    }
    if (const auto roofline = system.find("roofline")) {
        roofline->fail("system.compute_model says which model it is");
    }
    return choose(system, "compute_model", "recorded", models);
}

}  // namespace

std::unique_ptr<const ComputeModel> read_compute_model(const ConfigView& system) {
    const ComputeModelInfo& chosen = chosen_model(system);
    std::unique_ptr<const ComputeModel> result;
    for (const ComputeModelInfo* model : compute_models()) {
        if (model == &chosen) {
            result = model->read(system, true);
        } else {
            model->read(system, false);
        }
    }
    return result;
}

}  // namespace astra
