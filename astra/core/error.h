// The errors of the program, one type for each exit status. Libraries throw; only main decides.
#pragma once

#include <stdexcept>
#include <string>

namespace astra {

class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The user's input is wrong (exit status 2). The first line of the message says where, what and
// what was expected; further lines are details.
class InputError : public Error {
    using Error::Error;
};

// A configuration file, an option or a group file: "file:line:column: key: what, expected,
// nearest".
class ConfigError final : public InputError {
    using InputError::InputError;
};

// A trace: "file: rank r, node id (name): what".
class TraceError final : public InputError {
    using InputError::InputError;
};

// The simulated system cannot finish: deadlock, no path, a limit (exit status 3).
class SimulationError final : public Error {
    using Error::Error;
};

// A bug of ours (exit status 4); thrown by ASTRA_CHECK.
class InternalError final : public Error {
    using Error::Error;
};

}  // namespace astra
