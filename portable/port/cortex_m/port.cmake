# What an image for a board needs beside the layers: start-up code, the heap that closes, the linker script. An object
# library: the vector table is referred to by nobody, so a static library would not give it away.
set(board_folder ${CMAKE_CURRENT_LIST_DIR}/boards/${TACTUS_BOARD})
if(NOT TACTUS_BOARD OR NOT EXISTS ${board_folder}/link.ld)
  message(FATAL_ERROR "TACTUS_BOARD='${TACTUS_BOARD}': there is no such folder in portable/port/cortex_m/boards; "
    "use a toolchain file of cmake/toolchains")
endif()
file(GLOB start_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/start/*.cpp)
add_library(tactus_board OBJECT ${start_sources})
add_library(tactus::board ALIAS tactus_board)
target_link_libraries(tactus_board PUBLIC tactus::port PRIVATE tactus_build_flags)
if(TARGET tactus_lto)
  target_compile_options(tactus_board PRIVATE -flto=auto -ffat-lto-objects)
endif()
target_include_directories(tactus_board PUBLIC ${board_folder}/include)
target_link_options(tactus_board INTERFACE
  -T${board_folder}/link.ld -L${CMAKE_CURRENT_LIST_DIR}/boards)
set_property(TARGET tactus_board PROPERTY INTERFACE_LINK_DEPENDS
  ${board_folder}/link.ld ${CMAKE_CURRENT_LIST_DIR}/boards/sections.ld)
