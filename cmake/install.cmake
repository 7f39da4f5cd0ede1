# Install and export, so that another project finds lapsum::lapsum with find_package(lapsum).
include(CMakePackageConfigHelpers)

install(TARGETS lapsum EXPORT lapsum-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/lapsum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lapsum-targets NAMESPACE lapsum::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lapsum)

configure_package_config_file(cmake/lapsum-config.cmake.in lapsum-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lapsum)
write_basic_package_version_file(lapsum-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lapsum-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/lapsum-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lapsum)
