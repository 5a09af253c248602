# Bare Cortex-M with arm-none-eabi-g++, shared by the boards. The including file has set:
#
#   TACTUS_BOARD      a folder of portable/port/cortex_m/boards, which is also the machine's name in QEMU
#   tactus_cpu        the core, as for -mcpu=
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR ${tactus_cpu})
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)

# An image needs start-up code and a linker script, which the compiler tests of CMake do not have.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(TACTUS_PORT cortex_m CACHE STRING "the platform: host or cortex_m")
set(TACTUS_BOARD ${TACTUS_BOARD} CACHE STRING "the board: a folder of portable/port/cortex_m/boards")

string(JOIN " " CMAKE_CXX_FLAGS_INIT
  -mcpu=${tactus_cpu} -mthumb -mfloat-abi=soft
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-unwind-tables -fno-asynchronous-unwind-tables
  -ffunction-sections -fdata-sections)
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT
  -nostartfiles --specs=nano.specs --specs=nosys.specs -Wl,--gc-sections -Wl,--fatal-warnings
  -Wl,--no-warn-rwx-segments)
