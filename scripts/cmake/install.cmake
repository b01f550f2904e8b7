# What is installed, in two components: `program` (the program, inputs, documents) and `development` (the library).
include(CMakePackageConfigHelpers)

set(program COMPONENT program)
install(TARGETS astra RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${program})
install(DIRECTORY inputs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/astra/inputs ${program})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} ${program})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} ${program})
# README.md with the paths that hold where it lands.
install(CODE "
  set(source [[${PROJECT_SOURCE_DIR}]])
  set(doc_folder [[${CMAKE_INSTALL_DOCDIR}]])
  set(data_folder [[${CMAKE_INSTALL_DATADIR}/astra]])
  include([[${PROJECT_SOURCE_DIR}/scripts/cmake/install_readme.cmake]])" ${program})

set(development COMPONENT development)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/astra)
install(TARGETS astra_library EXPORT astraTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${development})
install(EXPORT astraTargets NAMESPACE astra:: DESTINATION ${package_folder} ${development})
foreach(header ${ASTRA_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} ${development})
endforeach()
configure_package_config_file(scripts/cmake/astraConfig.cmake.in ${PROJECT_BINARY_DIR}/astraConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/astraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/astraConfig.cmake ${PROJECT_BINARY_DIR}/astraConfigVersion.cmake
        DESTINATION ${package_folder} ${development})
