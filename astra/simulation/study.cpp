#include "astra/simulation/study.h"

#include <utility>

#include "astra/config/config_tree.h"

namespace astra {

Study Study::from_file(const std::string& file) {
    return Study(ConfigTree::parse_file(file, FilePurpose::Study));
}

Study Study::from_text(std::string_view text, const std::string& name, const std::string& folder) {
    return Study(ConfigTree::parse_text(text, name, folder));
}

Study::Study(ConfigTree tree, Warnings warnings)
    : tree_(std::make_unique<ConfigTree>(std::move(tree))), warnings_(std::move(warnings)) {}

Study::Study(const Study& other)
    : tree_(std::make_unique<ConfigTree>(*other.tree_)), warnings_(other.warnings_) {}

Study& Study::operator=(const Study& other) {
    *this = Study(other);
    return *this;
}

Study::Study(Study&&) noexcept = default;
Study& Study::operator=(Study&&) noexcept = default;
Study::~Study() = default;

void Study::set(std::string_view key, std::string_view value) {
    tree_->set(std::string(key).append("=").append(value));
}

void Study::set(std::string_view assignment) {
    tree_->set(assignment);
}

}  // namespace astra
