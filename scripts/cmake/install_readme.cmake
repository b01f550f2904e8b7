# Run by cmake --install: README.md where the documents go, its commands and paths as they are on a system without the
# sources. Takes: source, doc_folder, data_folder (both below the prefix).

set(prefix "${CMAKE_INSTALL_PREFIX}")
if(prefix MATCHES "/_CPack_Packages/.*(/usr|/opt)$")
  set(prefix "${CMAKE_MATCH_1}")  # CPack installs into a staging folder
endif()
set(inputs "${prefix}/${data_folder}/inputs")

file(READ "${source}/README.md" text)
string(REPLACE "build/release/bin/astra" "astra" text "${text}")
string(REPLACE "inputs/" "${inputs}/" text "${text}")
string(PREPEND text "\
> This copy belongs to an installed astra. The first run needs no sources:
> `astra run ${inputs}/quickstart.yml --output=quickstart` prints a summary and writes `quickstart/result.json`.
> `astra --help` and `man astra` list commands and options; `find_package(astra)` has the library `astra::simulation`,
> `${inputs}/examples/embed` is a program that uses it. What `scripts/` is said to do needs the sources.

")
file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${doc_folder}/README.md" "${text}")
