# Run at every build: writes the header `output` with the commit of `source`, only if it has changed.
execute_process(COMMAND git -C ${source} describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit "")  # no git, or no repository: a source archive
endif()
set(text "#pragma once\n\n// The commit of the sources, \"\" if unknown.\n#define ASTRA_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${output})
  file(READ ${output} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${output} "${text}")
endif()
