# Installs into a folder of its own, compiles each public header alone against it, builds the example of
# inputs/examples/embed there and holds its times against those of the installed program.
# Takes: build, work (folders), compiler, build_type, flags.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${work})
set(prefix ${work}/prefix)
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})

# No header may need what is not installed, nor a library that users do not have.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
if(NOT headers)
  message(FATAL_ERROR "no headers are installed")
endif()
foreach(header ${headers})
  file(WRITE ${work}/header.cpp "#include \"${header}\"\n#include \"${header}\"\n")
  run(${compiler} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I ${prefix}/include ${work}/header.cpp)
  file(STRINGS ${prefix}/include/${header} heavy REGEX "#include [<\"](fmt|yaml-cpp|boost|nlohmann|google)/")
  if(heavy)
    message(FATAL_ERROR "${header} includes a library: ${heavy}")
  endif()
endforeach()

set(inputs ${prefix}/share/astra/inputs)
run(${CMAKE_COMMAND} -S ${inputs}/examples/embed -B ${work}/embed -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=${build_type} -DCMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${work}/embed)

# The second bandwidth is not that of the file: overrides must reach the simulation, each its own.
set(study ${inputs}/quickstart.yml)
run(${work}/embed/embed ${study} 25GB/s 100GB/s)
set(embedded "${output}")
set(last "")
foreach(bandwidth 25GB/s 100GB/s)
  run(${prefix}/bin/astra run ${study} --quiet --output=${work}/result
      --set=network.dimensions.1.bandwidth=${bandwidth})
  file(READ ${work}/result/result.json json)
  string(JSON ps GET "${json}" simulated_ps)
  string(REGEX REPLACE "^(.*)(.........)$" "\\1.\\2" ms "${ps}")
  string(FIND "${embedded}" "${bandwidth}: ${ms} ms" found)
  if(found EQUAL -1 OR ps STREQUAL last)
    message(FATAL_ERROR "astra run takes ${ms} ms at ${bandwidth}; the example says\n${embedded}")
  endif()
  set(last ${ps})
endforeach()

# An error is an exception that the example prints, not the end of its process.
execute_process(COMMAND ${work}/embed/embed ${work}/none.yml 25GB/s RESULT_VARIABLE status
                ERROR_VARIABLE error)
if(NOT status EQUAL 1 OR NOT error MATCHES "^embed: .*none.yml")
  message(FATAL_ERROR "a missing study: status ${status}, '${error}'")
endif()

# The installed README names files that are there.
file(READ ${prefix}/share/doc/astra/README.md readme)
string(REGEX MATCHALL "${inputs}/[a-zA-Z0-9_/.-]*[a-zA-Z0-9]" paths "${readme}")
if(NOT "${study}" IN_LIST paths)
  message(FATAL_ERROR "the installed README does not name ${study}")
endif()
foreach(path ${paths})
  if(NOT EXISTS ${path})
    message(FATAL_ERROR "the installed README names ${path}, which is not there")
  endif()
endforeach()
