# find_package(tactus [COMPONENTS base port time runtime]) with the umbrella tactus::tactus, and a pkg-config file.
include(CMakePackageConfigHelpers)
get_property(tactus_install_layers GLOBAL PROPERTY TACTUS_LAYERS)
set(tactus_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tactus)

install(TARGETS tactus EXPORT tactus-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tactus-targets NAMESPACE tactus:: DESTINATION ${tactus_cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tactus-config.cmake.in
  ${PROJECT_BINARY_DIR}/tactus-config.cmake INSTALL_DESTINATION ${tactus_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tactus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tactus-config.cmake ${PROJECT_BINARY_DIR}/tactus-config-version.cmake
  DESTINATION ${tactus_cmake_dir})

# Static libraries are searched once, in order: the layers from top to bottom, then base and port again, since base
# leaves fatal() to the port.
set(tactus_pc_libs "")
get_property(tactus_pc_layers GLOBAL PROPERTY TACTUS_UMBRELLA_LAYERS)
foreach(layer IN LISTS tactus_pc_layers)
  string(PREPEND tactus_pc_libs "-ltactus_${layer} ")
endforeach()
string(APPEND tactus_pc_libs "-ltactus_port")
# Paths relative to where the file lies: an installed tree may be moved, and says nothing about the machine it was
# built on.
file(RELATIVE_PATH tactus_pc_includedir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/tactus.pc.in ${PROJECT_BINARY_DIR}/tactus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tactus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
