set(TACTUS_BOARD mps2-an385)
set(tactus_cpu cortex-m3)
include(${CMAKE_CURRENT_LIST_DIR}/cortex-m.cmake)
