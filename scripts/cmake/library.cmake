# The library that programs embed: one archive of the layers from core to simulation, and the headers of its door.
# Installed, find_package(astra) has it as astra::simulation; beside our sources the alias is the same.
set(ASTRA_PUBLIC_HEADERS
    astra/core/error.h astra/core/records.h astra/core/types.h astra/core/warnings.h
    astra/simulation/run_result.h astra/simulation/simulation.h astra/simulation/study.h)

add_library(astra_library STATIC)
add_library(astra::simulation ALIAS astra_library)
foreach(layer core config network system workload simulation)
  target_sources(astra_library PRIVATE $<TARGET_OBJECTS:astra_${layer}>)
endforeach()
set_target_properties(astra_library PROPERTIES OUTPUT_NAME astra EXPORT_NAME simulation
                                               LINKER_LANGUAGE CXX)
target_compile_features(astra_library PUBLIC cxx_std_20)
target_include_directories(astra_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(EXPAT REQUIRED)
target_link_libraries(astra_library PRIVATE fmt::fmt yaml-cpp protobuf::libprotobuf-lite ZLIB::ZLIB
                                            EXPAT::EXPAT zstd re2)
